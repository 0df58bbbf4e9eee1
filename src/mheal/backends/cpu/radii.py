"""Every row against every pick, in one pass: the largest distance left after each pick, and scores to go on from.

A score is a squared distance to the nearest pick times both weights, as in traversal.py.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import single_threaded_blas
from ..base import Scores
from .lazy_scores import CHUNK, FEW_COLUMNS, distance2
from .picks import PickList
from .simd import finite_kernel, kernel, wide_vectors
from .staging import Staged, stage

LANES = 64  # numbers whose maximum is taken side by side


@finite_kernel
def _squares(S: Any, w: int, norm2: Any, P_norm2: Any, P_weight: Any, least: Any) -> None:
    """Turn dots S[j, z] into |G[z] − P[j]|²·P_weight[j]; least[z] is the smallest of them."""
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


@finite_kernel
def _fall(S: Any, w: int, weight: Any, score: Any, worst: Any) -> None:
    """Scores fall with each pick; worst[j] is raised to the largest left after pick j.

    The largest is kept lane by lane: numba vectorises no maximum over a list.
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
def _differences(g: Any, P: Any, P_weight: Any, S: Any, z: int) -> None:
    """S[j, z] = |g − P[j]|²·P_weight[j] without cancellation."""
    for j in range(P.shape[0]):
        S[j, z] = distance2(g, P[j]) * P_weight[j]


@kernel
def _radii_part(
    X: Any, offset: Any, scale: Any, factor: Any, lo: int, hi: int, P: Any, P_norm2: Any, P_weight: Any,
    weight: Any, norm2: Any, score: Any, worst: Any,
) -> None:  # fmt: skip
    """Squared lengths and scores of rows lo..hi, and worst[j] raised to the largest scores that pick j leaves there."""
    wide_vectors()
    d = X.shape[1]
    G, rows = np.zeros((CHUNK, d), P.dtype), np.empty(CHUNK, np.int64)
    S, least = np.zeros((CHUNK, CHUNK), P.dtype), np.empty(CHUNK, P.dtype)
    q, own, left = np.zeros(CHUNK, P.dtype), np.zeros(CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
    for a in range(lo, hi, CHUNK):
        n = min(CHUNK, hi - a)
        for z in range(n):
            rows[z] = a + z
            own[z] = weight[a + z]
        own[n:] = 0  # so that what is left of the block before counts for nothing
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
            heaviest = c.max()
            for z in range(n):  # where a point nearly coincides with a pick, dots cancel
                if d <= FEW_COLUMNS or least[z] < P.dtype.type(1e-4) * q[z] * heaviest:
                    _differences(G[z], Q, c, S, z)
            _fall(S, w, own, left, worst[j : j + w])
        score[a : a + n] = left[:n]


def radii(points: Staged, picks: PickList, weight: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], Scores]:
    """The largest distance left anywhere after each pick, and every row's score against all of them.

    `weight` is that of the rows as candidates; picked rows count like all others.
    """
    n, count = points.shape[0], picks.count
    P, P_norm2, P_weight = (A[:count] for A in picks.arrays)
    norm2, score = np.empty(n, points.dtype), np.empty(n, points.dtype)

    def part(span: tuple[int, int]) -> npt.NDArray[Any]:
        worst = np.zeros((count, LANES), points.dtype)
        _radii_part(*points.source, *span, P, P_norm2, P_weight, weight, norm2, score, worst)
        return worst.max(axis=1)

    with single_threaded_blas():
        worst = points.run_parts(part, points.passes())
    return np.sqrt(np.max(worst, axis=0).astype(np.float64)), Scores(norm2, score, count)
