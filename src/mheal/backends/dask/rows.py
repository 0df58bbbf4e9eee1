"""The rows of a Dask array on the workers of a cluster, as a `RowStore`.

Labels, spacing, weights and scores are NumPy arrays on the client, a few bytes a row. The rows themselves stay on the
workers, except for picks, references of the local spacing, and small pools.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from operator import attrgetter, getitem
from typing import Any, Self

import numpy as np
from distributed import Future

from ...exceptions import UserError
from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import one_thread
from ..base import Arrays, Fitting, Float64, Floats, Groups, Index, Labels, Rows, RowStore, Work
from ..cpu.fitting import CpuFitting
from ..cpu.grouping import group_numbers, grouped
from ..cpu.neighbours import spacing_of
from ..cpu.points import Points
from .partitions import Partitions, Transform, on_points, standardizing, writable
from .traversal import DaskPicks

BRANCH = 8  # partial sums that one task adds


@dataclass(frozen=True)
class Sizes:
    """How much is sent to the client at a time. Results do not depend on it, except for rounding. Tests use less."""

    front_rows: int = 2048  # fewest rows in the front of a traversal
    front_bytes: int = 1 << 23  # bytes of rows that are sent to the client in an epoch
    group_rows: int = 32  # each partition may send at least this many rows of each group
    sample: int = 8192  # scores from which the bound of a front is chosen
    local_bytes: int = 1 << 26  # pools up to this size are clustered on the client


class DaskRows(RowStore):
    """The scaled rows of a Dask array, and their lengths before projection, by partition on the workers."""

    def __init__(
        self, pool: Partitions, transform: Transform, sizes: Sizes | None = None, lengths: list[Future] | None = None
    ) -> None:
        self.pool, self.transform, self.sizes = pool, transform, sizes or Sizes()
        self.lengths = lengths or pool.run(on_points, [(_lengths, transform, part, None) for part in pool.parts])

    @classmethod
    def raw(cls, pool: Partitions, sizes: Sizes | None = None) -> Self:
        """The rows as they are."""
        return cls(pool, Transform(), sizes)

    @classmethod
    def standardized(cls, pool: Partitions, sizes: Sizes | None = None) -> Self:
        """Columns of mean 0 and standard deviation 1; constant columns become 0."""
        return cls(pool, standardizing(pool), sizes)

    @property
    def shape(self) -> tuple[int, int]:
        return self.pool.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.pool.dtype

    def each(self, work: Callable[..., Any], *own: Iterable[Any], shared: Sequence[Any] = ()) -> list[Future]:
        """Run work(points, *own arguments, *shared) on each partition; `own` has iterables with an entry for each."""
        parts = zip(repeat(work), repeat(self.transform), self.pool.parts, self.lengths, *own, strict=False)
        return self.pool.run(on_points, parts, shared)

    def own(self, rows: Index | None) -> list[Rows | None]:
        """These ascending rows by partition, numbered from the first row of each."""
        if rows is None:
            return [None] * len(self.pool.parts)
        first = self.pool.first
        parts = np.split(np.asarray(rows, np.int64), np.searchsorted(rows, first[1:-1]))
        return [mine - begin for mine, begin in zip(parts, first, strict=False)]

    def norms(self) -> Floats:
        lengths = self.pool.gather(self.lengths)
        self.pool.refuse_nonfinite(lengths)
        return np.concatenate(lengths)

    def constant(self) -> bool:
        return self.transform.points(np.zeros((1, self.shape[1]), self.dtype)).constant()

    def unit(self) -> Self:
        return type(self)(self.pool, replace(self.transform, unit=True), self.sizes, self.lengths)

    def take(self, rows: Index) -> Floats:
        return self.transform.points(self.pool.take(np.asarray(rows, np.int64))).take(np.arange(len(rows)))

    def subset(self, rows: Index) -> Points:
        """A store on the client with these rows alone."""
        return Points.raw(self.take(rows))

    def mean(self, rows: Index | None = None) -> Float64:
        sums = self.pool.gather(self.each(_total, self.own(rows)))
        return np.sum(sums, axis=0) / (self.shape[0] if rows is None else len(rows))

    def assign(self, centers: Floats) -> Labels:
        return self.pool.join(self.each(Points.assign, shared=[self.pool.share(centers)]))

    def fitting(self, k: int, weight: Floats | None = None) -> Fitting:
        """A new state of k-means with k centres, on the client if the pool is small."""
        n, d = self.shape
        if n * d * self.dtype.itemsize <= self.sizes.local_bytes:
            return self.subset(np.arange(n)).fitting(k, weight)
        return DaskFitting(self, k, weight)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        points = np.split(self.take(np.concatenate(references)), np.cumsum([len(rows) for rows in references])[:-1])
        shared = [self.pool.share(list(zip(references, points, strict=True))), list(neighbours)]
        return self.pool.join(self.each(_spacing, self.pool.first, self.pool.split(labels), shared=shared))

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        return self.pool.join(self.each(Points.squared_distances_to, repeat(point), self.own(rows)))

    def picks(self, capacity: int) -> DaskPicks:
        return DaskPicks(self, capacity)

    def map_groups(
        self, work: Work, groups: Groups, arguments: Sequence[tuple[Any, ...]], name: str, checkpoint: NullCheckpoint
    ) -> list[Arrays]:
        """As in `RowStore`, on the workers: the rows of a group are sent to one worker."""
        pool = self.pool
        split = self.each(_split, pool.split(group_numbers(self.shape[0], groups, -1)), shared=[len(groups)])
        jobs: list[tuple[Any, ...]] = []
        for rows, own in zip(groups, arguments, strict=True):
            where = np.unique(np.searchsorted(pool.first, rows, side="right") - 1)
            pieces = pool.run(getitem, [(split[p], len(jobs)) for p in where])
            jobs.append((work, pieces, pool.share(own)))
        del split
        return pool.gather(pool.run(_together, jobs))


class DaskFitting:
    """The state of spherical k-means. Workers store nothing between passes, so a lost worker loses nothing."""

    def __init__(self, rows: DaskRows, k: int, weight: Floats | None) -> None:
        self.rows, self.pool, self.weight = rows, rows.pool, rows.pool.split(weight)
        self.sums, self.mass = np.zeros((k, rows.shape[1])), np.zeros(k)

    def assign(self, centers: Floats) -> None:
        self.centers = self.pool.share(np.ascontiguousarray(centers, self.pool.dtype))
        level = self._pass(attrgetter("sums", "mass"))
        while len(level) > 1:  # added in a tree on the workers: the client receives one sum
            level = self.pool.run(_added, [(level[i : i + BRANCH],) for i in range(0, len(level), BRANCH)])
        self.sums, self.mass = self.pool.gather(level)[0]

    def labels(self) -> Labels:
        return self.pool.join(self._pass(CpuFitting.labels))

    def chords(self) -> Floats:
        return self.pool.join(self._pass(CpuFitting.chords))

    def _pass(self, found: Callable[[CpuFitting], Any]) -> list[Future]:
        return self.rows.each(_fitted, self.weight, shared=[self.centers, found])


def _lengths(points: Points) -> Floats:
    """The length of each row; all NaN if one is not finite, and the client then raises the error."""
    try:
        return points.norms()
    except UserError:
        return np.full(points.shape[0], np.nan, points.dtype)


def _total(points: Points, rows: Rows | None) -> Float64:
    n = points.shape[0] if rows is None else len(rows)
    return points.mean(rows) * n if n else np.zeros(points.shape[1])


def _spacing(
    points: Points, first: int, labels: Labels, known: list[tuple[Rows, Floats]], neighbours: list[int]
) -> Floats:
    """The mean distance of each row to its nearest references; `known` has their rows and points for each label."""
    out = np.empty(len(labels), points.dtype)
    order, ends = grouped(labels, len(known))
    for c in np.flatnonzero(np.diff(ends)).tolist():
        members = order[ends[c] : ends[c + 1]]
        rows, R = known[c]
        out[members] = spacing_of(points, members, rows - first, writable(R), neighbours[c])
    return out


def _split(points: Points, group: Labels, count: int) -> dict[int, Floats]:
    """The rows of each group in this partition."""
    return {g: points.take(np.flatnonzero(group == g)) for g in range(count)}


@one_thread()
def _together(work: Callable[..., Any], pieces: list[Floats], arguments: tuple[Any, ...]) -> Any:
    """Run `work` on all rows of a group, which this worker has received in pieces."""
    return work(Points.raw(np.concatenate(pieces)), *map(writable, arguments), 1)


def _fitted(points: Points, weight: Floats | None, centers: Floats, found: Callable[[CpuFitting], Any]) -> Any:
    """Assign the rows of a partition to these centres, and return the result that `found` selects."""
    fitting = CpuFitting(points, len(centers), weight, quantize=False)
    fitting.assign(centers)
    return found(fitting)


def _added(parts: list[tuple[Float64, Float64]]) -> tuple[Float64, Float64]:
    sums, mass = zip(*parts, strict=True)
    return sum(sums), sum(mass)
