"""The loops of facility location: similarities between rows of a pool, and the gain of each pick.

Two rows are mutual neighbours at a share if each is among that share of the pool's rows nearest to the other. Their
similarity is the sum of `STEPS` over the shares at which they are. It approximates −log(P + 0.002) by steps, up to a
factor and a constant, where P is the smallest such share.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import run_parts, single_threaded_blas, spans
from .distances import squared_distances
from .simd import kernel, wide_vectors

Floats = npt.NDArray[np.float32]

SHARES = 2.0 ** (-np.arange(1, 37) / 4)  # 0.84, 0.71, 0.59, 1/2, … 1/512
FINE = 0.002  # smaller shares count less
STEPS = np.round(64 * SHARES / (SHARES + FINE)).astype(np.float32)  # whole numbers: sums of similarities are exact
ROUNDING = 1e-5  # relative rounding error of squared distances and squared lengths in float32
ROWS = 256  # whose distances are in cache together
TASK = 1 << 20  # similarities that one thread reads in one task
BLOCK = 512  # numbers summed in float32 before float64 takes over


def neighbourhoods(A: Floats, B: Floats) -> tuple[Floats, Floats]:
    """Squared distances from each row of A to each of B, and those within which each share of B lies.

    The second array is (shares, len(A)). Distances that differ only by rounding are within the same share.
    """
    A_norm2, B_norm2 = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    places = np.ceil(len(B) * SHARES).astype(int) - 1
    square = np.empty((len(A), len(B)), np.float32)
    within = np.empty((len(places), len(A)), np.float32)

    def part(span: tuple[int, int]) -> None:
        rows = slice(*span)
        found = squared_distances(A[rows], B, B_norm2)
        square[rows], within[:, rows] = found, np.sort(found, axis=1)[:, places].T

    with single_threaded_blas():
        run_parts(part, spans(len(A), ROWS))
    within += np.float32(ROUNDING) * (within + A_norm2)
    return square, within


@kernel
def _similar(square: Any, A_within: Any, B_within: Any, step: Any, weight: Any, lo: int, hi: int) -> None:
    """Turn squared distances into weighted similarities, in place."""
    wide_vectors()
    zero = square.dtype.type(0)
    count = np.empty(square.shape[1], square.dtype)
    for i in range(lo, hi):
        count[:] = zero
        for k in range(step.size):
            own, more = A_within[k, i], step[k]
            for j in range(count.size):
                reach = own if own < B_within[k, j] else B_within[k, j]
                count[j] += more if square[i, j] <= reach else zero
        for j in range(count.size):
            square[i, j] = weight[j] * count[j]


def similarity(square: Floats, A_within: Floats, B_within: Floats, weight: Floats) -> Floats:
    """Similarity of a and b times the weight of b; overwrites `square`."""
    run_parts(lambda span: _similar(square, A_within, B_within, STEPS, weight, *span), spans(len(square), ROWS))
    return square


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
