"""How columns are scaled. Rows of unit length are assumed to be embeddings and are not standardised.

Standardising would give columns of small variance, such as the last principal components, as much weight as the others;
`benchmarks/labels/scaling` measures the effect.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .backends.cpu.points import Points
from .sphere import begins_on_sphere, unit_lengths

Scaling = Literal["auto", "standard", "unit", "raw"]


def on_sphere(X: npt.NDArray[Any]) -> bool:
    """Whether all rows have unit length, except for some rows of zeros. Raises an error for NaN among such rows."""
    return begins_on_sphere(X) and unit_lengths(Points.raw(X).norms())


def comparable(X: npt.NDArray[Any]) -> Points:
    """X scaled for models and distances: standardised or, if rows have unit length, multiplied by √columns."""
    if not on_sphere(X):
        return Points.standardized(X)
    empty = Points.raw(X[:1]).factor
    factor = np.full(X.shape[1], X.shape[1] ** 0.5, empty.dtype)  # mean squares of 1, as in standardised columns
    return Points(X, np.zeros_like(factor), factor, empty)
