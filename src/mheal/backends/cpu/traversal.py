"""Farthest-first traversal in lazy epochs: exact, with most distances never computed and the rest by BLAS.

The score of a point is its squared distance to the nearest pick so far, times its own weight and the
pick's (weights 1: Eq. 8; other weights: the charged energy). Picks only lower scores, so a stale score is
an upper bound. Three nested sets use this: the pool, where nearly all scores are stale; the front, the few
per cent with the largest stale scores; the heads, the hundred largest of the front, which alone
are exact after every pick. A pick is taken from the heads as long as it beats every bound outside them.
Ties go to the lowest row, so order is by (score, −row) throughout.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import resting, run_parts, shares, single_threaded_blas, spans, thread_count
from .grouping import row_type
from .lazy_scores import CHUNK, NOWHERE, PICKED, advance, catch_up, cut_ties, first_scores, reaching, stale
from .points import FirstScores, Points, passes, refuse_nonfinite

FRONT_SHARE = 24  # the front holds about one point in this many,
FRONT_BYTES = 1 << 27  # or as many as this holds,
FRONT_MIN = 2048  # but no fewer

AfterEpoch = Callable[[npt.NDArray[np.int64], npt.NDArray[Any]], None]  # rows picked so far, and their scores


def _front(
    score: npt.NDArray[Any], size: int, buffer: npt.NDArray[Any], workers: int
) -> tuple[npt.NDArray[np.int64], Any, int]:
    """Indices of about the `size` largest scores; every score elsewhere is below the bound, or equal from `left` on."""
    if size >= len(score):
        return np.flatnonzero(score >= 0), score.dtype.type(PICKED), NOWHERE
    parts = shares(len(score), CHUNK, workers)

    def those_reaching(bound: Any) -> npt.NDArray[np.int64]:
        found = run_parts(lambda span: reaching(score, *span, bound, buffer), parts, workers)
        return np.concatenate([buffer[lo : lo + m] for (lo, _), m in zip(parts, found, strict=True)]).astype(np.int64)

    step = max(1, len(score) // 8192)
    sample = score[::step]
    rank = max(1, round(size / step))
    bound = np.partition(sample, len(sample) - rank)[len(sample) - rank]
    front = those_reaching(bound)
    if len(front) > 2 * size:  # the sample deceives where scores are few-valued or sorted: ask them all
        bound = np.partition(score, len(score) - size)[len(score) - size]
        front = those_reaching(bound)
    m, left = cut_ties(score, bound, size, front, len(front))
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
        members: npt.NDArray[Any] | None = None,
        weight: npt.NDArray[Any] | None = None,
        placed: npt.NDArray[Any] | None = None,
        workers: int | None = None,
        first: FirstScores | None = None,
        seen: int | npt.NDArray[np.int32] = 1,
    ) -> None:
        """`picks` holds one at least; candidates are `members` (ascending rows of the pool), by default all.

        A member counts with `weight` as a candidate, with `placed` (by default the same) once it is picked. `first`
        may hold squared lengths and scores against the first `seen` picks (of each member, or of all): what
        Points.first_scores has found for one, kernels.radii for several, or an earlier traversal.
        """
        points, dtype = picks.points, picks.points.dtype
        self.picks, self.workers = picks, workers or thread_count()
        rows = row_type(points.shape[0])
        self.members = np.arange(points.shape[0], dtype=rows) if members is None else members.astype(rows, copy=False)
        n = len(self.members)
        self.weight = np.ones(n, dtype) if weight is None else weight
        self.placed = self.weight if placed is None else placed
        self.norm2: npt.NDArray[Any]
        self.score: npt.NDArray[Any]
        self.norm2, self.score = first or (np.empty(n, dtype), np.empty(n, dtype))
        self.seen = seen if isinstance(seen, np.ndarray) else np.full(n, seen, np.int32)
        self._buffer = np.empty(n, rows)
        self._source = (points.X, points.offset, points.scale, points.factor, self.members)
        self._scratch = [
            (np.empty((CHUNK, points.shape[1]), dtype), np.empty(CHUNK * CHUNK, dtype)) for _ in range(self.workers)
        ]
        if first is None:
            target = (picks.P[0], picks.weight[0], self.weight, self.norm2, self.score)
            run_parts(
                lambda span: first_scores(*self._source, *span, *target),
                passes(points.X) if members is None else spans(n, passes(points.X)[0][1]),
                self.workers,
            )
        if not np.isfinite(self.norm2).all():
            refuse_nonfinite(points.X)

    def exclude(self, rows: npt.NDArray[np.int64]) -> None:
        """These rows of the pool cannot be picked."""
        self.score[np.searchsorted(self.members, rows.astype(self.members.dtype))] = PICKED

    def scores(self) -> npt.NDArray[Any]:
        """Upper bounds on the score of each candidate; exact as long as there is only one pick."""
        return self.score

    def extend(self, n: int, after_epoch: AfterEpoch | None = None) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any]]:
        """Pick n more rows of the pool; returns them and their scores, fewer if the candidates run out.

        After an epoch `score` and `seen` are all there is to know: a traversal that is given them goes on exactly so.
        """
        picks, start = self.picks, self.picks.count
        stop = start + min(n, int(np.count_nonzero(self.score >= 0)))
        picked, gain = np.empty(stop, np.int64), np.empty(stop, picks.P.dtype)
        row = picks.P.itemsize * picks.P.shape[1]  # by the pool alone: picks must not depend on memory
        size = max(FRONT_MIN, min(len(self.members) // FRONT_SHARE, FRONT_BYTES // row))
        with single_threaded_blas():
            while picks.count < stop:
                front, bound, left = _front(self.score, size, self._buffer, self.workers)
                self._renew(stale(front, self.seen, picks.count))
                front = front[self.score[front] >= bound]
                if len(front) == 0:
                    continue
                G = picks.points.take(self.members[front])
                score, seen = self.score[front], self.seen[front]
                picks.count = advance(
                    front, G, score, seen, self.norm2[front], self.weight[front], self.placed[front], bound, left,
                    *picks.arrays, picks.count, stop, picked, gain, self._scratch[0][1],
                )  # fmt: skip
                self.score[front], self.seen[front] = score, seen
                if after_epoch is not None:
                    after_epoch(self._rows(picked[start : picks.count]), gain[start : picks.count])
        return self._rows(picked[start:]), gain[start:]

    def _rows(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        return self.members[places].astype(np.int64)

    def _renew(self, todo: npt.NDArray[np.int64]) -> None:
        """Apply to these candidates the picks they have missed."""
        if not resting():
            self._catch_up(self._source, todo)
            return
        points = self.picks.points
        empty = np.empty(0, points.dtype)
        for lo, hi in spans(len(todo), CHUNK * self.workers):  # copied in small steps, then worked on as before
            part = todo[lo:hi]
            copy = points.take(self.members[part])
            copy.flags.writeable = False
            self._buffer[part] = np.arange(len(part), dtype=self._buffer.dtype)
            self._catch_up((copy, empty, empty, empty, self._buffer), part)

    def _catch_up(self, source: tuple[Any, ...], todo: npt.NDArray[np.int64]) -> None:
        def work(worker: int) -> None:
            catch_up(
                *source, todo, worker, self.workers, *self.picks.arrays, self.picks.count,
                self.weight, self.norm2, self.score, self.seen, *self._scratch[worker],
            )  # fmt: skip

        run_parts(work, range(min(self.workers, -(-len(todo) // CHUNK))), self.workers)
