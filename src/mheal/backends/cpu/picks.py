"""The list of labelled and picked points, and a pass that compares every row with all of them.

A score is the squared distance to the nearest pick times the weights of both rows, as in traversal.py.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ...runtime.threads import single_threaded_blas
from ..base import Float64, Floats, Index, Scores
from .lazy_scores import CHUNK, FEW_COLUMNS, distance2
from .simd import finite_part, kernel, wide_vectors
from .staging import Staged, stage

LANES = 64  # numbers whose maximum is taken side by side


class PickList:
    """Points, their squared lengths and weights, as contiguous arrays for the kernels.

    take : a function from row numbers to rows of the pool
    """

    def __init__(self, take: Callable[[Index], Floats], capacity: int, columns: int, dtype: np.dtype[Any]) -> None:
        self.take = take
        self.P = np.empty((capacity, columns), dtype)
        self.norm2, self.weight = np.empty(capacity, dtype), np.empty(capacity, dtype)
        self.count = 0

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        new = slice(self.count, self.count + len(rows))
        self.P[new], self.weight[new] = self.take(rows), weight
        self.norm2[new] = np.einsum("ij,ij->i", self.P[new], self.P[new]) if norm2 is None else norm2
        self.count += len(rows)

    def taken(self) -> tuple[Floats, Floats]:
        return self.P[: self.count], self.weight[: self.count]

    @property
    def arrays(self) -> tuple[Floats, Floats, Floats]:
        """Points, squared lengths, weights."""
        return self.P, self.norm2, self.weight


@finite_part
def _squares(S: Any, w: int, norm2: Any, P_norm2: Any, P_weight: Any, least: Any) -> None:
    """Turn dot products S[j, z] into |G[z] − P[j]|²·P_weight[j]; least[z] becomes the smallest over j."""
    wide_vectors()
    two = S.dtype.type(2)  # a plain 2 would take numba to float64
    for z in range(CHUNK):
        least[z] = S.dtype.type(3e38)
    for j in range(w):
        row, q, c = S[j], P_norm2[j], P_weight[j]
        for z in range(CHUNK):
            v = (norm2[z] + q - two * row[z]) * c
            row[z] = v
            least[z] = v if v < least[z] else least[z]


@finite_part
def _fall(S: Any, w: int, weight: Any, score: Any, worst: Any) -> None:
    """Lower the scores of rows by each pick, and raise worst[j] to the largest score left after pick j.

    There is one maximum for each lane, because numba does not vectorise the maximum of an array.
    """
    wide_vectors()
    for j in range(w):
        row, most = S[j], worst[j]
        for a in range(0, CHUNK, LANES):
            for z in range(LANES):
                v = row[a + z] * weight[a + z]
                v = v if v < score[a + z] else score[a + z]
                score[a + z] = v
                most[z] = v if v > most[z] else most[z]


@kernel
def _radii_part(
    X: Any, offset: Any, scale: Any, factor: Any, lo: int, hi: int, P: Any, P_norm2: Any, P_weight: Any,
    weight: Any, norm2: Any, score: Any, worst: Any,
) -> None:  # fmt: skip
    """Compute squared lengths and scores of rows lo..hi, and raise worst[j] to the largest scores left after pick j."""
    wide_vectors()
    d = X.shape[1]
    G, rows = np.zeros((CHUNK, d), P.dtype), np.empty(CHUNK, np.int64)
    S, least = np.zeros((CHUNK, CHUNK), P.dtype), np.empty(CHUNK, P.dtype)
    q, own, left = np.zeros(CHUNK, P.dtype), np.zeros(CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
    for a in range(lo, hi, CHUNK):
        n = min(CHUNK, hi - a)
        for z in range(n):  # copies of slices take numba longer to compile
            rows[z] = a + z
            own[z] = weight[a + z]
        own[n:] = 0  # so that values left from the previous block do not count
        left[:] = P.dtype.type(3e38)
        stage(X, rows, n, offset, scale, factor, G)
        for z in range(n):
            s = P.dtype.type(0)
            for t in range(d):
                s += G[z, t] * G[z, t]
            q[z] = norm2[a + z] = s
        for j in range(0, P.shape[0], CHUNK):
            w = min(CHUNK, P.shape[0] - j)
            Q, c = P[j : j + w], P_weight[j : j + w]
            if d > FEW_COLUMNS:
                np.dot(Q, G.T, S[:w])
                _squares(S, w, q, P_norm2[j : j + w], c, least)
            heaviest = c[0]
            for y in range(1, w):
                heaviest = max(heaviest, c[y])
            for z in range(n):  # if a point nearly coincides with a pick, its dot products cancel
                if d <= FEW_COLUMNS or least[z] < P.dtype.type(1e-4) * q[z] * heaviest:
                    for y in range(w):
                        S[y, z] = distance2(G[z], Q[y]) * c[y]
            _fall(S, w, own, left, worst[j : j + w])
        for z in range(n):
            score[a + z] = left[z]


def radii(points: Staged, picks: PickList, weight: Floats) -> tuple[Float64, Scores]:
    """The largest distance from any row to its nearest pick after each pick, and every row's score against all picks.

    `weight` is that of the rows as candidates. Picked rows are included.
    """
    n, count = points.shape[0], picks.count
    P, P_norm2, P_weight = (A[:count] for A in picks.arrays)
    norm2, score = np.empty(n, points.dtype), np.empty(n, points.dtype)

    def part(span: tuple[int, int]) -> Floats:
        worst = np.zeros((count, LANES), points.dtype)
        _radii_part(*points.source, *span, P, P_norm2, P_weight, weight, norm2, score, worst)
        return worst.max(axis=1)

    with single_threaded_blas():
        worst = points.run_parts(part, points.passes())
    return np.sqrt(np.max(worst, axis=0).astype(np.float64)), Scores(norm2, score, count)
