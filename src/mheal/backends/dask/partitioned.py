"""The rows of a Dask array on the workers of a cluster: what they are, and how a pass over them is made."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from ..base import Float64, Floats, Groups, Index, Rows
from ..cpu.points import Points
from . import tasks
from .partitions import Partitions
from .transform import Transform, take, transform_of


@dataclass(frozen=True)
class Sizes:
    """What comes to the client at a time. Results do not depend on it, but for rounding; tests make it small.

    front_rows : fewest rows in the front of a traversal
    front_bytes : bytes of rows that travel to the client in an epoch
    group_rows : fewest rows of a group that travel from a partition
    sample : scores that the bound of a front is chosen from
    local_bytes : pools up to this size are clustered on the client
    """

    front_rows: int = 2048
    front_bytes: int = 1 << 23
    group_rows: int = 32
    sample: int = 8192
    local_bytes: int = 1 << 26


class Partitioned:
    """The scaled rows of a Dask array, part by part on the workers."""

    def __init__(self, pool: Partitions, transform: Transform, sizes: Sizes | None = None) -> None:
        self.pool, self.transform, self.sizes = pool, transform, sizes or Sizes()
        self._lengths: list[Future] | None = None

    @classmethod
    def scaled(cls, X: Any, scaling: str, client: Client, sizes: Sizes | None = None, keep: bool | None = None) -> Self:
        """The rows of X, raw or standardised. Refuses NaN, infinity, and rows that are all equal."""
        pool = Partitions(X, client, keep)
        return cls(pool, transform_of(pool, scaling), sizes)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.pool.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of results."""
        return self.pool.dtype

    @property
    def lengths(self) -> list[Future]:
        """Length of each row before it was made unit, by partition, on the workers."""
        if self._lengths is None:
            self._lengths = self.pool.each(tasks.lengths, shared=[replace(self.transform, unit=False)])
        return self._lengths

    def each(self, work: Callable[..., Any], *own: Sequence[Any], shared: Sequence[Any] = ()) -> list[Future]:
        """A pass over the rows: work(X, its first row, lengths, *its own, transform, *shared) for each partition."""
        return self.pool.each(work, self.lengths, *own, shared=[self.transform, *shared])

    def norms(self) -> Floats:
        """Length of each row before it was made unit."""
        return self.pool.join(self.lengths)

    def constant(self) -> bool:
        """Whether scaling has found all rows equal."""
        return self.transform.points(np.zeros((1, self.shape[1]), self.dtype)).constant()

    def unit(self) -> Self:
        """The same rows projected to the unit sphere; rows of length 0 stay 0."""
        rows = type(self)(self.pool, replace(self.transform, unit=True), self.sizes)
        rows._lengths = self._lengths
        return rows

    def take(self, rows: Index) -> Floats:
        """These rows as a plain array."""
        return take(self.pool, np.asarray(rows, np.int64), self.transform)

    def subset(self, rows: Index) -> Points:
        """These rows alone, on the client."""
        return Points.raw(self.take(rows))

    def mean(self, rows: Index | None = None) -> Float64:
        """The mean of these rows, by default of all."""
        own = self.own(rows)
        sums = self.pool.gather(self.each(tasks.total, own))
        mean: Float64 = np.sum(sums, axis=0) / (self.shape[0] if rows is None else len(rows))
        return mean

    def own(self, rows: Index | None) -> list[Rows | None]:
        """Which of these ascending rows each partition holds, counted from its first."""
        if rows is None:
            return [None] * len(self.pool)
        cuts = np.searchsorted(rows, self.pool.first)
        return [
            np.asarray(rows[lo:hi], np.int64) - first
            for lo, hi, first in zip(cuts, cuts[1:], self.pool.first, strict=False)
        ]

    def group_of(self, groups: Groups) -> npt.NDArray[np.int32]:
        """The number of each row's group, −1 for rows of none."""
        out = np.full(self.shape[0], -1, np.int32)
        for g, rows in enumerate(groups):
            out[rows] = g
        return out
