"""The lazy farthest-first traversal on the CPU. Most distances are never computed, the others mostly by BLAS.

There are three nested sets. In the pool, nearly all scores are outdated (stale). The front, about 4 % of rows, has the
largest stale scores. The 128 largest of the front have exact scores after every pick, and rows are picked from them
while they beat every bound on the others. Ties go to the lowest row, so the order is by (score, −row) throughout.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime.threads import run_parts, shares, single_threaded_blas, spans, thread_count
from ...validation import refuse_nonfinite
from ..base import PICKED, Bound, Float64, Floats, Groups, Index, Rows, Scores
from .grouping import row_type
from .lazy_scores import CHUNK, NOWHERE, advance, catch_up, cut_ties, first_scores, stale
from .picks import PickList, radii
from .staging import Staged

FRONT_SHARE = 24  # the front holds about one row in this many
FRONT_BYTES = 1 << 27  # bytes of rows in the front at most


class CpuPicks(PickList):
    """The labelled and picked rows, and the passes that compare the pool with them."""

    def __init__(self, points: Staged, capacity: int) -> None:
        super().__init__(points.take, capacity, points.shape[1], points.dtype)
        self.points = points

    def radii(self, weight: Floats) -> tuple[Float64, Scores]:
        return radii(self.points, self, weight)

    def candidates(
        self, weight: Floats, pick_weight: Floats, groups: Groups | None = None, first: Scores | None = None,
        workers: int | None = None,
    ) -> "Sequence[CpuCandidates]":  # fmt: skip
        if groups is None:
            return [CpuCandidates(self, None, weight, pick_weight, first, workers)]
        return [CpuCandidates(self, rows, weight[rows], pick_weight[rows], None, workers) for rows in groups]


class PointFront:
    """A contiguous copy of the rows with the largest scores; `advance` picks among them.

    rows : their row numbers, ascending
    weights : their weights as candidates, and once they are picked
    """

    def __init__(
        self, picks: PickList, rows: Index, G: Floats, scores: Scores, weights: tuple[Floats, Floats], bound: Bound
    ) -> None:
        self.picks, self.rows, self.G, self.scores, self.weights, self.bound = picks, rows, G, scores, weights, bound

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        if len(self.rows) == 0:
            return np.empty(0, np.int64), np.empty(0, self.G.dtype)
        picks, start = self.picks, self.picks.count
        picked, gain = np.empty(stop, np.int64), np.empty(stop, self.G.dtype)
        at = NOWHERE if limit.row == np.inf else int(limit.row)
        with single_threaded_blas():
            picks.count = advance(
                self.rows, self.G, self.scores.score, self.scores.seen, self.scores.norm2, *self.weights,
                self.G.dtype.type(limit.score), at, *picks.arrays, start, stop, picked, gain,
            )  # fmt: skip
        return picked[start : picks.count], gain[start : picks.count]

    def close(self) -> None:
        """Do nothing: these scores are not used again."""


class CpuFront(PointFront):
    """The front of candidates in memory; `at` are their positions in the list of candidates."""

    def __init__(self, of: "CpuCandidates", at: Rows, bound: Bound) -> None:
        self.of, self.at = of, at
        scores = Scores(of.norm2[at], of.score[at], of.seen[at])
        rows = of.members[at].astype(np.int64)
        super().__init__(of.picks, rows, of.picks.points.take(rows), scores, (of.weight[at], of.pick_weight[at]), bound)

    def close(self) -> None:
        self.of.score[self.at], self.of.seen[self.at] = self.scores.score, self.scores.seen


class CpuCandidates:
    """Rows that may be picked, by default all, and their scores."""

    def __init__(
        self, picks: CpuPicks, members: Index | None, weight: Floats, pick_weight: Floats, first: Scores | None,
        workers: int | None,
    ) -> None:  # fmt: skip
        """`members` are ascending rows of the pool; the weights are theirs."""
        points, dtype = picks.points, picks.points.dtype
        self.picks, self.workers, self.weight, self.pick_weight = picks, workers or thread_count(), weight, pick_weight
        rows = row_type(points.shape[0])
        self.members = np.arange(points.shape[0], dtype=rows) if members is None else members.astype(rows, copy=False)
        n = len(self.members)
        self.norm2, self.score, seen = first or Scores(np.empty(n, dtype), np.empty(n, dtype), 1)
        self.seen = seen if isinstance(seen, np.ndarray) else np.full(n, seen, np.int32)
        self._buffer = np.empty(n, rows)
        self._source = (*points.source, self.members)
        if first is None:
            target = (picks.P[0], picks.weight[0], self.weight, self.norm2, self.score)
            parts = spans(n, points.passes()[0][1])
            points.run_parts(lambda span: first_scores(*self._source, *span, *target), parts, self.workers)
        if not np.isfinite(self.norm2).all():
            refuse_nonfinite(points.X)
        row = dtype.itemsize * points.shape[1]  # not by the memory that is free: picks must not depend on it
        self._size = max(points.sizes.front_rows, min(n // FRONT_SHARE, FRONT_BYTES // row))

    def exclude(self, rows: Rows) -> None:
        self.score[np.searchsorted(self.members, rows.astype(self.members.dtype))] = PICKED

    def left(self) -> int:
        return int(np.count_nonzero(self.score >= 0))

    def scores(self) -> Scores:
        return Scores(self.norm2, self.score, self.seen)

    def front(self) -> CpuFront:
        with single_threaded_blas():
            front, bound, left = _front(self.score, self._size, self.workers)
            self.renew(front)
            row = self.members[left] if left < len(self.members) else NOWHERE
            return CpuFront(self, front[self.score[front] >= bound], Bound(float(bound), int(row)))

    def renew(self, rows: Rows) -> None:
        """Update the scores of these candidates with the picks that they do not account for yet."""
        points, todo = self.picks.points, stale(rows, self.seen, self.picks.count)
        if points.limit is None:
            self._catch_up(self._source, todo)
            return
        empty = np.empty(0, points.dtype)
        for lo, hi in spans(len(todo), CHUNK * self.workers):  # copy a few rows at a time, then update them
            part = todo[lo:hi]
            copy = points.take(self.members[part])
            copy.flags.writeable = False
            self._buffer[part] = np.arange(len(part), dtype=self._buffer.dtype)
            self._catch_up((copy, empty, empty, empty, self._buffer), part)

    def _catch_up(self, source: tuple[Any, ...], todo: Rows) -> None:
        def work(worker: int) -> None:
            catch_up(
                *source, todo, worker, self.workers, *self.picks.arrays, self.picks.count,
                self.weight, self.norm2, self.score, self.seen,
            )  # fmt: skip

        parts = range(min(self.workers, -(-len(todo) // CHUNK)))
        run_parts(work, parts, self.workers, self.picks.points.yield_point)


def _front(score: Floats, size: int, workers: int) -> tuple[Rows, Any, int]:
    """Indices of about the `size` largest scores, a bound on the others, and the first of these that equals it."""
    if size >= len(score):
        return np.flatnonzero(score >= 0), score.dtype.type(PICKED), NOWHERE
    parts = shares(len(score), CHUNK, workers)

    def those_reaching(bound: Any) -> Rows:
        found = run_parts(lambda span: span[0] + np.flatnonzero(score[slice(*span)] >= bound), parts, workers)
        return np.concatenate(found)

    step = max(1, len(score) // 8192)
    sample = score[::step]
    rank = max(1, round(size / step))
    bound = np.partition(sample, len(sample) - rank)[len(sample) - rank]
    front = those_reaching(bound)
    if len(front) > 2 * size:  # the sample misleads if scores take few values or are sorted: use all of them
        bound = np.partition(score, len(score) - size)[len(score) - size]
        front = those_reaching(bound)
    m, left = cut_ties(score, bound, size, front, len(front))
    return front[:m], bound, left
