"""The squared distance of this backend, for arrays; its twin for kernels is `lazy_scores.distance2`.

Everything that needs a squared distance on the CPU calls one of them. Only kernels that compare a block of rows with a
block of points write |a|² + |b|² − 2aᵀb out themselves, around a product by BLAS, and take differences where that
cancels.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[Any]
BLOCK = 1 << 22  # numbers in one temporary


def squared_distances(A: Floats, B: Floats, b: Floats | None = None) -> Floats:
    """|a − b|² of every row of A and every row of B, (len(A), len(B)), by one matrix product; at least 0.

    `b` may hold the |b|² already. Where rows nearly coincide, rounding of |a|² + |b|² shows; `exact_squared_distances`
    computes those pairs again.
    """
    out = _by_product(A, B, np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B) if b is None else b)
    return np.maximum(out, 0, out=out)


def exact_squared_distances(A: Floats, B: Floats, b: Floats | None = None) -> npt.NDArray[np.float64]:
    """The same in float64, with pairs so close that |a|² + |b|² − 2aᵀb loses its digits computed by differences.

    Rows which differ by rounding alone are at exactly 0.
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
