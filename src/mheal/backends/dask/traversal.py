"""Farthest-first traversal on a cluster: workers keep the scores, the client picks among the best of them.

In an epoch every partition brings those rows up to date that reach a bound, and sends the best of them to the client,
where they are the front.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from distributed import Future

from ..base import PICKED, Bound, Float64, Floats, Groups, Index, Rows, Scores
from ..cpu.lazy_scores import NOWHERE
from ..cpu.picks import PickList
from ..cpu.traversal import FRONT_SHARE, PointFront
from . import tasks
from .partitioned import Partitioned


class DaskPicks(PickList):
    """Picks on the client and a copy on the workers, and the passes that compare the pool with them."""

    def __init__(self, store: Partitioned, capacity: int) -> None:
        super().__init__(store.take, capacity, store.shape[1], store.dtype)
        self.store, self.rows, self._sent = store, np.empty(capacity, np.int64), 0
        self._shared: Future | None = None

    def add(self, rows: Index, weight: Floats, norm2: Floats | None = None) -> None:
        """Append rows of the pool."""
        self.rows[self.count : self.count + len(rows)] = rows
        super().add(rows, weight, norm2)

    def shared(self) -> Future:
        """All picks so far, on a worker; only the new ones are sent."""
        pool, new = self.store.pool, slice(self._sent, self.count)
        more = tasks.Picked(self.rows[new].copy(), *(A[new].copy() for A in self.arrays))
        if self._shared is None:
            self._shared = pool.share(more)
        elif self._sent < self.count:
            self._shared = pool.client.submit(tasks.append, self._shared, more, pure=False)
        self._sent = self.count
        return self._shared

    def radii(self, weight: Floats) -> tuple[Float64, Scores]:
        """The largest distance left anywhere after each pick, and scores against all of them."""
        pool = self.store.pool
        found = pool.gather(self.store.each(tasks.all_radii, pool.split(weight), shared=[self.shared()]))
        worst, norm2, score = zip(*found, strict=True)
        return np.max(worst, axis=0), Scores(np.concatenate(norm2), np.concatenate(score), self.count)

    def candidates(
        self, weight: Floats | None = None, placed: Floats | None = None, *, groups: Groups | None = None,
        first: Scores | None = None, workers: int | None = None,
    ) -> "list[DaskCandidates]":  # fmt: skip
        """All rows as candidates, or each of some disjoint groups of ascending rows."""
        return Traversal(self.store, self, groups, weight, placed, first).groups


class Traversal:
    """Scores of all rows on the workers, in one or several groups of candidates."""

    def __init__(
        self,
        store: Partitioned,
        picks: DaskPicks,
        groups: Groups | None,
        weight: Floats | None,
        placed: Floats | None,
        first: Scores | None,
    ) -> None:
        """`first` may hold scores against some picks; without groups all rows compete in one."""
        self.store, self.pool, self.picks = store, store.pool, picks
        self.sizes = [store.shape[0]] if groups is None else [len(rows) for rows in groups]
        self.excluded = np.empty(0, np.int64)
        self.step = max(1, store.shape[0] // (store.sizes.sample * len(self.sizes)))
        norm2, score, seen = (None, None, 1) if first is None else first
        group = None if groups is None else store.group_of(groups)
        own = [self.pool.split(A) for A in (weight, placed, group, norm2, score)]
        begun = store.each(tasks.begin, *own, shared=[picks.shared(), seen, self.step])
        self.fixed, self.state = self._columns(begun)
        self.samples = self.pool.gather(self.pool.run(tasks.sample_of, zip(begun, strict=True), [self.step]))
        self.groups = [DaskCandidates(self, g) for g in range(len(self.sizes))]

    def epoch(self) -> None:
        """New fronts for all groups."""
        bounds, room = self._bounds(), self._room()
        shared = [self.picks.shared(), self.excluded, bounds, room, self.step]
        self.state, travelling = self._columns(
            self.store.each(tasks.advance_epoch, self.fixed, self.state, shared=shared)
        )
        fronts: list[tasks.Front] = self.pool.gather(travelling)
        self.samples = [(front.sample, front.sample_group) for front in fronts]
        for g, candidates in enumerate(self.groups):
            candidates.kept = _front(self.picks, fronts, g, bounds[g])

    def _columns(self, pairs: Sequence[Future]) -> tuple[list[Future], list[Future]]:
        """The first and the second result of each task, on the workers."""
        first, second = (self.pool.run(tasks.item, zip(pairs, strict=True), [i]) for i in (0, 1))
        return first, second

    def _bounds(self) -> Floats:
        """For each group a score that about one row in FRONT_SHARE reaches, or that all rows do where they are few."""
        score = np.concatenate([sample for sample, _ in self.samples])
        group = np.concatenate([groups for _, groups in self.samples])
        bounds = np.full(len(self.sizes), PICKED, self.store.dtype)
        for g, n in enumerate(self.sizes):
            own = np.sort(score[group == g])
            size = max(self.store.sizes.front_rows // len(self.sizes), n // FRONT_SHARE)
            if size < n and len(own):
                bounds[g] = own[-min(len(own), max(1, round(size / self.step)))]
        return bounds

    def _room(self) -> Rows:
        """How many rows of each group may travel from one partition."""
        sizes, row = self.store.sizes, self.store.shape[1] * self.store.dtype.itemsize
        each = max(sizes.front_rows, sizes.front_bytes // row) / len(self.pool)
        return np.maximum(sizes.group_rows, each * np.array(self.sizes) / self.store.shape[0]).astype(np.int64)


class DaskCandidates:
    """One group of candidates. Its front is used until it gives no more picks."""

    def __init__(self, traversal: Traversal, group: int) -> None:
        self.traversal, self.picks = traversal, traversal.picks
        self.remaining = traversal.sizes[group]
        self.kept: DaskFront | None = None

    def exclude(self, rows: Rows) -> None:
        """These rows of the pool cannot be picked."""
        self.traversal.excluded = np.append(self.traversal.excluded, rows)
        self.remaining -= len(rows)

    def left(self) -> int:
        """How many can still be picked."""
        return self.remaining

    def scores(self) -> None:
        """A run on a cluster is not resumed in the middle of its picks."""

    def front(self) -> "DaskFront":
        """The candidates with the largest scores."""
        if self.kept is None or self.kept.used_up:
            self.traversal.epoch()
        assert self.kept is not None
        self.kept.of = self
        return self.kept


class DaskFront(PointFront):
    """Rows that came to the client."""

    of: DaskCandidates
    used_up = False

    def pick(self, limit: Bound, stop: int) -> tuple[Rows, Floats]:
        """Pick from the front while it beats the limit; the rows and their scores."""
        start = self.picks.count
        rows, scores = super().pick(limit, stop)
        self.of.picks.rows[start : self.picks.count] = rows
        self.used_up = self.picks.count < stop
        self.of.remaining -= len(rows)
        return rows, scores


def _front(picks: DaskPicks, fronts: Sequence[tasks.Front], group: int, bound: Any) -> DaskFront:
    """The rows of one group that came to the client, and the best that stayed behind."""
    own = [front.group == group for front in fronts]
    rows, G, score, norm2, candidate, placed = (
        np.concatenate([front[i][mine] for front, mine in zip(fronts, own, strict=True)]) for i in range(6)
    )
    best = Bound(float(bound), NOWHERE)
    for front in fronts:
        limit, row = float(front.limit[group]), int(front.limit_row[group])
        if row < NOWHERE and (limit > best.score or (limit == best.score and row < best.row)):
            best = Bound(limit, row)
    scores = Scores(norm2, score, np.full(len(rows), picks.count, np.int32))
    return DaskFront(picks, rows, G, scores, (candidate, placed), best)
