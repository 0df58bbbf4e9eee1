"""Squared distances times the weights of picks: by products, by differences where those cancel; and the radii left."""

import numpy as np
import torch

from ..base import Float64, Floats
from .placed import Placed
from .precision import full_precision
from .rows import Sizes

DIFFERENCES = 1 << 26  # numbers in flight where distances are made of differences
FEW_COLUMNS = 8  # up to here products would lose precision and gain no speed
CANCELS = 1e-4  # of the squared length: smaller squared distances are made of differences, or in float64
ROUNDING = 1e-12  # what cancellation leaves, in float64, of a pick's distance from itself


@full_precision()
def nearest(Z: torch.Tensor, norm2: torch.Tensor, P: torch.Tensor, weight: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    """min over the rows p_j of P of |z − p_j|²·weight_j for each row z of Z."""
    if Z.shape[1] <= FEW_COLUMNS:
        return _by_differences(Z, P, weight, sizes)
    out = torch.full_like(norm2, torch.inf)
    targets = _picks_side(P, weight).split(sizes.picks)
    rows = max(256, sizes.scores // len(targets[0]))
    for part, q, best in zip(Z.split(rows), norm2.split(rows), out.split(rows), strict=True):
        side = _rows_side(part, q)
        for target in targets:
            torch.minimum(best, (side @ target.T).amin(dim=1), out=best)
    cancelled = (out < CANCELS * norm2 * weight.max()).nonzero()[:, 0]
    if len(cancelled):
        out[cancelled] = _by_differences(Z[cancelled], P, weight, sizes)
    return out


def _rows_side(Z: torch.Tensor, norm2: torch.Tensor) -> torch.Tensor:
    """(z, |z|², 1): its product with a pick's side is |z − p|²·weight. Padded, since products like multiples of 8."""
    side = Z.new_zeros((len(Z), _padded(Z.shape[1])))
    side[:, : Z.shape[1]], side[:, Z.shape[1]], side[:, Z.shape[1] + 1] = Z, norm2, 1
    return side


def _picks_side(P: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(−2p, 1, |p|²)·weight."""
    side = P.new_zeros((len(P), _padded(P.shape[1])))
    side[:, : P.shape[1]] = -2 * weight[:, None] * P
    side[:, P.shape[1]], side[:, P.shape[1] + 1] = weight, P.square().sum(1) * weight
    return side


def _padded(columns: int) -> int:
    return -(-(columns + 2) // 8) * 8


def _by_differences(Z: torch.Tensor, P: torch.Tensor, weight: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    out = Z.new_full((len(Z),), torch.inf)
    step = min(len(P), sizes.picks)
    rows = max(1, DIFFERENCES // (step * Z.shape[1]))
    for some, w in zip(P.split(step), weight.split(step), strict=True):
        for part, best in zip(Z.split(rows), out.split(rows), strict=True):
            distance2 = (part[:, None] - some).square_().sum(2) * w
            torch.minimum(best, distance2.amin(1), out=best)
    return out


def radii(points: Placed, P: torch.Tensor, pick_weight: torch.Tensor, weight: Floats) -> Float64:
    """The largest distance of any row from its nearest pick, times both weights, after each pick."""
    worst, largest = _squared_radii(points, P, pick_weight, weight)
    if worst.min() < CANCELS * largest:
        worst, _ = _squared_radii(points, P.double(), pick_weight.double(), weight)
        worst[worst < ROUNDING * largest] = 0
    return np.sqrt(worst)


@full_precision()
def _squared_radii(points: Placed, P: torch.Tensor, pick_weight: torch.Tensor, weight: Floats) -> tuple[Float64, float]:
    """The same, squared and in the precision of P, and the largest squared length."""
    w = points.floats(weight)
    targets = _picks_side(P, pick_weight)
    worst, largest = targets.new_zeros(len(P)), targets.new_zeros(())
    for at, Z in points.pieces(max(256, points.sizes.scores // len(P))):
        part, own = Z.to(P.dtype), w[at].to(P.dtype)
        norm2 = part.square().sum(1)
        distance2 = targets @ _rows_side(part, norm2).T  # a row for each pick
        left = distance2.mul_(own).cummin(dim=0).values.amax(dim=1)
        torch.maximum(worst, left, out=worst)
        torch.maximum(largest, (norm2 * own).max(), out=largest)
    return worst.double().cpu().numpy(), float(largest)
