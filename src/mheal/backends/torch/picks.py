"""Rows that are labelled or picked, on the device."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .placed import Placed


class PickList:
    """The points picked, one after the other, and their weights."""

    def __init__(self, points: Placed, capacity: int) -> None:
        self.points = points
        self.P = torch.empty((capacity, points.shape[1]), dtype=points.rows.dtype, device=points.device)
        self.weight = self.P.new_empty(capacity)
        self.count = 0

    def add(self, rows: npt.NDArray[np.int64], weight: npt.NDArray[Any], norm2: npt.NDArray[Any] | None = None) -> None:
        """Append rows of the pool; their squared lengths are not needed here."""
        self.append(self.points.gather(self.points.index(rows)), self.points.floats(weight))

    def append(self, P: torch.Tensor, weight: torch.Tensor) -> None:
        """Append these points."""
        new = slice(self.count, self.count + len(P))
        self.P[new], self.weight[new] = P, weight
        self.count += len(P)

    def taken(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The points and their weights."""
        return self.P[: self.count].cpu().numpy(), self.weight[: self.count].cpu().numpy()
