"""The loops behind facility location: the similarity of candidates to the rows of a pool, and what a pick would add."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import run_parts, single_threaded_blas, spans
from .simd import kernel, wide_vectors

Floats = npt.NDArray[np.float32]

ROWS = 256  # candidates whose distances are in cache together
TASK = 1 << 20  # similarities that one thread looks at in one task
BLOCK = 512  # numbers summed in float32 before float64 takes over


@kernel
def _similar(dots: Any, A_norm2: Any, B_norm2: Any, scale: Any, weight: Any) -> None:
    """Turn dot products into weighted similarities, in place."""
    wide_vectors()
    zero, two = dots.dtype.type(0), dots.dtype.type(2)  # a plain 2 would be float64
    for i in range(dots.shape[0]):
        for j in range(dots.shape[1]):
            square = A_norm2[i] + B_norm2[j] - two * dots[i, j]
            dots[i, j] = weight[j] * (scale / (scale + (square if square > zero else zero)))


def similarity(A: Floats, B: Floats, scale: float, weight: Floats) -> Floats:
    """weight_b/(1 + |a − b|²/scale), a row for each a."""
    A_norm2, B_norm2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    out = np.empty((len(A), len(B)), np.float32)

    def part(span: tuple[int, int]) -> None:
        rows = slice(*span)
        np.matmul(A[rows], B.T, out=out[rows])
        _similar(out[rows], A_norm2[rows], B_norm2, np.float32(scale), weight)

    with single_threaded_blas():
        run_parts(part, spans(len(A), ROWS))
    return out


@kernel
def _gains_part(similar: Any, rows: Any, lo: int, hi: int, covered: Any, out: Any) -> None:
    wide_vectors()
    zero = similar.dtype.type(0)
    m = covered.size
    for y in range(lo, hi):
        i = rows[y]
        total = 0.0
        for a in range(0, m, BLOCK):
            part = zero
            for j in range(a, min(m, a + BLOCK)):
                v = similar[i, j] - covered[j]
                part += v if v > zero else zero
            total += part
        out[y] = total


def gains(similar: Floats, rows: npt.NDArray[np.int64], covered: Floats) -> npt.NDArray[np.float64]:
    """Σ max(similar[i] − covered, 0) for each of these rows of `similar`."""
    out = np.empty(len(rows))
    run_parts(
        lambda span: _gains_part(similar, rows, *span, covered, out), spans(len(rows), max(1, TASK // len(covered)))
    )
    return out
