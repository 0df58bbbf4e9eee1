"""The rows of a Dask array as a `RowStore`.

Labels, spacing, weights and scores of rows come to the client as NumPy arrays, a few bytes a row; the rows themselves
stay with the workers, but for those that are picked or compared with.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.checkpoint import NullCheckpoint
from ..base import Candidates, Fitting, Float64, Floats, Labels, Picks, Rows, Scores
from ..cpu.points import Points
from . import tasks
from .fitting import DaskFitting
from .partitioned import Partitioned
from .traversal import DaskPicks, Traversal


class DaskRows(Partitioned):
    """The scaled rows of a Dask array as a `RowStore`."""

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
        return self.pool.join(self.each(tasks.squared_distances_to, self.own(rows), shared=[point]))

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
        """work(rows of the group as a store, *its arguments, workers), on a worker where these rows come together."""
        pool = self.pool
        group = self.group_of(groups)
        split = self.each(tasks.split, pool.split(group), shared=[len(groups)])
        jobs: list[tuple[Any, ...]] = []
        for rows, own in zip(groups, arguments, strict=True):
            where = np.unique(np.searchsorted(pool.first, rows, side="right") - 1)
            g = len(jobs)
            pieces = pool.run(tasks.piece, [(split[p], g) for p in where])
            jobs.append((work, pieces, pool.share(own)))
        del split
        return pool.gather(pool.run(tasks.together, jobs))
