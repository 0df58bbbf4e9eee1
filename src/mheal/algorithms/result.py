"""What spreading gives."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Spread:
    """Rows in pick order, the distance of each from those before it, and the largest distance left after it."""

    rows: Indices
    gain: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64]

    def __add__(self, then: "Spread") -> "Spread":
        """These picks, then those."""
        columns = ((getattr(self, name), getattr(then, name)) for name in ("rows", "gain", "radius"))
        return Spread(*(np.concatenate(pair) for pair in columns))

    @classmethod
    def nothing(cls, radius: float) -> "Spread":
        """No picks, and what is left uncovered."""
        return cls(np.empty(0, np.int64), np.empty(0), np.array([radius]))


def as_spread(rows: Indices, score: npt.NDArray[Any], left: float) -> Spread:
    """Scores are squared distances; the first row may have none, since nothing came before it."""
    distance = np.sqrt(np.maximum(np.append(score, left).astype(np.float64), 0))
    gain = distance[:-1] if len(score) == len(rows) else np.append(np.inf, distance[:-1])
    radius = distance[1:] if len(score) == len(rows) else distance
    return Spread(rows.astype(np.int64), gain, radius)
