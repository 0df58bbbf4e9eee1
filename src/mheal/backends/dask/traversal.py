"""Farthest-first traversal of a pool on a cluster: workers keep the scores, the client picks among the best of them.

Exact, as kernels/traversal.py, whose front travels here: an epoch asks every partition once.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Future

from ...runtime.progress import Progress
from ...runtime.threads import single_threaded_blas
from ..cpu.lazy_scores import CHUNK, NOWHERE, PICKED, advance
from ..cpu.traversal import FRONT_MIN, FRONT_SHARE
from .epochs import Front, Picked, advance_epoch, append, begin, first_picked, front_of, radii, radii_of, sample_of
from .field import Field
from .partitions import Rows

TRAVELLING = 1 << 23  # bytes of points that travel in an epoch
SAMPLE = 8192  # scores that the bound is chosen from
FEWEST = 32  # rows of a group that travel from a partition


class ClusterTraversal:
    """Rows compete in groups, by default one; picks of all groups repel each other."""

    def __init__(
        self, field: Field, chosen: Rows, n: int, *, grouped: bool = False, with_radii: bool = False,
        progress: Progress | None = None,
    ) -> None:  # fmt: skip
        """`chosen` are rows to keep away from, one at least; n more will be picked."""
        self.field, self.pool, self.progress = field, field.pool, progress
        self.sizes = field.clusters.sizes if grouped else np.array([field.shape[0]])
        self.stop = len(chosen) + n
        P = self.pool.fetch(chosen, field.metric)
        self.picked = self.pool.client.submit(first_picked, chosen, P, field.charge(chosen).weight, pure=False)
        start: Picked = self.picked.result()
        self.count = self.sent = self.start = len(chosen)
        self.rows, self.gain = np.empty(self.stop, np.int64), np.empty(self.stop, field.dtype)
        self.arrays = tuple(_longer(A, self.stop) for A in start[1:])
        self.rows[: self.count] = chosen
        self.step = max(1, field.shape[0] // (SAMPLE * len(self.sizes)))
        self.begun = self.pool.each(
            begin, *field.own, shared=[field.metric, field.law, self.picked, grouped, with_radii, self.step]
        )
        self.state: Sequence[Future] = self.begun
        self.samples = self.pool.gather(self.pool.run(sample_of, zip(self.begun, strict=True), [self.step]))
        self.fronts: list[_GroupFront | None] = [None] * len(self.sizes)
        self._S = np.empty(CHUNK * CHUNK, field.dtype)

    def extend(self, n: int, group: int = 0) -> None:
        """Pick n more rows of this group, as far as it has them."""
        stop = min(self.count + n, self.stop)
        while self.count < stop:
            front = self.fronts[group]
            if front is not None and len(front.rows):
                with single_threaded_blas():
                    self.count = self._advance(front, stop)
                if self.progress:
                    self.progress(self.count - self.start, self.stop - self.start, "picking")
            if self.count < stop:
                self._epoch()

    def found(self) -> tuple[Rows, npt.NDArray[Any]]:
        """The rows picked, and the score of each."""
        return self.rows[self.start : self.count], self.gain[self.start : self.count]

    def radii(self) -> npt.NDArray[np.float64]:
        """The largest distance left anywhere after each pick, chosen rows included; a pass over the pool."""
        shared = [self.field.metric, self.field.law, self._picked_now()]
        return np.sqrt(np.max(self.pool.gather(self.pool.each(radii, *self.field.own, shared=shared)), axis=0))

    def first_radii(self) -> npt.NDArray[np.float64]:
        """The same for the chosen rows alone, where the first pass has found it."""
        return np.sqrt(np.max(self.pool.gather(self.pool.run(radii_of, zip(self.begun, strict=True))), axis=0))

    def _advance(self, front: "_GroupFront", stop: int) -> int:
        count = advance(
            front.rows, front.G, front.score, front.seen, front.norm2, front.candidate, front.weight,
            front.bound, front.bound_row, *self.arrays, self.count, stop, self.rows, self.gain, self._S,
        )  # fmt: skip
        return int(count)

    def _epoch(self) -> None:
        """New fronts for all groups."""
        bounds, room = self._bounds(), self._room()
        shared = [self.field.metric, self._picked_now(), bounds, room, self.step]
        self.state = self.pool.each(advance_epoch, self.field.clusters.assigned, self.begun, self.state, shared=shared)
        fronts: list[Front] = self.pool.gather(self.pool.run(front_of, zip(self.state, strict=True)))
        self.samples = [(front.sample, front.sample_group) for front in fronts]
        self.fronts = [_GroupFront(fronts, g, bounds[g], self.count) for g in range(len(self.sizes))]

    def _picked_now(self) -> Future:
        """All picks so far, on a worker; only the new ones are sent."""
        if self.sent < self.count:
            new = slice(self.sent, self.count)
            more = Picked(self.rows[new].copy(), *(A[new].copy() for A in self.arrays))
            self.picked = self.pool.client.submit(append, self.picked, more, pure=False)
            self.sent = self.count
        return self.picked

    def _bounds(self) -> npt.NDArray[Any]:
        """For each group a score that about one row in FRONT_SHARE reaches, or that all rows do where they are few."""
        score = np.concatenate([sample for sample, _ in self.samples])
        group = np.concatenate([groups for _, groups in self.samples])
        bounds = np.full(len(self.sizes), PICKED, self.field.dtype)
        for g, n in enumerate(self.sizes):
            own = np.sort(score[group == g])
            size = max(FRONT_MIN // len(self.sizes), int(n) // FRONT_SHARE)
            if size < n and len(own):
                bounds[g] = own[-min(len(own), max(1, round(size / self.step)))]
        return bounds

    def _room(self) -> Rows:
        """How many rows of each group may travel from one partition."""
        row = self.field.shape[1] * self.field.dtype.itemsize
        each = max(FRONT_MIN, TRAVELLING // row) / len(self.pool)
        return np.maximum(FEWEST, each * self.sizes / self.field.shape[0]).astype(np.int64)


class _GroupFront:
    """The rows of one group that came to the client, as `advance` wants them, and the best that stayed behind."""

    def __init__(self, fronts: list[Front], group: int, bound: Any, count: int) -> None:
        self.rows, self.G, self.score, self.norm2, self.candidate, self.weight = (
            np.concatenate([column[front.group == group] for front in fronts for column in [front[i]]])
            for i in range(6)
        )
        self.seen = np.full(len(self.rows), count, np.int32)
        self.bound, self.bound_row = bound, NOWHERE
        for front in fronts:
            limit, row = front.limit[group], int(front.limit_row[group])
            if row < NOWHERE and (limit > self.bound or (limit == self.bound and row < self.bound_row)):
                self.bound, self.bound_row = limit, row


def _longer(A: npt.NDArray[Any], n: int) -> npt.NDArray[Any]:
    out = np.empty((n, *A.shape[1:]), A.dtype)
    out[: len(A)] = A
    return out
