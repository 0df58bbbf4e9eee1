"""Rows of unit length are taken to be embedded already: their columns share one unit, and are compared as they are.

To give every column the same spread would make as much of the last principal column as of the first.
`benchmarks/labels/scaling` measures what that costs.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .backends.cpu.points import Points
from .sphere import begins_on_sphere, unit_lengths

Scaling = Literal["auto", "standard", "unit", "raw"]


def on_sphere(X: npt.NDArray[Any]) -> bool:
    """Whether all rows of an array have unit length; zeros are let pass. Refuses NaN and infinity among such rows."""
    return begins_on_sphere(X) and unit_lengths(Points.raw(X).norms())


def comparable(X: npt.NDArray[Any]) -> Points:
    """X in units fit for models and distances: standardised, or on the sphere all columns by one factor alike."""
    if not on_sphere(X):
        return Points.standardized(X)
    empty = Points.raw(X[:1]).factor
    factor = np.full(X.shape[1], X.shape[1] ** 0.5, empty.dtype)  # mean squares of 1, as those of standardised columns
    return Points(X, np.zeros_like(factor), factor, empty)
