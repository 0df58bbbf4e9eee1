"""Farthest-first traversal on a cluster: workers compute the scores, the client picks among the best rows.

In each epoch, every partition updates the scores that reach a bound and sends its best rows, the front, to the client.
"""

from collections.abc import Sequence
from itertools import pairwise
from operator import getitem
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from distributed import Future

from ..base import PICKED, Bound, Float64, Floats, Groups, Index, Labels, Rows, Scores
from ..cpu.grouping import group_numbers
from ..cpu.lazy_scores import NOWHERE
from ..cpu.picks import PickList
from ..cpu.points import Points
from ..cpu.traversal import FRONT_SHARE, CpuPicks, PointFront

if TYPE_CHECKING:
    from .rows import DaskRows


class Picked(NamedTuple):
    """Rows that are labelled or picked: numbers, points, squared lengths and weights."""

    rows: Rows
    P: Floats
    norm2: Floats
    weight: Floats


class Front(NamedTuple):
    """The ascending rows that a partition sends to the client, with all that is needed to pick among them."""

    rows: Rows
    G: Floats
    score: Floats
    norm2: Floats
    candidate: Floats
    pick_weight: Floats
    group: Labels
    limit: Floats  # for each group the best score that is not sent
    limit_row: Rows  # and its row
    sample: Floats  # some scores of the partition, from which the next bound is chosen


class DaskPicks(PickList):
    """The picks, on the client and copied to the workers, and the passes that compare the pool with them."""

    def __init__(self, store: "DaskRows", capacity: int) -> None:
        super().__init__(store.take, capacity, store.shape[1], store.dtype)
        self.store, self.rows, self._sent = store, np.empty(capacity, np.int64), 0
        self._shared: Future = None

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        self.rows[self.count : self.count + len(rows)] = rows
        super().add(rows, weight, norm2)

    def shared(self) -> Future:
        """All picks so far, as a future on the workers; only new ones are sent."""
        if self._sent < self.count:
            new = slice(self._sent, self.count)
            more = Picked(self.rows[new].copy(), *(A[new].copy() for A in self.arrays))
            self._shared = self.store.pool.client.submit(_append, self._shared, more, pure=False)
            self._sent = self.count
        return self._shared

    def radii(self, weight: Floats) -> tuple[Float64, Scores]:
        pool = self.store.pool
        found = pool.gather(self.store.each(_all_radii, pool.split(weight), shared=[self.shared()]))
        worst, norm2, score = zip(*found, strict=True)
        return np.max(worst, axis=0), Scores(np.concatenate(norm2), np.concatenate(score), self.count)

    def candidates(
        self, weight: Floats, pick_weight: Floats, groups: Groups | None = None, first: Scores | None = None,
        workers: int | None = None,
    ) -> "list[DaskCandidates]":  # fmt: skip
        return Traversal(self.store, self, groups, weight, pick_weight, first).groups


class Traversal:
    """Scores of all rows on the workers, in one or several groups of candidates."""

    def __init__(
        self, store: "DaskRows", picks: DaskPicks, groups: Groups | None, weight: Floats, pick_weight: Floats,
        first: Scores | None,
    ) -> None:  # fmt: skip
        """`first` may hold scores against some picks. Without groups, all rows form one."""
        self.store, self.pool, self.picks = store, store.pool, picks
        n, split = store.shape[0], store.pool.split
        self.sizes = [n] if groups is None else [len(rows) for rows in groups]
        self.excluded = np.empty(0, np.int64)
        self.step = max(1, n // (store.sizes.sample * len(self.sizes)))
        group = np.zeros(n, np.int32) if groups is None else group_numbers(n, groups, -1)
        self.sampled = np.concatenate([group[lo : hi : self.step] for lo, hi in pairwise(self.pool.first.tolist())])
        candidate = split(weight)
        self.fixed = candidate, candidate if pick_weight is weight else split(pick_weight), split(group)
        norm2, score, seen = (None, None, 1) if first is None else first
        own = candidate, self.fixed[2], split(norm2), split(score)
        begun = store.each(_begin, *own, shared=[picks.shared(), seen, self.step])
        self.state, samples = self._columns(begun)
        self.samples: list[Floats] = self.pool.gather(samples)
        self.groups = [DaskCandidates(self, g) for g in range(len(self.sizes))]

    def epoch(self) -> None:
        """Compute new fronts for all groups."""
        bounds, room = self._bounds(), self._room()
        shared = [self.picks.shared(), self.excluded, bounds, room, self.step]
        done = self.store.each(_advance_epoch, self.pool.first, *self.fixed, self.state, shared=shared)
        self.state, travelling = self._columns(done)
        fronts: list[Front] = self.pool.gather(travelling)
        self.samples = [front.sample for front in fronts]
        for g, candidates in enumerate(self.groups):
            candidates.kept = DaskFront(candidates, fronts, g, bounds[g])

    def _columns(self, results: Sequence[Future]) -> list[list[Future]]:
        """From tasks that return pairs: the first results of all, and the second ones, both on the workers."""
        return [self.pool.run(getitem, zip(results, strict=True), [i]) for i in range(2)]

    def _bounds(self) -> Floats:
        """For each group, a score that about one row in FRONT_SHARE reaches, or all rows if the group is small."""
        score = np.concatenate(self.samples)
        bounds = np.full(len(self.sizes), PICKED, self.store.dtype)
        for g, n in enumerate(self.sizes):
            own = np.sort(score[self.sampled == g])
            size = max(self.store.sizes.front_rows // len(self.sizes), n // FRONT_SHARE)
            if size < n and len(own):
                bounds[g] = own[-min(len(own), max(1, round(size / self.step)))]
        return bounds

    def _room(self) -> Rows:
        """How many rows of each group a partition may send."""
        sizes, row = self.store.sizes, self.store.shape[1] * self.store.dtype.itemsize
        each = max(sizes.front_rows, sizes.front_bytes // row) / len(self.pool.parts)
        return np.maximum(sizes.group_rows, each * np.array(self.sizes) / self.store.shape[0]).astype(np.int64)


class DaskCandidates:
    """One group of candidates. Its front is replaced once it yields no more picks."""

    def __init__(self, traversal: Traversal, group: int) -> None:
        self.traversal, self.picks = traversal, traversal.picks
        self.remaining = traversal.sizes[group]
        self.kept: DaskFront | None = None

    def exclude(self, rows: Rows) -> None:
        self.traversal.excluded = np.append(self.traversal.excluded, rows)
        self.remaining -= len(rows)

    def left(self) -> int:
        return self.remaining

    def scores(self) -> None:
        """None: a run on a cluster cannot be resumed in the middle of its picks."""

    def front(self) -> "DaskFront":
        if self.kept is None or self.kept.used_up:
            self.traversal.epoch()
        assert self.kept is not None
        return self.kept


class DaskFront(PointFront):
    """The rows of one group that were sent to the client, and a bound on the others."""

    used_up = False

    def __init__(self, of: DaskCandidates, fronts: Sequence[Front], group: int, bound: Any) -> None:
        own = [front.group == group for front in fronts]
        rows, G, score, norm2, candidate, pick_weight = (
            np.concatenate([front[i][mine] for front, mine in zip(fronts, own, strict=True)]) for i in range(6)
        )
        bounds = [Bound(float(front.limit[group]), int(front.limit_row[group])) for front in fronts]
        best = max(Bound(float(bound), NOWHERE), *bounds, key=lambda bound: (bound.score, -bound.row))
        known = Scores(norm2, score, np.full(len(rows), of.picks.count, np.int32))
        super().__init__(of.picks, rows, G, known, (candidate, pick_weight), best)
        self.of = of

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        start = self.picks.count
        rows, scores = super().pick(limit, stop)
        self.of.picks.rows[start : self.picks.count] = rows
        self.used_up = self.picks.count < stop
        self.of.remaining -= len(rows)
        return rows, scores


# Tasks of the workers: pure functions of a partition, results of earlier tasks on it, and small arrays.


def _picks(points: Points, picked: Picked) -> CpuPicks:
    """The picks, with the rows of a partition as the pool."""
    picks = CpuPicks(points, len(picked.rows))
    picks.P[:], picks.norm2[:], picks.weight[:], picks.count = *picked[1:], len(picked.rows)
    return picks


def _all_radii(points: Points, weight: Floats, picked: Picked) -> tuple[Float64, Floats, Floats]:
    """The largest distance left after each pick; squared lengths of the rows, and their scores against all picks."""
    worst, scores = _picks(points, picked).radii(weight)
    return worst, scores.norm2, scores.score


def _begin(
    points: Points, candidate: Floats, group: Labels, norm2: Floats | None, score: Floats | None,
    picked: Picked, seen: int, step: int,
) -> tuple[Scores, Floats]:  # fmt: skip
    """Scores of all rows against the first `seen` picks, and scores of a sample against all picks."""
    first = None if norm2 is None or score is None else Scores(norm2, score.copy(), seen)
    own = _picks(points, picked).candidates(candidate, candidate, first=first)[0]
    own.score[group < 0] = PICKED
    own.renew(np.arange(0, len(group), step))
    return own.scores(), own.score[::step].copy()


def _advance_epoch(
    points: Points, first: int, candidate: Floats, pick_weight: Floats, group: Labels, before: Scores,
    picked: Picked, excluded: Rows, bounds: Floats, room: Rows, step: int,
) -> tuple[Scores, Front]:  # fmt: skip
    """Update the scores that reach their group's bound. The best rows, at most `room` per group, form the front."""
    known = before._replace(score=before.score.copy(), seen=np.array(before.seen))  # arguments must not change
    own = _picks(points, picked).candidates(candidate, pick_weight, first=known)[0]
    score, n = own.score, len(before.score)
    for gone in (picked.rows, excluded):
        score[gone[(gone >= first) & (gone < first + n)] - first] = PICKED
    level = bounds[group]
    reaching = (score >= level) & (score >= 0)
    front = np.flatnonzero(reaching)
    reaching[::step] = True  # update the sample too, or the next bound would be too high
    own.renew(np.flatnonzero(reaching))
    front = front[score[front] >= level[front]]
    front, limit, left = _best(front, score[front], group[front], room)
    return own.scores(), Front(
        first + front, points.take(front), score[front], own.norm2[front], candidate[front], pick_weight[front],
        group[front], limit, np.where(left < NOWHERE, first + left, NOWHERE), score[::step].copy(),
    )  # fmt: skip


def _append(picked: Picked | None, more: Picked) -> Picked:
    return more if picked is None else Picked(*map(np.concatenate, zip(picked, more, strict=True)))


def _best(rows: Rows, score: Floats, group: Labels, room: Rows) -> tuple[Rows, Floats, Rows]:
    """The best rows of each group; then the best score of the others (or PICKED) and its row (or NOWHERE)."""
    limit, left = np.full(len(room), PICKED, score.dtype), np.full(len(room), NOWHERE)
    kept = []
    for g in range(len(room)):
        own = np.flatnonzero(group == g)
        if len(own) > room[g]:
            order = own[np.argsort(-score[own], kind="stable")]
            limit[g], left[g] = score[order[room[g]]], rows[order[room[g]]]
            own = order[: room[g]]
        kept.append(own)
    return rows[np.sort(np.concatenate(kept))], limit, left
