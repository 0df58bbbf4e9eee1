"""The loops behind solve.cover: how strongly candidates draw the rows of a pool, and what a pick would add."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import run_parts, single_threaded_blas, spans
from .simd import kernel, wide_vectors

Floats = npt.NDArray[np.float32]

ROWS = 256  # candidates whose distances are in cache together
TASK = 1 << 20  # attractions that one thread looks at in a go
BLOCK = 512  # numbers summed in float32 before float64 takes over


@kernel
def _attract(dots: Any, A_norm2: Any, B_norm2: Any, scale: Any, share: Any) -> None:
    """Turn dot products into attractions, in place."""
    wide_vectors()
    zero, two = dots.dtype.type(0), dots.dtype.type(2)  # a plain 2 would be float64
    for i in range(dots.shape[0]):
        for j in range(dots.shape[1]):
            square = A_norm2[i] + B_norm2[j] - two * dots[i, j]
            dots[i, j] = share[j] * (scale / (scale + (square if square > zero else zero)))


def attraction(A: Floats, B: Floats, scale: float, share: Floats) -> Floats:
    """share_b/(1 + |a − b|²/scale), a row for each a."""
    A_norm2, B_norm2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    out = np.empty((len(A), len(B)), np.float32)

    def part(span: tuple[int, int]) -> None:
        rows = slice(*span)
        np.matmul(A[rows], B.T, out=out[rows])
        _attract(out[rows], A_norm2[rows], B_norm2, np.float32(scale), share)

    with single_threaded_blas():
        run_parts(part, spans(len(A), ROWS))
    return out


@kernel
def _gains_part(drawn: Any, rows: Any, lo: int, hi: int, so_far: Any, out: Any) -> None:
    wide_vectors()
    zero = drawn.dtype.type(0)
    m = so_far.size
    for y in range(lo, hi):
        i = rows[y]
        total = 0.0
        for a in range(0, m, BLOCK):
            part = zero
            for j in range(a, min(m, a + BLOCK)):
                v = drawn[i, j] - so_far[j]
                part += v if v > zero else zero
            total += part
        out[y] = total


def gains(drawn: Floats, rows: npt.NDArray[np.int64], so_far: Floats) -> npt.NDArray[np.float64]:
    """Σ max(drawn[i] − so_far, 0) for each of these rows of `drawn`."""
    out = np.empty(len(rows))
    run_parts(lambda span: _gains_part(drawn, rows, *span, so_far, out), spans(len(rows), max(1, TASK // len(so_far))))
    return out
