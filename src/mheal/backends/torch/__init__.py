"""The torch backend: a pool stays on its device, and the picks are those of the CPU up to ties and rounding.

A pool on the device is scaled on the fly, in chunks. A pool on the host is uploaded if it fits, else every pass over
the pool streams its chunks through the device.
"""

import torch

from ..base import Floats, Index, RowStore
from .candidates import TorchPicks
from .clustering import TorchFitting, plus_plus, spacing_by_label
from .distances import nearest
from .rows import as_pool
from .scaled import Scaled

__all__ = ["Points", "as_pool"]


class Points(Scaled, RowStore):
    """The rows (x − offset)·scale, projected to the sphere on request, in device memory or streamed from the host."""

    plus_plus, spacing = plus_plus, spacing_by_label

    def fitting(self, k: int, weight: Floats | None = None) -> TorchFitting:
        return TorchFitting(self, k, weight)

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        target = self.floats(point)[None]
        one = target.new_ones(1)
        parts = [nearest(Z, Z.square().sum(1), target, one, self.sizes) for _, Z in self.chunks(rows)]
        return torch.cat(parts).cpu().numpy()

    def picks(self, capacity: int) -> TorchPicks:
        return TorchPicks(self, capacity)
