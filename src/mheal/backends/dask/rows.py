"""The rows of a Dask array on the workers of a cluster.

Labels, spacing, weights and scores of rows come to the client as NumPy arrays, a few bytes a row; the rows themselves
stay with the workers, but for those that are picked or compared with.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from ...runtime.checkpoint import NullCheckpoint
from ..base import Candidates, Fitting, Float64, Floats, Labels, Picks, Rows, Scores
from ..cpu.points import Points
from . import tasks
from .fitting import DaskFitting
from .partitions import Partitions
from .transform import Transform, take, transform_of
from .traversal import DaskPicks, Traversal


@dataclass(frozen=True)
class Sizes:
    """What comes to the client at a time. Results do not depend on it, but for rounding; tests make it small.

    front_rows : fewest rows in the front of a traversal
    front_bytes : bytes of rows that travel to the client in an epoch
    group_rows : fewest rows of a group that travel from a partition
    sample : scores that the bound of a front is chosen from
    local_bytes : pools up to this size are clustered on the client
    """

    front_rows: int = 2048
    front_bytes: int = 1 << 23
    group_rows: int = 32
    sample: int = 8192
    local_bytes: int = 1 << 26


class DaskRows:
    """The scaled rows of a Dask array as a `RowStore`."""

    def __init__(self, pool: Partitions, transform: Transform, sizes: Sizes | None = None) -> None:
        self.pool, self.transform, self.sizes = pool, transform, sizes or Sizes()
        self._lengths: list[Future] | None = None

    @classmethod
    def scaled(
        cls, X: Any, scaling: str, client: Client, sizes: Sizes | None = None, keep: bool | None = None
    ) -> "DaskRows":
        """The rows of X, raw or standardised. Refuses NaN, infinity, and rows that are all equal."""
        pool = Partitions(X, client, keep)
        return cls(pool, transform_of(pool, scaling), sizes)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.pool.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The floating type of results."""
        return self.pool.dtype

    @property
    def lengths(self) -> list[Future]:
        """Length of each row before it was made unit, by partition, on the workers."""
        if self._lengths is None:
            self._lengths = self.pool.each(tasks.lengths, shared=[replace(self.transform, unit=False)])
        return self._lengths

    def each(self, work: Callable[..., Any], *own: Sequence[Any], shared: Sequence[Any] = ()) -> list[Future]:
        """A pass over the rows: work(X, its first row, lengths, *its own, transform, *shared) for each partition."""
        return self.pool.each(work, self.lengths, *own, shared=[self.transform, *shared])

    def norms(self) -> Floats:
        """Length of each row before it was made unit."""
        return self.pool.join(self.lengths)

    def forget_norms(self) -> None:
        """They are on the workers, who still need them."""

    def nonzero(self) -> npt.NDArray[np.bool_]:
        """Which rows have a direction."""
        return self.norms() > 0

    def constant(self) -> bool:
        """Whether scaling has found all rows equal."""
        return self.transform.points(np.zeros((1, self.shape[1]), self.dtype)).constant()

    def unit(self) -> "DaskRows":
        """The same rows projected to the unit sphere; rows of length 0 stay 0."""
        rows = DaskRows(self.pool, replace(self.transform, unit=True), self.sizes)
        rows._lengths = self._lengths
        return rows

    def take(self, rows: npt.NDArray[Any]) -> Floats:
        """These rows as a plain array."""
        return take(self.pool, np.asarray(rows, np.int64), self.transform)

    def subset(self, rows: npt.NDArray[Any]) -> Points:
        """These rows alone, on the client."""
        return Points.raw(self.take(rows))

    def directions(self, rows: Rows) -> Floats:
        """These rows made unit, as a plain array."""
        return self.subset(rows).directions(np.arange(len(rows)))

    def array(self) -> Floats:
        """All rows as a plain array."""
        return self.take(np.arange(self.shape[0]))

    def mean(self, rows: npt.NDArray[Any] | None = None) -> Float64:
        """The mean of these rows, by default of all."""
        own = self._own(rows)
        sums = self.pool.gather(self.each(tasks.total, own))
        mean: Float64 = np.sum(sums, axis=0) / (self.shape[0] if rows is None else len(rows))
        return mean

    def _own(self, rows: npt.NDArray[Any] | None) -> list[Rows | None]:
        """Which of these ascending rows each partition holds, counted from its first."""
        if rows is None:
            return [None] * len(self.pool)
        cuts = np.searchsorted(rows, self.pool.first)
        return [
            np.asarray(rows[lo:hi], np.int64) - first
            for lo, hi, first in zip(cuts, cuts[1:], self.pool.first, strict=False)
        ]

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        return self.pool.join(self.each(tasks.assign, shared=[self.pool.share(centers)]))

    def fitting(self, k: int, weight: Floats | None = None) -> Fitting:
        """Passes that assign every row to one of k centres; on the client where all rows fit there."""
        n, d = self.shape
        if n * d * self.dtype.itemsize <= self.sizes.local_bytes:
            return Points.raw(self.array()).fitting(k, weight)
        return DaskFitting(self.pool, self.each, k, weight)

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k places in `rows` by k-means++ on the sphere."""
        return self.subset(rows).plus_plus(np.arange(len(rows)), weight, k, rng)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        ends = np.append(0, np.cumsum([len(rows) for rows in references]))
        points = self.take(np.concatenate(references))
        known = [(rows, points[lo:hi]) for rows, lo, hi in zip(references, ends, ends[1:], strict=False)]
        shared = [self.pool.share(known), list(neighbours)]
        return self.pool.join(self.each(tasks.spacing, self.pool.split(labels), shared=shared))

    def squared_distances_to(self, point: Floats, rows: npt.NDArray[Any] | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        return self.pool.join(self.each(tasks.squared_distances_to, self._own(rows), shared=[point]))

    def picks(self, capacity: int) -> DaskPicks:
        """An empty list of picks with room for so many."""
        return DaskPicks(self, capacity, self.pool.client)

    def candidates(
        self,
        picks: Picks,
        weight: Floats | None = None,
        placed: Floats | None = None,
        *,
        first: Scores | None = None,
        workers: int | None = None,
    ) -> Candidates:
        """All rows as candidates."""
        assert isinstance(picks, DaskPicks)
        return Traversal(self, picks, None, weight, placed, first).groups[0]

    def grouped_candidates(
        self, picks: Picks, groups: Sequence[npt.NDArray[Any]], weight: Floats, placed: Floats
    ) -> Sequence[Candidates]:
        """Candidates in disjoint groups of ascending rows, which share the picks."""
        assert isinstance(picks, DaskPicks)
        return Traversal(self, picks, groups, weight, placed, None).groups

    def first_scores(self, rows: Rows) -> Sequence[None]:
        """Nothing to share between starts."""
        return [None] * len(rows)

    def radii(self, picks: Picks, weight: Floats) -> tuple[Float64, Scores]:
        """The largest distance left anywhere after each pick, and scores against all of them."""
        assert isinstance(picks, DaskPicks)
        found = self.pool.gather(self.each(tasks.all_radii, self.pool.split(weight), shared=[picks.shared()]))
        worst, norm2, score = zip(*found, strict=True)
        return np.sqrt(np.max(worst, axis=0)), Scores(np.concatenate(norm2), np.concatenate(score), picks.count)

    def map_groups(
        self,
        work: Callable[..., dict[str, npt.NDArray[Any]]],
        groups: Sequence[npt.NDArray[Any]],
        arguments: Sequence[tuple[Any, ...]],
        name: str,
        checkpoint: NullCheckpoint,
    ) -> list[dict[str, npt.NDArray[Any]]]:
        """work(rows of the group as a store, *its arguments, workers): the rows of a group come together on one worker."""
        pool = self.pool
        group = self.group_of(groups)
        split = self.each(tasks.split, pool.split(group), shared=[len(groups)])
        jobs = []
        for rows, own in zip(groups, arguments, strict=True):
            where = np.unique(np.searchsorted(pool.first, rows, side="right") - 1)
            g = len(jobs)
            pieces = pool.run(tasks.piece, [(split[p], g) for p in where])
            jobs.append((work, pieces, pool.share(own)))
        del split
        return pool.gather(pool.run(tasks.together, jobs))

    def group_of(self, groups: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int32]:
        """The number of each row's group, −1 for rows of none."""
        out = np.full(self.shape[0], -1, np.int32)
        for g, rows in enumerate(groups):
            out[rows] = g
        return out
