"""What has been picked so far, on the device."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .points import Points


class Picks:
    """The points picked, one after the other, and their weights. Several traversals may share one list."""

    def __init__(self, points: Points, capacity: int) -> None:
        self.points = points
        self.P = torch.empty((capacity, points.shape[1]), dtype=points.rows.dtype, device=points.device)
        self.weight = self.P.new_empty(capacity)
        self.count = 0

    def add(self, rows: npt.NDArray[np.int64], weight: npt.NDArray[Any]) -> None:
        """Put rows of the pool behind the others."""
        self.append(self.points.gather(self.points.index(rows)), self.points.floats(weight))

    def add_point(self, point: npt.NDArray[Any]) -> None:
        """Put a point that is no row of the pool behind the others."""
        self.append(self.points.floats(point)[None], self.weight.new_ones(1))

    def append(self, P: torch.Tensor, weight: torch.Tensor) -> None:
        """Put these points behind the others."""
        new = slice(self.count, self.count + len(P))
        self.P[new], self.weight[new] = P, weight
        self.count += len(P)

    def taken(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The points picked and their weights."""
        return self.P[: self.count].cpu().numpy(), self.weight[: self.count].cpu().numpy()
