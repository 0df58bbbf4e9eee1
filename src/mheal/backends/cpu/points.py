"""The rows of a pool in this process: in memory, or in a memory-mapped file that is read part by part."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import spans
from ..base import STATE, Arrays, Floats, Groups, Index, Labels, Rows, RowStore, Scores, Work, run_groups
from .fitting import CpuFitting, nearest_centers
from .groups import written_apart
from .lazy_scores import first_scores
from .neighbours import spacing_by_label
from .staging import PASS_ROWS, Moments, Sizes, Staged, moments, passes
from .traversal import CpuPicks

__all__ = ["Moments", "Points", "Sizes", "moments", "passes"]

CLOSE = 1e-4  # of the squared length: smaller squared distances are computed by differences


class Points(Staged, RowStore):
    """The rows (X[i] − offset)·scale·factor[i] as a `RowStore`."""

    def assign(self, centers: Floats) -> Labels:
        """The nearest of the unit centres for each row, −1 where a row has no direction."""
        return nearest_centers(self, centers)

    def fitting(self, k: int, weight: Floats | None = None) -> CpuFitting:
        """Passes that assign every row to one of k centres."""
        return CpuFitting(self, k, weight)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        return spacing_by_label(self, labels, references, neighbours)

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        n = self.shape[0] if rows is None else len(rows)
        members, one = np.arange(n) if rows is None else rows, self.dtype.type(1)
        out, norm2, ones = np.empty(n, self.dtype), np.empty(n, self.dtype), np.ones(n, self.dtype)
        point = np.array(point, self.dtype)
        self.run_parts(
            lambda span: first_scores(*self.source, members, *span, point, one, ones, norm2, out),
            spans(n, self.passes()[0][1]),
        )
        return out

    def picks(self, capacity: int) -> CpuPicks:
        """An empty list of picks with room for so many."""
        return CpuPicks(self, capacity)

    def first_scores(self, rows: Rows) -> Sequence[Scores]:
        """For each of these rows, scores against it alone: one pass serves them all."""
        A = self.array()
        norm2, scores = np.empty(len(A), self.dtype), np.empty((len(rows), len(A)), self.dtype)
        starts = A[rows]
        start2 = np.einsum("ij,ij->i", starts, starts)[:, None]
        for lo, hi in spans(len(A), PASS_ROWS):  # blocks: the temporaries stay small beside the scores
            block, own = A[lo:hi], norm2[lo:hi]
            np.einsum("ij,ij->i", block, block, out=own)
            distance2 = own + start2 - 2 * (block @ starts.T).T
            for d2, start in zip(distance2, starts, strict=True):
                close = np.flatnonzero(d2 < CLOSE * own)  # here the formula above cancels: take differences
                d2[close] = np.square(block[close] - start).sum(axis=1)
            scores[:, lo:hi] = distance2
            self.yield_point()
        return [Scores(norm2, d2, 1) for d2 in scores]

    def map_groups(
        self, work: Work, groups: Groups, arguments: Sequence[tuple[Any, ...]], name: str, checkpoint: NullCheckpoint
    ) -> list[Arrays]:
        """As above; with a checkpoint on disk the groups are first written there, one after the other."""
        if not checkpoint.on_disk:
            return super().map_groups(work, groups, arguments, name, checkpoint)
        apart = [Points.raw(A, self.limit, self.sizes) for A in written_apart(self, groups, checkpoint)]
        return run_groups(work, groups, arguments, name, checkpoint, apart.__getitem__, STATE)
