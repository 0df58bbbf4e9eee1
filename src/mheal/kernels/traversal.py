"""Farthest-first traversal in lazy epochs: exact, with most distances never computed and the rest by BLAS.

The score of a point is its squared distance to the nearest pick so far, times its own weight and the
pick's (weights 1: Eq. 8; other weights: the charged energy). Picks only lower scores, so a stale score is
an upper bound. Three nested sets use this: the pool, where nearly all scores are stale; the front, the few
per cent with the largest stale scores; the heads, the hundred largest of the front, which alone
are exact after every pick. A pick is taken from the heads as long as it beats every bound outside them.
Ties go to the lowest row, so order is by (score, −row) throughout.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from .points import FirstScores, Points, refuse_nonfinite, stage
from .simd import kernel, wide_vectors
from .threads import run_parts, shares, single_threaded_blas, thread_count

HEADS = 128  # points kept exact after each pick: they fit the innermost caches
FRONT_SHARE = 24  # the front holds about one point in this many
FRONT_MIN = 2048
CHUNK = 256  # rows caught up by one BLAS call
FEW_COLUMNS = 8  # up to here dot products would lose precision and gain no speed
PICKED = -1.0  # score of a point that can no longer be picked
NOWHERE = np.iinfo(np.int64).max


@kernel
def _distance2(a: Any, b: Any) -> Any:
    s = a.dtype.type(0)
    for t in range(a.size):
        v = a[t] - b[t]
        s += v * v
    return s


@kernel
def _first_scores(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, lo: int, hi: int,
    pick: Any, pick_weight: Any, weight: Any, norm2: Any, score: Any,
) -> None:  # fmt: skip
    """Squared lengths, and scores against the first pick, of members lo..hi."""
    wide_vectors()
    G = np.empty((64, X.shape[1]), pick.dtype)
    for a in range(lo, hi, 64):
        n = min(64, hi - a)
        stage(X, members[a : a + n], n, offset, scale, factor, G)
        for z in range(n):
            s = q = pick.dtype.type(0)
            for t in range(pick.size):
                g = G[z, t]
                v = g - pick[t]
                q += g * g
                s += v * v
            norm2[a + z] = q
            score[a + z] = s * weight[a + z] * pick_weight


@kernel
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
    # Where a point nearly coincides with a pick the formula above cancels: take differences instead.
    heaviest = P_weight.max()
    for z in range(n):
        if out[z] < P.dtype.type(1e-4) * norm2[z] * heaviest:
            out[z] = big
            for j in range(w):
                out[z] = min(out[z], _distance2(G[z], P[j]) * P_weight[j])


@kernel
def _catch_up(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, todo: Any, worker: int, workers: int,
    P: Any, P_norm2: Any, P_weight: Any, t: int, weight: Any, norm2: Any, score: Any, seen: Any, G: Any, S: Any,
) -> None:  # fmt: skip
    """Apply the picks that each of the points `todo` (sorted by `seen`) has missed; G and S are scratch.

    Workers take every `workers`-th chunk, since chunks at the front of the list have missed most.
    """
    near, q, rows = np.empty(CHUNK, P.dtype), np.empty(CHUNK, P.dtype), np.empty(CHUNK, np.int64)
    for a in range(worker * CHUNK, todo.size, workers * CHUNK):
        n = min(CHUNK, todo.size - a)
        for z in range(n):
            rows[z] = members[todo[a + z]]
            q[z] = norm2[todo[a + z]]
        stage(X, rows, n, offset, scale, factor, G)
        for j in range(seen[todo[a]], t, CHUNK):
            e = min(t, j + CHUNK)
            _nearest(G, n, q, P[j:e], P_norm2[j:e], P_weight[j:e], S, near)
            for z in range(n):
                i = todo[a + z]
                score[i] = min(score[i], near[z] * weight[i])
        for z in range(n):
            seen[todo[a + z]] = t


@kernel
def _kth_largest(values: Any, n: int, k: int, scratch: Any) -> Any:
    """The k-th largest (from 1) of values[:n], by quickselect."""
    for i in range(n):
        scratch[i] = values[i]
    lo, hi, want = 0, n - 1, k - 1
    while lo < hi:
        pivot = scratch[(lo + hi) >> 1]
        i, j = lo, hi
        while i <= j:
            while scratch[i] > pivot:
                i += 1
            while scratch[j] < pivot:
                j -= 1
            if i <= j:
                scratch[i], scratch[j] = scratch[j], scratch[i]
                i += 1
                j -= 1
        if want <= j:
            hi = j
        elif want >= i:
            lo = i
        else:
            break
    return scratch[want]


@kernel
def _reaching(score: Any, lo: int, hi: int, bound: Any, out: Any) -> int:
    """Write to out[lo:] the indices lo ≤ i < hi (ascending) of scores that reach the bound; returns how many."""
    m = lo
    for i in range(lo, hi):  # no branch: which ones reach it is not predictable
        out[m] = i
        m += score[i] >= bound
    return m - lo


@kernel
def _stale(front: Any, seen: Any, t: int) -> Any:
    """Those of the front that have not seen all t picks, by how many they have seen, then by row."""
    place = np.zeros(t + 1, np.int64)  # where the next point that has seen s picks goes
    for i in front:
        place[seen[i] + 1 if seen[i] < t else 0] += 1
    place[0] = 0
    for s in range(1, t + 1):
        place[s] += place[s - 1]
    out = np.empty(place[t], np.int64)
    for i in front:
        if seen[i] < t:
            out[place[seen[i]]] = i
            place[seen[i]] += 1
    return out


@kernel
def _cut_ties(score: Any, bound: Any, room: int, out: Any, m: int) -> tuple[int, int]:
    """Drop from out[:m] the last ones equal to the bound that do not fit in `room`.

    Returns how many are left, and the first index dropped (or the largest integer where there is none).
    """
    above = 0
    for y in range(m):
        above += score[out[y]] > bound
    equal, kept, dropped = max(room - above, 0), 0, NOWHERE
    for y in range(m):
        i = out[y]
        if score[i] > bound:
            out[kept] = i
            kept += 1
        elif equal > 0:
            out[kept] = i
            kept += 1
            equal -= 1
        else:
            dropped = min(dropped, i)
    return kept, dropped


@kernel
def _beats(value: Any, at: int, bound: Any, bound_at: int) -> bool:
    """Whether (value, at) may be picked before anything outside: larger, or equal with a lower row."""
    return value >= 0 and (value > bound or (value == bound and at < bound_at))


@kernel
def _refresh(G: Any, n: int, seen: Any, norm2: Any, weight: Any, score: Any, P: Any, P_norm2: Any, P_weight: Any,
             t: int, S: Any, near: Any) -> None:  # fmt: skip
    """Apply to points G[:n] (at most CHUNK of them) the picks since the one that the stalest has seen."""
    oldest = t
    for z in range(n):
        oldest = min(oldest, seen[z])
    for j in range(oldest, t, CHUNK):
        e = min(t, j + CHUNK)
        _nearest(G, n, norm2, P[j:e], P_norm2[j:e], P_weight[j:e], S, near)
        for z in range(n):
            score[z] = min(score[z], near[z] * weight[z])


@kernel
def _advance(
    front: Any, G: Any, score: Any, seen: Any, norm2: Any, weight: Any, bound: Any, bound_at: int,
    P: Any, P_norm2: Any, P_weight: Any, t: int, stop: int, picked: Any, gain: Any, S: Any,
) -> int:  # fmt: skip
    """Pick from the front while its best beats (bound, bound_at); returns the new number of picks."""
    wide_vectors()
    n, d = G.shape
    scratch, heads = np.empty(n, P.dtype), np.empty(n, np.int64)
    H, near = np.empty((HEADS, d), P.dtype), np.empty(CHUNK, P.dtype)
    h_score, h_norm2 = np.empty(HEADS, P.dtype), np.empty(HEADS, P.dtype)
    h_weight, h_seen = np.empty(HEADS, P.dtype), np.empty(HEADS, np.int32)
    while t < stop:
        # The heads: the HEADS largest stale scores of the front, and the bound on everything outside them.
        limit, limit_at = bound, bound_at
        if n > HEADS:
            inner = _kth_largest(score, n, HEADS, scratch)
            m, left = _cut_ties(score, inner, HEADS, heads, _reaching(score, 0, n, inner, heads))
            inner_at = front[left] if left < n else NOWHERE
            if inner > limit or (inner == limit and inner_at < limit_at):
                limit, limit_at = inner, inner_at
        else:
            m = n
            for i in range(n):
                heads[i] = i
        top = 0
        for y in range(m):
            i = heads[y]
            h_score[y], h_norm2[y], h_weight[y], h_seen[y] = score[i], norm2[i], weight[i], seen[i]
            H[y] = G[i]
            if h_score[y] > h_score[top]:
                top = y
        if not _beats(h_score[top], front[heads[top]], bound, bound_at):
            return t
        _refresh(H, m, h_seen, h_norm2, h_weight, h_score, P, P_norm2, P_weight, t, S, near)
        # Pick from the heads while nothing outside can be larger (or equal with a lower row).
        before = t
        while t < stop:
            best = 0
            for y in range(1, m):
                if h_score[y] > h_score[best]:
                    best = y
            if not _beats(h_score[best], front[heads[best]], limit, limit_at):
                break
            picked[t], gain[t] = front[heads[best]], h_score[best]
            P[t], P_norm2[t], P_weight[t] = H[best], h_norm2[best], h_weight[best]
            h_score[best] = PICKED
            for y in range(m):
                v = _distance2(H[y], P[t]) * P_weight[t] * h_weight[y]
                h_score[y] = v if v < h_score[y] else h_score[y]
            t += 1
        for y in range(m):
            score[heads[y]], seen[heads[y]] = h_score[y], t
        if t == before:  # the front has gone stale: renew all of it at once
            for a in range(0, n, CHUNK):
                b = min(n, a + CHUNK)
                _refresh(G[a:b], b - a, seen[a:b], norm2[a:b], weight[a:b], score[a:b],
                         P, P_norm2, P_weight, t, S, near)  # fmt: skip
                seen[a:b] = t
    return t


def _front(
    score: npt.NDArray[Any], size: int, buffer: npt.NDArray[np.int64], workers: int
) -> tuple[npt.NDArray[np.int64], Any, int]:
    """Indices of about the `size` largest scores; every score elsewhere is below the bound, or equal from `left` on."""
    if size >= len(score):
        return np.flatnonzero(score >= 0), score.dtype.type(PICKED), NOWHERE
    parts = shares(len(score), CHUNK, workers)

    def reaching(bound: Any) -> npt.NDArray[np.int64]:
        found = run_parts(lambda span: _reaching(score, *span, bound, buffer), parts, workers)
        return np.concatenate([buffer[lo : lo + m] for (lo, _), m in zip(parts, found, strict=True)])

    step = max(1, len(score) // 8192)
    sample = score[::step]
    rank = max(1, round(size / step))
    bound = np.partition(sample, len(sample) - rank)[len(sample) - rank]
    front = reaching(bound)
    if len(front) > 2 * size:  # the sample deceives where scores are few-valued or sorted: ask them all
        bound = np.partition(score, len(score) - size)[len(score) - size]
        front = reaching(bound)
    m, left = _cut_ties(score, bound, size, front, len(front))
    return front[:m], bound, left


class Picks:
    """What has been picked so far, as the kernels need it: the points themselves, one after the other."""

    def __init__(self, points: Points, capacity: int) -> None:
        self.points = points
        self.P = np.empty((capacity, points.shape[1]), points.dtype)
        self.norm2, self.weight = np.empty(capacity, points.dtype), np.empty(capacity, points.dtype)
        self.count = 0

    def add(self, rows: npt.NDArray[np.int64], weight: npt.NDArray[Any]) -> None:
        """Put rows of the pool behind the others."""
        new = slice(self.count, self.count + len(rows))
        self.P[new], self.weight[new] = self.points.take(rows), weight
        self.norm2[new] = np.einsum("ij,ij->i", self.P[new], self.P[new])
        self.count += len(rows)

    def add_point(self, point: npt.NDArray[Any]) -> None:
        """Put a point that is no row of the pool behind the others."""
        self.P[self.count], self.norm2[self.count], self.weight[self.count] = point, point @ point, 1
        self.count += 1

    def taken(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """The points picked and their weights."""
        return self.P[: self.count], self.weight[: self.count]

    @property
    def arrays(self) -> tuple[Any, Any, Any]:
        """Points, squared lengths, weights."""
        return self.P, self.norm2, self.weight


class Traversal:
    """Candidates and their scores. Several traversals may share one list of picks, and so repel each other."""

    def __init__(
        self,
        picks: Picks,
        members: npt.NDArray[np.int64] | None = None,
        weight: npt.NDArray[Any] | None = None,
        workers: int | None = None,
        first: FirstScores | None = None,
    ) -> None:
        """`picks` holds one at least; candidates are `members` (ascending rows of the pool), by default all.

        `first` may hold what Points.first_scores has found for the first pick.
        """
        points, dtype = picks.points, picks.points.dtype
        self.picks, self.workers = picks, workers or thread_count()
        self.members = np.arange(points.shape[0]) if members is None else members
        n = len(self.members)
        self.weight = np.ones(n, dtype) if weight is None else weight
        self.norm2: npt.NDArray[Any]
        self.score: npt.NDArray[Any]
        self.norm2, self.score = first or (np.empty(n, dtype), np.empty(n, dtype))
        self.seen, self._buffer = np.ones(n, np.int32), np.empty(n, np.int64)
        self._source = (points.X, points.offset, points.scale, points.factor, self.members)
        self._scratch = [
            (np.empty((CHUNK, points.shape[1]), dtype), np.empty(CHUNK * CHUNK, dtype)) for _ in range(self.workers)
        ]
        if first is None:
            target = (picks.P[0], picks.weight[0], self.weight, self.norm2, self.score)
            run_parts(
                lambda span: _first_scores(*self._source, *span, *target),
                shares(n, CHUNK, self.workers),
                self.workers,
            )
        if not np.isfinite(self.norm2).all():
            refuse_nonfinite(points.X)

    def exclude(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows of the pool cannot be picked."""
        self.score[np.searchsorted(self.members, rows)] = PICKED

    def scores(self) -> npt.NDArray[Any]:
        """Upper bounds on the score of each candidate; exact as long as there is only one pick."""
        return self.score

    def extend(self, n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Pick n more rows of the pool; returns them and their scores, fewer if the candidates run out."""
        picks, start = self.picks, self.picks.count
        stop = start + min(n, int(np.count_nonzero(self.score >= 0)))
        picked, gain = np.empty(stop, np.int64), np.empty(stop, picks.P.dtype)
        size = max(FRONT_MIN, len(self.members) // FRONT_SHARE)
        with single_threaded_blas():
            while picks.count < stop:
                front, bound, left = _front(self.score, size, self._buffer, self.workers)
                self._catch_up(_stale(front, self.seen, picks.count))
                front = front[self.score[front] >= bound]
                if len(front) == 0:
                    continue
                G = picks.points.take(self.members[front])
                score, seen = self.score[front], self.seen[front]
                picks.count = _advance(
                    front, G, score, seen, self.norm2[front], self.weight[front], bound, left,
                    *picks.arrays, picks.count, stop, picked, gain, self._scratch[0][1],
                )  # fmt: skip
                self.score[front], self.seen[front] = score, seen
        return self.members[picked[start:]], gain[start:]

    def _catch_up(self, todo: npt.NDArray[np.int64]) -> None:
        def work(worker: int) -> None:
            _catch_up(
                *self._source, todo, worker, self.workers, *self.picks.arrays, self.picks.count,
                self.weight, self.norm2, self.score, self.seen, *self._scratch[worker],
            )  # fmt: skip

        run_parts(work, range(min(self.workers, -(-len(todo) // CHUNK))), self.workers)
