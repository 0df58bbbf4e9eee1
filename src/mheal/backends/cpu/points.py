"""The rows of a pool in this process: in memory, or in a memory-mapped file that is read part by part."""

from collections.abc import Callable

import numpy as np

from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import spans
from ..base import Floats, Groups, Index, Labels, RowStore
from .fitting import CpuFitting
from .grouping import written_apart
from .lazy_scores import first_scores
from .neighbours import spacing_by_label
from .staging import Staged
from .traversal import CpuPicks


class Points(Staged, RowStore):
    """The rows (X[i] − offset)·scale·factor[i] as a `RowStore`."""

    spacing = spacing_by_label

    def assign(self, centers: Floats) -> Labels:
        labels = np.empty(self.shape[0], np.int32)

        def part(span: tuple[int, int]) -> None:  # in parts, of which only the labels are kept in memory
            lo, hi = span
            some = Points(self.X[lo:hi], self.offset, self.scale, self.factor[:0])
            fitting = CpuFitting(some, len(centers), quantize=False)
            fitting.parts = [(0, hi - lo)]  # one part, so that it runs in this thread
            fitting.assign(centers)
            labels[lo:hi] = np.where(some.norms() > 0, fitting.label, -1)

        self.run_parts(part, self.passes())
        return labels

    def fitting(self, k: int, weight: Floats | None = None) -> CpuFitting:
        return CpuFitting(self, k, weight)

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        n = self.shape[0] if rows is None else len(rows)
        members, one = np.arange(n) if rows is None else rows, self.dtype.type(1)
        out, norm2, ones = np.empty(n, self.dtype), np.empty(n, self.dtype), np.ones(n, self.dtype)
        point = np.array(point, self.dtype)
        parts = spans(n, self.passes()[0][1])
        self.run_parts(lambda span: first_scores(*self.source, members, *span, point, one, ones, norm2, out), parts)
        return out

    def picks(self, capacity: int) -> CpuPicks:
        return CpuPicks(self, capacity)

    def apart(self, groups: Groups, checkpoint: NullCheckpoint) -> tuple[Callable[[int], RowStore], int]:
        """As in `RowStore`; with a checkpoint on disk, the groups are first copied to a file there."""
        if not checkpoint.on_disk:
            return super().apart(groups, checkpoint)
        files = written_apart(self, groups, checkpoint)
        return lambda g: Points.raw(files[g], self.limit, self.sizes), 0
