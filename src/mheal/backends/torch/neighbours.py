"""Mean distance from each row to its nearest neighbours among a few reference rows of its cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .blocks import blocks_of
from .placed import Placed
from .precision import full_precision

BLOCK = 64  # points of one cluster that are compared with its references together
DISTANCES = 1 << 25  # that exist at one time: enough rows to fill the blocks of a thousand clusters
FAR = 3e38  # from a point to itself, or to a reference that is not there
NO_ROW = np.iinfo(np.int64).max


@full_precision()
def spacing_by_label(
    points: Placed,
    labels: npt.NDArray[np.int32],
    references: Sequence[npt.NDArray[np.int64]],
    neighbours: Sequence[int],
) -> npt.NDArray[Any]:
    """For each row the mean distance to the nearest `neighbours[c]` of `references[c]` (ascending rows), c its label.

    One pass over the pool, in the order of its rows.
    """
    side = _References(points, references, neighbours)
    label = torch.as_tensor(np.ascontiguousarray(labels, np.int32), device=points.device)
    out = torch.empty(points.shape[0] + 1, dtype=points.rows.dtype, device=points.device)  # the last: empty places
    rows = max(4096, DISTANCES // max(side.Z.shape[1:]))
    for lo, Z in points.chunks():
        norm2 = Z.square().sum(1)
        for at in range(0, len(Z), rows):
            part = slice(at, at + rows)
            side.measure(Z[part], norm2[part], label[lo + at : lo + at + len(Z[part])], lo + at, out)
    return out[:-1].cpu().numpy()


class _References:
    """The references of all clusters, on the device; those of small clusters are filled up with absent ones."""

    def __init__(self, points: Placed, references: Sequence[npt.NDArray[np.int64]], neighbours: Sequence[int]) -> None:
        size = max(map(len, references))
        rows = np.full((len(references), size), NO_ROW)
        for mine, those in zip(rows, references, strict=True):
            mine[: len(those)] = those
        self.rows, self.neighbours = points.index(rows), points.index(np.array(neighbours))
        self.most = max(neighbours)
        there = self.rows != NO_ROW
        self.Z = points.gather(torch.where(there, self.rows, 0).view(-1)).view(*rows.shape, -1)
        self.norm2 = torch.where(there, self.Z.square().sum(2), FAR)

    def measure(self, Z: torch.Tensor, norm2: torch.Tensor, labels: torch.Tensor, lo: int, out: torch.Tensor) -> None:
        """out[lo:] for these points, whose rows begin at lo."""
        at, filled, label = blocks_of(labels, len(self.rows), BLOCK)
        label = label.clamp_max(len(self.rows) - 1)
        distance2 = torch.bmm(Z[at.view(-1)].view(*at.shape, -1), self.Z[label].transpose(1, 2)).mul_(-2)
        distance2 += norm2[at].unsqueeze(2)
        distance2 += self.norm2[label].unsqueeze(1)
        own = torch.searchsorted(self.rows[label], at + lo).clamp_max(self.rows.shape[1] - 1)  # its own place, if any
        itself = self.rows[label].gather(1, own) == at + lo
        own = own.unsqueeze(2)
        distance2.scatter_(2, own, torch.where(itself.unsqueeze(2), FAR, distance2.gather(2, own)))
        nearest = distance2.topk(self.most, dim=2, largest=False).values.clamp_min_(0).sqrt_()
        count = self.neighbours[label][:, None, None]
        counted = torch.arange(self.most, device=Z.device) < count
        mean = torch.where(counted, nearest, 0).sum(2) / count.squeeze(2)
        out[torch.where(filled, at + lo, len(out) - 1)] = mean
