"""Rows of unit length are embeddings already: their columns share one unit, and are compared as they are.

If they were standardised, the last principal component would count as much as the first; `benchmarks/labels/scaling`
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
    """X in units fit for models and distances: standardised or, on the sphere, scaled by one factor for all columns."""
    if not on_sphere(X):
        return Points.standardized(X)
    empty = Points.raw(X[:1]).factor
    factor = np.full(X.shape[1], X.shape[1] ** 0.5, empty.dtype)  # mean squares of 1, as those of standardised columns
    return Points(X, np.zeros_like(factor), factor, empty)
