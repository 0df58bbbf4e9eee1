"""The rows of a Dask array as a `RowStore`.

Labels, spacing, weights and scores of rows come to the client as NumPy arrays, a few bytes a row; the rows themselves
stay with the workers, but for those that are picked or compared with.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime.checkpoint import NullCheckpoint
from ..base import Arrays, Fitting, Floats, Groups, Index, Labels, Rows, RowStore, Work
from . import tasks
from .fitting import DaskFitting
from .partitioned import Partitioned
from .traversal import DaskPicks


class DaskRows(Partitioned, RowStore):
    """The scaled rows of a Dask array as a `RowStore`."""

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        return self.pool.join(self.each(tasks.assign, shared=[self.pool.share(centers)]))

    def fitting(self, k: int, weight: Floats | None = None) -> Fitting:
        """Passes that assign every row to one of k centres; on the client where all rows fit there."""
        n, d = self.shape
        if n * d * self.dtype.itemsize <= self.sizes.local_bytes:
            return self.subset(np.arange(n)).fitting(k, weight)
        return DaskFitting(self.pool, self.each, k, weight)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        ends = np.append(0, np.cumsum([len(rows) for rows in references]))
        points = self.take(np.concatenate(references))
        known = [(rows, points[lo:hi]) for rows, lo, hi in zip(references, ends, ends[1:], strict=False)]
        shared = [self.pool.share(known), list(neighbours)]
        return self.pool.join(self.each(tasks.spacing, self.pool.split(labels), shared=shared))

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        return self.pool.join(self.each(tasks.squared_distances_to, self.own(rows), shared=[point]))

    def picks(self, capacity: int) -> DaskPicks:
        """An empty list of picks with room for so many."""
        return DaskPicks(self, capacity)

    def map_groups(
        self, work: Work, groups: Groups, arguments: Sequence[tuple[Any, ...]], name: str, checkpoint: NullCheckpoint
    ) -> list[Arrays]:
        """As in memory, on a worker where the rows of the group come together."""
        pool = self.pool
        split = self.each(tasks.split, pool.split(self.group_of(groups)), shared=[len(groups)])
        jobs: list[tuple[Any, ...]] = []
        for rows, own in zip(groups, arguments, strict=True):
            where = np.unique(np.searchsorted(pool.first, rows, side="right") - 1)
            pieces = pool.run(tasks.piece, [(split[p], len(jobs)) for p in where])
            jobs.append((work, pieces, pool.share(own)))
        del split
        return pool.gather(pool.run(tasks.together, jobs))
