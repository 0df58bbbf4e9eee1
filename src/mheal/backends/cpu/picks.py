"""Points that are labelled or picked, as the kernels need them: one after the other."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import Floats, Index


class PickList:
    """Points, their squared lengths and weights."""

    def __init__(self, take: Callable[[Index], Floats], capacity: int, columns: int, dtype: np.dtype[Any]) -> None:
        """`take` gives rows of the pool."""
        self.take = take
        self.P = np.empty((capacity, columns), dtype)
        self.norm2, self.weight = np.empty(capacity, dtype), np.empty(capacity, dtype)
        self.count = 0

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        """Append rows of the pool; `norm2` may hold their squared lengths to the last bit."""
        new = slice(self.count, self.count + len(rows))
        self.P[new], self.weight[new] = self.take(rows), weight
        self.norm2[new] = np.einsum("ij,ij->i", self.P[new], self.P[new]) if norm2 is None else norm2
        self.count += len(rows)

    def taken(self) -> tuple[Floats, Floats]:
        """The points and their weights."""
        return self.P[: self.count], self.weight[: self.count]

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Points, squared lengths, weights."""
        return self.P, self.norm2, self.weight
