"""What distances are measured in: the pool's points, their clusters and their charges, seen from the client."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...algorithms.density import Charge
from .charges import Charges
from .clusters import Clusters
from .partitions import Metric, Partitions, Rows


@dataclass(frozen=True)
class Field:
    """Points that stay with the workers; `shape`, `dtype` and `take` are those of kernels.points.Points."""

    pool: Partitions
    metric: Metric
    clusters: Clusters
    charges: Charges | None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of points and of coordinates."""
        return self.pool.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of the points."""
        return self.pool.dtype

    def take(self, rows: Rows) -> npt.NDArray[Any]:
        """These points as a plain array."""
        return self.pool.take(rows, self.metric)

    def charge(self, rows: Rows) -> Charge:
        """The charge of these rows; 1 where there is none."""
        if self.charges is not None:
            return self.charges.at(rows)
        ones = np.ones(len(rows), self.dtype)
        return Charge(ones, ones)

    @property
    def own(self) -> tuple[Any, Any]:
        """What each partition's tasks need besides its rows: labels and lengths, and spacing (or None)."""
        spacing = [None] * len(self.pool) if self.charges is None else self.charges.spacing
        return self.clusters.assigned, spacing

    @property
    def law(self) -> Any:
        """How spacing becomes charge; None without charges."""
        return None if self.charges is None else self.charges.law
