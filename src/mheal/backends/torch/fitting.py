"""Passes of spherical k-means on the device: the nearest centre of every row, and sums of unit rows by centre."""

import numpy as np
import torch

from ..base import Floats, Labels
from .blocks import blocks_of
from .columns import best_of
from .placed import Placed
from .precision import full_precision

TOGETHER = 16  # rows added in their own precision, before float64 takes over: float32 drifts at a million rows


class TorchFitting:
    """Rows that are being clustered by direction. Labels and cosines stay on the device."""

    def __init__(self, points: Placed, k: int, weight: Floats | None = None) -> None:
        n, d = points.shape
        self.points, self.k = points, k
        self.weight = None if weight is None else points.floats(weight)
        self.label = torch.zeros(n, dtype=torch.int32, device=points.device)
        self.cosine = torch.zeros(n, dtype=points.rows.dtype, device=points.device)
        self.sums, self.mass = np.zeros((k, d)), np.zeros(k)

    @full_precision()
    def assign(self, centers: Floats) -> None:
        """One pass with these unit centres."""
        points = self.points
        self.centers = points.floats(centers)
        # One row for each centre and one for empty blocks; the last column is the weight.
        total = torch.zeros((self.k + 1, points.shape[1] + 1), dtype=torch.float64, device=points.device)
        for lo, Z in points.chunks():
            rows = slice(lo, lo + len(Z))
            product, label = best_of(Z, self.centers, points.sizes.scores)
            self.cosine[rows] = product * points.inverse_lengths[rows]
            self.label[rows] = label
            self._add(Z, label, rows, total)
        found = total[:-1].cpu().numpy()
        self.sums, self.mass = found[:, :-1], found[:, -1]

    def _add(self, Z: torch.Tensor, labels: torch.Tensor, rows: slice, total: torch.Tensor) -> None:
        """Add the unit rows and their weights to the total of their centres, always in the same order."""
        at, filled, label = blocks_of(labels, self.k, TOGETHER)
        inverse = self.points.inverse_lengths[rows]
        weight = (inverse > 0).to(Z.dtype) if self.weight is None else self.weight[rows] * (inverse > 0)
        part = Z[at.view(-1)].view(*at.shape, -1)
        part *= ((weight * inverse)[at] * filled).unsqueeze(-1)
        total[:, :-1].index_put_((label,), part.sum(1).double(), accumulate=True)
        total[:, -1].index_put_((label,), (weight[at] * filled).sum(1).double(), accumulate=True)

    def labels(self) -> Labels:
        """The centre of each row after the last pass."""
        return self.label.cpu().numpy()

    def worst(self, count: int) -> Floats:
        """Unit rows of positive weight that are farthest from their centres, the farthest first."""
        counts = self.points.lengths > 0 if self.weight is None else (self.points.lengths > 0) & (self.weight > 0)
        usable = np.flatnonzero(counts.cpu().numpy())
        cosine = self.cosine.cpu().numpy()[usable]
        return self.points.directions(usable[np.argsort(cosine, kind="stable")[:count]])

    def squared_chords(self) -> float:
        """Σ weight·‖row − centre‖² on the unit sphere, without cancellation."""
        total = torch.zeros((), dtype=torch.float64, device=self.points.device)
        step = max(256, self.points.sizes.scores // self.points.shape[1])
        for lo, Z in self.points.chunks():
            for at in range(0, len(Z), step):
                part = Z[at : at + step]
                rows = slice(lo + at, lo + at + len(part))
                inverse = self.points.inverse_lengths[rows]
                chord2 = (part * inverse[:, None] - self.centers[self.label[rows].long()]).square().sum(1) * (
                    inverse > 0
                )
                total += (chord2 if self.weight is None else chord2 * self.weight[rows]).sum(dtype=torch.float64)
        return float(total)
