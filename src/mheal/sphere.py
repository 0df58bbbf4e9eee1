"""Rows on the unit sphere: a check of their lengths, and the projection."""

from typing import Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError
from .runtime.threads import spans

Floats = npt.NDArray[np.floating[Any]]
Float64 = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

BLOCK = 1 << 22  # numbers in one temporary: 32 MB in float64
HEAD = 1024  # rows that are checked first for unit length
FEW = 8  # rows with fewer columns are not projected: their length carries much of the information
NEAR = 0.01  # a length counts as 1 if it differs by at most this: features may be stored in 16 bits


def as_matrix(X: npt.ArrayLike) -> Floats:
    """X as a 2-D array; float32 and float64 are kept, other types become float64."""
    A = np.asarray(X)
    if A.dtype not in (np.float32, np.float64):
        A = A.astype(np.float64)
    if A.ndim != 2:
        raise UserError(f"expected a table of rows and columns, got an array of {A.ndim} dimension(s)")
    return A


def blocks(n_rows: int, width: int) -> list[slice]:
    """Slices that divide n_rows rows of `width` numbers each into blocks of bounded memory."""
    return [slice(lo, hi) for lo, hi in spans(n_rows, max(1, BLOCK // max(1, width)))]


def unit_rows(X: npt.ArrayLike) -> tuple[npt.NDArray[Any], Float64]:
    """U, norms: the rows of X divided by their ℓ2 norms (ŵ in §3.2 of the paper); rows of norm 0 stay 0.

    U has the dtype of X, the norms are float64.
    """
    X = as_matrix(X)
    U, norms = np.empty_like(X), np.empty(len(X))
    for rows in blocks(*X.shape):
        block = X[rows].astype(np.float64)
        peak, length = np.ones(len(block)), _lengths(block)
        odd = (length < 1e-140) | (length > 1e140)  # their squares may be outside the range of float64
        if odd.any():
            peak[odd] = np.abs(block[odd]).max(axis=1, initial=0.0)
            peak[peak == 0] = 1.0
            block /= peak[:, None]
            length = _lengths(block)
        norms[rows] = peak * length
        U[rows] = block / np.where(length > 0, length, 1.0)[:, None]
    return U, norms


def begins_on_sphere(X: Any) -> bool:
    """Whether the first rows of an array or tensor have unit length; if not, the others need not be checked."""
    if X.shape[0] == 0 or X.shape[1] < 2:
        return False
    head = X[:HEAD]
    rows = head.detach().float().cpu().numpy() if hasattr(head, "detach") else np.asarray(head)
    with np.errstate(invalid="ignore", over="ignore"):
        return unit_lengths(_lengths(rows))


def unit_lengths(lengths: npt.NDArray[Any]) -> bool:
    """Whether all these lengths are 1, except for zeros, which must be fewer than half."""
    unit = np.abs(lengths - 1) <= NEAR
    return bool((unit | (lengths == 0)).all() and 2 * unit.sum() > len(unit))


def to_sphere(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Rows of unit length; rows of zeros or with NaN, and rows of fewer than 8 columns, stay as they are."""
    if X.shape[1] < FEW:
        return np.ascontiguousarray(X)
    lengths = _lengths(X)[:, None]
    lengths[(lengths == 0) | ~np.isfinite(lengths)] = 1
    return np.ascontiguousarray(X / lengths.astype(X.dtype))


def _lengths(X: npt.NDArray[Any]) -> Float64:
    return np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
