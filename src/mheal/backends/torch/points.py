"""The rows of a pool on a torch device, or on the host and streamed through the device."""

from collections.abc import Sequence

import numpy as np
import torch

from ..base import Float64, Floats, Index, Labels, Rows, RowStore
from .candidates import TorchPicks
from .distances import nearest
from .fitting import TorchFitting
from .neighbours import spacing_by_label
from .placed import Placed
from .seeding import plus_plus


class Points(Placed, RowStore):
    """The rows (x − offset)·scale, possibly made unit, as a `RowStore`."""

    def fitting(self, k: int, weight: Floats | None = None) -> TorchFitting:
        """Passes that assign every row to one of k centres."""
        return TorchFitting(self, k, weight)

    def plus_plus(self, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
        """k places in `rows` by k-means++ on the sphere."""
        return plus_plus(self, rows, weight, k, rng)

    def spacing(self, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
        """For each row the mean distance to the nearest references of its label."""
        return spacing_by_label(self, labels, references, neighbours)

    def squared_distances_to(self, point: Floats, rows: Index | None = None) -> Floats:
        """Squared distance of these rows, by default of all, to one point."""
        target = self.floats(point)[None]
        one = target.new_ones(1)
        parts = [nearest(Z, Z.square().sum(1), target, one, self.sizes) for _, Z in self.chunks_of(rows)]
        return torch.cat(parts).cpu().numpy()

    def picks(self, capacity: int) -> TorchPicks:
        """An empty list of picks with room for so many."""
        return TorchPicks(self, capacity)
