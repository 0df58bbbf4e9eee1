"""The torch backend: a pool stays on its device, and the picks are those of the CPU up to ties and rounding.

A pool on the device is scaled on the fly, a chunk at a time. One on the host is uploaded if it fits, else its chunks
are streamed through the device, once for each pass over the pool.
"""

from collections.abc import Sequence

import numpy as np
import torch

from ..base import Float64, Floats, Index, Labels, Rows, RowStore
from .candidates import TorchPicks
from .clustering import TorchFitting, plus_plus, spacing_by_label
from .distances import nearest
from .placed import Placed
from .rows import as_pool

__all__ = ["Points", "as_pool"]


class Points(Placed, RowStore):
    """The rows (x − offset)·scale, possibly made unit, on a torch device or on the host and streamed through it."""

    def fitting(self, k: int, weight: Floats | None = None) -> TorchFitting:
        return TorchFitting(self, k, weight)

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        return plus_plus(self, rows, weight, k, rng)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        return spacing_by_label(self, labels, references, neighbours)

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        target = self.floats(point)[None]
        one = target.new_ones(1)
        parts = [nearest(Z, Z.square().sum(1), target, one, self.sizes) for _, Z in self.chunks(rows)]
        return torch.cat(parts).cpu().numpy()

    def picks(self, capacity: int) -> TorchPicks:
        return TorchPicks(self, capacity)
