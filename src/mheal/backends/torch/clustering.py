"""Clustering on the device: seeds by k-means++, passes of spherical k-means, and local spacing.

Rows are sorted by label into blocks, so that sums and distances for many labels are a few large operations.
"""

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import torch

from ..base import Float64, Floats, Labels, Rows
from .determinism import full_precision
from .distances import picks_side, rows_side
from .scaled import Scaled

TOGETHER = 16  # rows summed in their own precision; these sums are added in float64, since float32 would lose digits
BLOCK = 64  # points of one cluster that are compared with its references together
DISTANCES = 1 << 25  # distances in memory at a time: enough rows to fill the blocks of a thousand clusters
FAR = 3e38  # distance from a point to itself, or to a reference that is only padding
NO_ROW = np.iinfo(np.int64).max


@full_precision
def plus_plus(points: Scaled, rows: Rows, weight: Float64, k: int, rng: np.random.RandomState) -> Rows:
    """`backends.seeding.plus_plus` on the device, without waiting for the result of each draw."""
    at = points.index(rows)
    U = points.gather(at) * points.inverse_lengths[at, None]
    direction = torch.as_tensor(np.random.RandomState(0).standard_normal(U.shape[1]), device=U.device)
    order = torch.argsort((U.double() * direction).sum(1), stable=True)
    U, mass = U[order], torch.as_tensor(np.asarray(weight, np.float64), device=U.device)[order]
    trials = 2 + int(np.log(k))
    first, others = rng.uniform(size=1), rng.uniform(size=(k - 1, trials))
    seeds = torch.empty(k, dtype=torch.int64, device=U.device)
    seeds[:1] = _draw(mass, torch.as_tensor(first, device=U.device))
    nearest = _squared_chords(U, seeds[:1])[:, 0]
    for t, draw in enumerate(torch.as_tensor(others, device=U.device), start=1):
        candidates = _draw(mass * nearest, draw)
        left = torch.minimum(_squared_chords(U, candidates), nearest[:, None])
        best = (mass @ left).argmin().view(1)
        seeds[t : t + 1] = candidates[best]
        nearest = left.index_select(1, best)[:, 0]
    return order[seeds].cpu().numpy()


def _draw(mass: torch.Tensor, uniform: torch.Tensor) -> torch.Tensor:
    """Draw rows with probability proportional to their mass, or uniformly if all masses are 0."""
    cumulative = mass.cumsum(0)
    by_mass = torch.searchsorted(cumulative, uniform * cumulative[-1], right=True)
    return torch.where(cumulative[-1] > 0, by_mass, (uniform * len(mass)).long()).clamp_max(len(mass) - 1)


def _squared_chords(U: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    chords = (2.0 - 2.0 * (U @ U[rows].T)).clamp_min(0).double()
    return torch.where(chords < 1e-6, 0.0, chords)  # rounding: duplicates of a row must be at distance 0


def blocks_of(labels: torch.Tensor, k: int, size: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Rows 0..n−1, ascending, in blocks of `size` places for rows of one label < k; does not wait for the device.

    Returns the row in each place, (blocks, size), 0 if it is empty; which places are filled; each block's label, or k.
    """
    n, device = len(labels), labels.device
    owner, order = torch.sort(labels, stable=True)
    start = torch.searchsorted(owner, torch.arange(k + 1, dtype=owner.dtype, device=device))
    used = (start.diff() + size - 1) // size  # blocks of each label
    ends = used.cumsum(0)
    owner = owner.to(torch.int64)
    place = ((ends - used) * size - start[:-1])[owner] + torch.arange(n, device=device)
    most = n // size + min(n, k)
    at = torch.zeros(most * size, dtype=torch.int64, device=device)
    filled = torch.zeros(most * size, dtype=torch.bool, device=device)
    at[place], filled[place] = order, True
    label = torch.searchsorted(ends, torch.arange(most, device=device), right=True)
    return at.view(most, size), filled.view(most, size), label


class TorchFitting:
    """The state of spherical k-means. Labels stay on the device."""

    def __init__(self, points: Scaled, k: int, weight: Floats | None = None) -> None:
        n, d = points.shape
        self.points, self.k = points, k
        self.weight = None if weight is None else points.floats(weight)
        self.label = torch.zeros(n, dtype=torch.int32, device=points.device)
        self.sums, self.mass = np.zeros((k, d)), np.zeros(k)

    @full_precision
    def assign(self, centers: Floats) -> None:
        points = self.points
        self.centers = points.floats(centers)
        # One row for each centre and one for empty blocks; the last column is the weight.
        total = torch.zeros((self.k + 1, points.shape[1] + 1), dtype=torch.float64, device=points.device)
        for lo, Z in points.chunks():
            rows = slice(lo, lo + len(Z))
            label = _best_of(Z, self.centers, points.sizes.scores)
            self.label[rows] = label
            self._add(Z, label, rows, total)
        found = total[:-1].cpu().numpy()
        self.sums, self.mass = found[:, :-1], found[:, -1]

    def _add(self, Z: torch.Tensor, labels: torch.Tensor, rows: slice, total: torch.Tensor) -> None:
        """Add the unit rows and their weights to the totals of their centres, in an order that is always the same."""
        at, filled, label = blocks_of(labels, self.k, TOGETHER)
        inverse = self.points.inverse_lengths[rows]
        weight = (inverse > 0).to(Z.dtype) if self.weight is None else self.weight[rows] * (inverse > 0)
        part = Z[at.view(-1)].view(*at.shape, -1)
        part *= ((weight * inverse)[at] * filled).unsqueeze(-1)
        total[:, :-1].index_put_((label,), part.sum(1).double(), accumulate=True)
        total[:, -1].index_put_((label,), (weight[at] * filled).sum(1).double(), accumulate=True)

    def labels(self) -> Labels:
        return self.label.cpu().numpy()

    def chords(self) -> Floats:
        points, out = self.points, torch.empty_like(self.points.lengths)
        for at, Z in points.pieces(max(256, points.sizes.scores // points.shape[1])):
            inverse = points.inverse_lengths[at]
            difference = Z * inverse[:, None] - self.centers[self.label[at].long()]
            out[at] = torch.linalg.vector_norm(difference, dim=1) * (inverse > 0)
        return out.cpu().numpy()


def _best_of(Z: torch.Tensor, C: torch.Tensor, scores: int) -> torch.Tensor:
    """For each row z of Z, the row c of C with the largest z·c; ties go to the first. Computes `scores` at a time."""
    if Z.is_cuda and Z.dtype == torch.float32 and (best_column := _fused_kernel()) is not None:
        index: torch.Tensor = best_column(Z, C)[1]
        return index
    return torch.cat([(part @ C.T).argmax(dim=1) for part in Z.split(max(256, scores // len(C)))])


@cache
def _fused_kernel() -> Any:
    """`fused.best_column`, a Triton kernel; None if Triton is missing or finds no compiler."""
    try:
        best_column = import_module(".fused", __package__).best_column
        best_column(*torch.ones((2, 16, 16), device="cuda"))
    except Exception:  # after any error, slower torch operations give the same result
        return None
    return best_column


@full_precision
def spacing_by_label(points: Scaled, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
    """The mean distance of each row to its nearest neighbours among the references of its cluster, in one pass."""
    k, size, most = len(references), max(map(len, references)), max(neighbours)
    padded = np.full((k, size), NO_ROW)  # lists of references are padded to the same length
    for mine, those in zip(padded, references, strict=True):
        mine[: len(those)] = those
    rows, wanted = points.index(padded), points.index(np.array(neighbours))
    there = (rows != NO_ROW).view(-1)
    R = points.gather(torch.where(there, rows.view(-1), 0))
    sides = picks_side(R, torch.ones_like(R[:, 0]))
    sides[:, R.shape[1] + 1].masked_fill_(~there, FAR)
    sides = sides.view(k, size, -1)
    owner = torch.as_tensor(np.ascontiguousarray(labels, np.int32), device=points.device)
    out = torch.empty(points.shape[0] + 1, dtype=points.rows.dtype, device=points.device)  # last: empty places
    for part, Z in points.pieces(max(4096, DISTANCES // max(sides.shape[1:]))):
        at, filled, label = blocks_of(owner[part], k, BLOCK)
        label = label.clamp_max(k - 1)
        own_side = rows_side(Z, Z.square().sum(1))[at.view(-1)].view(*at.shape, -1)
        distance2 = torch.bmm(own_side, sides[label].transpose(1, 2))
        row, own = at + part.start, rows[label]
        place = torch.searchsorted(own, row).clamp_max(size - 1)  # position of the row itself, if it is a reference
        itself = (own.gather(1, place) == row).unsqueeze(2)
        place = place.unsqueeze(2)
        distance2.scatter_(2, place, torch.where(itself, FAR, distance2.gather(2, place)))
        nearest = distance2.topk(most, dim=2, largest=False).values.clamp_min_(0).sqrt_()
        count = wanted[label][:, None, None]
        counted = torch.arange(most, device=Z.device) < count
        mean = torch.where(counted, nearest, 0).sum(2) / count.squeeze(2)
        out[torch.where(filled, row, len(out) - 1)] = mean
    return out[:-1].cpu().numpy()
