"""The loops of the lazy traversal: compute scores, update outdated (stale) scores, and pick.

A score is the squared distance to the nearest of the first `seen` picks, times the weights of both rows. Ties go to the
lowest row, so the order is by (score, −row) throughout.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base import PICKED, Rows
from .simd import kernel, part_of_kernel, wide_vectors
from .staging import stage

CANDIDATES = 128  # rows whose scores are exact after each pick: they fit into the L1 and L2 caches
CHUNK = 256  # rows updated by one BLAS call
FEW_COLUMNS = 8  # at most this many: dot products lose precision and are not faster than differences
NOWHERE = np.iinfo(np.int64).max


@part_of_kernel
def distance2(a: Any, b: Any) -> Any:
    """|a − b|² of two rows, by differences."""
    s = a.dtype.type(0)
    for t in range(a.size):
        v = a[t] - b[t]
        s += v * v
    return s


@kernel
def first_scores(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, lo: int, hi: int,
    pick: Any, pick_weight: Any, weight: Any, norm2: Any, score: Any,
) -> None:  # fmt: skip
    """Compute the squared lengths of members lo..hi, and their scores against the first pick."""
    wide_vectors()
    G, rows = np.empty((64, X.shape[1]), pick.dtype), np.empty(64, np.int64)
    for a in range(lo, hi, 64):
        n = min(64, hi - a)
        for z in range(n):  # a copy of slices takes numba longer to compile
            rows[z] = members[a + z]
        stage(X, rows, n, offset, scale, factor, G)
        for z in range(n):
            s = q = pick.dtype.type(0)
            for t in range(pick.size):
                g = G[z, t]
                v = g - pick[t]
                q += g * g
                s += v * v
            norm2[a + z] = q
            score[a + z] = s * weight[a + z] * pick_weight


@part_of_kernel
def _nearest(G: Any, n: int, norm2: Any, P: Any, P_norm2: Any, P_weight: Any, S: Any, out: Any) -> None:
    """out[z] = min over picks j of |G[z] − P[j]|²·P_weight[j], for z < n."""
    wide_vectors()
    w, d = P.shape
    big, two = P.dtype.type(3e38), P.dtype.type(2)  # a plain 2 would take numba to float64
    for z in range(n):
        out[z] = big
    if d <= FEW_COLUMNS:
        for j in range(w):
            for z in range(n):
                s = P.dtype.type(0)
                for t in range(d):
                    v = G[z, t] - P[j, t]
                    s += v * v
                out[z] = min(out[z], s * P_weight[j])
        return
    Sw = S[: w * n].reshape((w, n))
    np.dot(P, G[:n].T, Sw)
    for j in range(w):
        s_j, q, c = Sw[j], P_norm2[j], P_weight[j]
        for z in range(n):
            v = (norm2[z] + q - two * s_j[z]) * c
            out[z] = v if v < out[z] else out[z]
    # The formula above cancels if a point nearly coincides with a pick: use differences instead.
    heaviest = P_weight[0]
    for j in range(1, w):
        heaviest = max(heaviest, P_weight[j])
    for z in range(n):
        if out[z] < P.dtype.type(1e-4) * norm2[z] * heaviest:
            out[z] = big
            for j in range(w):
                out[z] = min(out[z], distance2(G[z], P[j]) * P_weight[j])


@part_of_kernel
def _refresh(G: Any, n: int, seen: Any, norm2: Any, weight: Any, score: Any, P: Any, P_norm2: Any, P_weight: Any,
             t: int, S: Any, near: Any) -> None:  # fmt: skip
    """Update the scores of points G[:n], n ≤ CHUNK, with all picks that any of them does not account for yet."""
    oldest = t
    for z in range(n):
        oldest = min(oldest, seen[z])
    for j in range(oldest, t, CHUNK):
        e = min(t, j + CHUNK)
        _nearest(G, n, norm2, P[j:e], P_norm2[j:e], P_weight[j:e], S, near)
        for z in range(n):
            score[z] = min(score[z], near[z] * weight[z])


@kernel
def catch_up(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, todo: Any, worker: int, workers: int,
    P: Any, P_norm2: Any, P_weight: Any, t: int, weight: Any, norm2: Any, score: Any, seen: Any,
) -> None:  # fmt: skip
    """Update the scores of the points `todo`, sorted by `seen`, with the picks that they do not account for yet.

    Each worker takes every `workers`-th chunk, because chunks at the beginning of the list lack the most picks.
    """
    G, S, near = np.empty((CHUNK, X.shape[1]), P.dtype), np.empty(CHUNK * CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
    rows, q, own = np.empty(CHUNK, np.int64), np.empty(CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
    own_weight, own_seen = np.empty(CHUNK, P.dtype), np.empty(CHUNK, np.int32)
    for a in range(worker * CHUNK, todo.size, workers * CHUNK):
        n = min(CHUNK, todo.size - a)
        for z in range(n):
            i = todo[a + z]
            rows[z], q[z], own[z], own_weight[z], own_seen[z] = members[i], norm2[i], score[i], weight[i], seen[i]
        stage(X, rows, n, offset, scale, factor, G)
        _refresh(G, n, own_seen, q, own_weight, own, P, P_norm2, P_weight, t, S, near)
        for z in range(n):
            score[todo[a + z]], seen[todo[a + z]] = own[z], t


@part_of_kernel
def _reaching(score: Any, bound: Any, out: Any) -> int:
    """Write to out the indices (ascending) of scores that reach the bound; returns how many."""
    m = 0
    for i in range(score.size):  # without a branch, which the CPU could not predict
        out[m] = i
        m += score[i] >= bound
    return m


def stale(front: Rows, seen: npt.NDArray[np.int32], t: int) -> Rows:
    """Rows of the front whose scores do not account for all t picks, sorted by `seen`, then by row."""
    front = front[seen[front] < t]
    return front[np.argsort(seen[front].astype(np.min_scalar_type(t)), kind="stable")]  # small integers sort fast


@kernel
def cut_ties(score: Any, bound: Any, room: int, out: Any, m: int) -> tuple[int, int]:
    """Shorten out[:m] to `room` indices, by dropping the last ones whose score equals the bound.

    Returns how many are left, and the lowest index dropped (NOWHERE if there is none).
    """
    above = 0
    for y in range(m):
        above += score[out[y]] > bound
    equal, kept, dropped = max(room - above, 0), 0, NOWHERE
    for y in range(m):
        i = out[y]
        if score[i] > bound or equal > 0:
            out[kept] = i
            kept += 1
            equal -= score[i] == bound
        else:
            dropped = min(dropped, i)
    return kept, dropped


@part_of_kernel
def _beats(value: Any, at: int, bound: Any, bound_at: int) -> bool:
    """Whether (value, at) is better than the bound: a larger value, or an equal one with a lower row."""
    return value >= 0 and (value > bound or (value == bound and at < bound_at))


@kernel
def advance(
    front: Any, G: Any, score: Any, seen: Any, norm2: Any, weight: Any, pick_weight: Any, bound: Any, bound_at: int,
    P: Any, P_norm2: Any, P_weight: Any, t: int, stop: int, picked: Any, gain: Any,
) -> int:  # fmt: skip
    """Pick from the front while its best beats (bound, bound_at); returns the new number of picks.

    `weight` is a row's weight as a candidate, `pick_weight` its weight once it is picked.
    """
    wide_vectors()
    n, d = G.shape
    H, few = np.empty((CANDIDATES, d), P.dtype), np.empty(n, np.int64)
    S, near = np.empty(CHUNK * CHUNK, P.dtype), np.empty(CHUNK, P.dtype)
    h_score, h_norm2 = np.empty(CANDIDATES, P.dtype), np.empty(CANDIDATES, P.dtype)
    h_weight, h_seen = np.empty(CANDIDATES, P.dtype), np.empty(CANDIDATES, np.int32)
    while t < stop:
        # The CANDIDATES largest scores of the front, which may be stale, and the bound on all other rows.
        limit, limit_at = bound, bound_at
        if n > CANDIDATES:
            inner = np.partition(score, n - CANDIDATES)[n - CANDIDATES]
            m, left = cut_ties(score, inner, CANDIDATES, few, _reaching(score, inner, few))
            inner_at = front[left] if left < n else NOWHERE
            if inner > limit or (inner == limit and inner_at < limit_at):
                limit, limit_at = inner, inner_at
        else:
            m = n
            for i in range(n):
                few[i] = i
        top = 0
        for y in range(m):
            i = few[y]
            h_score[y], h_norm2[y], h_weight[y], h_seen[y] = score[i], norm2[i], weight[i], seen[i]
            for c in range(d):
                H[y, c] = G[i, c]
            if h_score[y] > h_score[top]:
                top = y
        if not _beats(h_score[top], front[few[top]], bound, bound_at):
            return t
        _refresh(H, m, h_seen, h_norm2, h_weight, h_score, P, P_norm2, P_weight, t, S, near)
        # Pick from the few while no other row can be larger (or equal with a lower row).
        before = t
        while t < stop:
            best = 0
            for y in range(1, m):
                if h_score[y] > h_score[best]:
                    best = y
            if not _beats(h_score[best], front[few[best]], limit, limit_at):
                break
            picked[t], gain[t] = front[few[best]], h_score[best]
            P_norm2[t], P_weight[t] = h_norm2[best], pick_weight[few[best]]
            for c in range(d):
                P[t, c] = H[best, c]
            h_score[best] = PICKED
            for y in range(m):
                v = distance2(H[y], P[t]) * P_weight[t] * h_weight[y]
                h_score[y] = v if v < h_score[y] else h_score[y]
            t += 1
        for y in range(m):
            score[few[y]], seen[few[y]] = h_score[y], t
        if t == before:  # all scores of the front are too stale: update them all
            for a in range(0, n, CHUNK):
                b = min(n, a + CHUNK)
                _refresh(G[a:b], b - a, seen[a:b], norm2[a:b], weight[a:b], score[a:b],
                         P, P_norm2, P_weight, t, S, near)  # fmt: skip
                seen[a:b] = t
    return t
