"""Rows of unit length are taken to be embedded already: their columns share one unit, and are compared as they are.

To give every column the same spread would make as much of the last principal column as of the first. `results/spaces`
says what that costs.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..kernels.points import Points

Space = Literal["auto", "standard", "raw"]
HEAD = 1024  # rows that are looked at
FEW = 8  # columns; with fewer, much of what is known of a row is its length
NEAR = 0.01  # what a length may miss of 1: features may have 16 bits a number


def on_sphere(X: Any) -> bool:
    """Whether the first rows of an array or a tensor have unit length; zeros are let pass."""
    if X.shape[0] == 0 or X.shape[1] < 2:
        return False
    head = X[:HEAD]
    rows = np.asarray(head.detach().cpu() if hasattr(head, "detach") else head, np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        unit, zero = np.abs(lengths - 1) <= NEAR, lengths == 0
    return bool((unit | zero).all() and 2 * unit.sum() > len(unit))


def comparable(X: npt.NDArray[Any]) -> Points:
    """X in units fit for models and distances: standardised, or on the sphere all columns by one factor alike."""
    if not on_sphere(X):
        return Points.standardized(X)
    raw = Points.raw(X)
    raw.norms()  # refuses NaN and infinity by their row
    factor = np.full(X.shape[1], X.shape[1] ** 0.5, raw.dtype)  # mean squares of 1, as those of standardised columns
    return Points(X, np.zeros_like(factor), factor, raw.factor)


def to_sphere(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows of unit length, as float32; zeros, what is no number, and rows of few columns stay as they are."""
    if X.shape[1] < FEW:
        return np.ascontiguousarray(X, np.float32)
    lengths = np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    lengths[(lengths == 0) | ~np.isfinite(lengths)] = 1
    return np.ascontiguousarray(X / lengths, np.float32)
