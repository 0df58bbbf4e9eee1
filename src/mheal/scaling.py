"""Rows of unit length are taken to be embedded already: their columns share one unit, and are compared as they are.

To give every column the same spread would make as much of the last principal column as of the first. `results/spaces`
says what that costs.
"""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .backends.cpu.points import Points

Scaling = Literal["auto", "standard", "unit", "raw"]
HEAD = 1024  # rows that are looked at first
FEW = 8  # columns; with fewer, much of what is known of a row is its length
NEAR = 0.01  # what a length may miss of 1: features may have 16 bits a number


def begins_on_sphere(X: Any) -> bool:
    """Whether the first rows of an array or a tensor have unit length: if not, no more has to be looked at."""
    if X.shape[0] == 0 or X.shape[1] < 2:
        return False
    head = X[:HEAD]
    rows = head.detach().float().cpu().numpy() if hasattr(head, "detach") else np.asarray(head)
    with np.errstate(invalid="ignore", over="ignore"):
        return unit_lengths(np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)))


def unit_lengths(lengths: npt.NDArray[Any]) -> bool:
    """Whether these are all 1, or 0 for a few."""
    unit = np.abs(lengths - 1) <= NEAR
    return bool((unit | (lengths == 0)).all() and 2 * unit.sum() > len(unit))


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


def to_sphere(X: npt.NDArray[Any], few: int = FEW) -> npt.NDArray[Any]:
    """Rows of unit length; zeros, what is no number, and rows of fewer columns than `few` stay as they are."""
    if X.shape[1] < few:
        return np.ascontiguousarray(X)
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))[:, None]
    lengths[(lengths == 0) | ~np.isfinite(lengths)] = 1
    return np.ascontiguousarray(X / lengths.astype(X.dtype))
