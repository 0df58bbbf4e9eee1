"""Squared distances between the rows of arrays. `lazy_scores.distance2` does the same inside kernels.

All CPU code calls one of these functions, except kernels that compare a block of rows with a block of points. Those
compute |a|² + |b|² − 2aᵀb around a BLAS product, and sum squared differences for pairs where that formula cancels.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]
BLOCK = 1 << 22  # numbers in one temporary


def squared_distances(A: Floats, B: Floats, b: Floats | None = None) -> Floats:
    """|a − b|² of every row of A and every row of B, (len(A), len(B)), by one matrix product; at least 0.

    `b` may hold |b|². Distances between nearly equal rows are inaccurate: see `exact_squared_distances`.
    """
    out = _by_product(A, B, np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B) if b is None else b)
    return np.maximum(out, 0, out=out)


def exact_squared_distances(A: Floats, B: Floats, b: Floats | None = None) -> npt.NDArray[np.float64]:
    """The same in float64. Pairs so close that |a|² + |b|² − 2aᵀb loses its digits are computed by differences.

    The distance is exactly 0 for rows that differ only by rounding.
    """
    a = np.einsum("ij,ij->i", A, A)
    b = np.einsum("ij,ij->i", B, B) if b is None else b
    product = _by_product(A, B, a, b)
    eps = float(np.finfo(product.dtype).eps)
    sq: npt.NDArray[np.float64] = product.astype(np.float64, copy=False)
    i, j = np.nonzero(sq < eps**0.25 * (a[:, None] + b))  # elsewhere the relative error is about eps^¾
    step = max(1, BLOCK // max(1, A.shape[1]))
    for at in range(0, len(i), step):
        p, q = i[at : at + step], j[at : at + step]
        gap = A[p] - B[q]
        exact = np.einsum("ij,ij->i", gap, gap, dtype=np.float64)
        exact[exact <= (8 * eps) ** 2 * a[p]] = 0.0
        sq[p, q] = exact
    return sq


def _by_product(A: Floats, B: Floats, a: Floats, b: Floats) -> Floats:
    out: Floats = A @ B.T
    out *= -2
    out += a[:, None]
    out += b
    return out
