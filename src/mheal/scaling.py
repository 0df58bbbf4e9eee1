"""How columns are scaled. Rows of unit length are taken for embeddings, and compared as they are.

Standardising them would give the last principal component as much weight as the first; `benchmarks/labels/scaling`
measures the cost.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .backends.cpu.points import Points
from .sphere import begins_on_sphere, unit_lengths

Scaling = Literal["auto", "standard", "unit", "raw"]


def on_sphere(X: npt.NDArray[Any]) -> bool:
    """Whether all rows of an array have unit length, or are 0. Refuses NaN and infinity among such rows."""
    return begins_on_sphere(X) and unit_lengths(Points.raw(X).norms())


def comparable(X: npt.NDArray[Any]) -> Points:
    """X scaled for models and distances: standardised or, if rows have unit length, multiplied by one factor."""
    if not on_sphere(X):
        return Points.standardized(X)
    empty = Points.raw(X[:1]).factor
    factor = np.full(X.shape[1], X.shape[1] ** 0.5, empty.dtype)  # mean squares of 1, as those of standardised columns
    return Points(X, np.zeros_like(factor), factor, empty)
