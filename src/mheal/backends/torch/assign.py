"""One step of spherical k-means on the device: the nearest centre of every row, and sums of unit rows by label."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch

from .blocks import blocks_of
from .columns import best_of
from .precision import full_precision

if TYPE_CHECKING:
    from .points import Points

TOGETHER = 16  # rows added in their own precision, before float64 takes over: float32 drifts at a million rows


class Assigned:
    """Labels and cosines, on the device until asked for, and the sums of unit rows of each label."""

    def __init__(self, points: "Points", k: int) -> None:
        n = points.shape[0]
        self.label = torch.empty(n, dtype=torch.int32, device=points.device)
        self.similarity = torch.empty(n, dtype=points.rows.dtype, device=points.device)
        self.total = _no_sums(points, k)

    def labels(self) -> npt.NDArray[np.int32]:
        """The nearest centre of each row."""
        return self.label.cpu().numpy()

    def cosine(self) -> npt.NDArray[np.float64]:
        """The cosine of each row with its centre."""
        return self.similarity.cpu().numpy().astype(np.float64)

    def sums(self) -> npt.NDArray[np.float64]:
        """Weighted sum of the unit rows of each label, (k, d)."""
        return self.total[:-1].cpu().numpy()


@full_precision()
def assign(points: "Points", C: npt.NDArray[Any], weight: npt.NDArray[Any] | None) -> Assigned:
    """Compare every row with every centre, and sum up the unit rows of each, in one pass."""
    centers, w = points.floats(C), None if weight is None else points.floats(weight)
    out = Assigned(points, len(C))
    for lo, Z in points.chunks():
        rows = slice(lo, lo + len(Z))
        product, label = best_of(Z, centers)
        out.similarity[rows] = product * points.inverse_lengths[rows]
        out.label[rows] = label
        _add(Z, label, points.inverse_lengths[rows] * (1 if w is None else w[rows]), out.total)
    return out


def _no_sums(points: "Points", k: int) -> torch.Tensor:
    """One row for each label and one for empty blocks."""
    return torch.zeros((k + 1, points.shape[1]), dtype=torch.float64, device=points.device)


def _add(Z: torch.Tensor, labels: torch.Tensor, weight: torch.Tensor, total: torch.Tensor) -> None:
    """total[label] += weight·z for every row, always in the same order."""
    at, filled, label = blocks_of(labels, len(total) - 1, TOGETHER)
    part = Z[at.view(-1)].view(*at.shape, -1)
    part *= (weight[at] * filled).unsqueeze(-1)
    total.index_put_((label,), part.sum(1).double(), accumulate=True)
