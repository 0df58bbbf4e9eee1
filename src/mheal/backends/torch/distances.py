"""Squared distances times the weights of picks, by matrix products or, if these cancel, by differences; and radii."""

import torch

from ..base import Float64, Floats
from .determinism import full_precision
from .rows import Sizes
from .scaled import Scaled

DIFFERENCES = 1 << 26  # numbers in memory at a time when distances are sums of squared differences
FEW_COLUMNS = 8  # at most this many: dot products lose precision and are not faster than differences
CANCELS = 1e-4  # squared distances below this share of the squared length are recomputed by differences, or in float64
ROUNDING = 1e-12  # relative rounding error, in float64, of a pick's distance from itself


@full_precision
def nearest(Z: torch.Tensor, norm2: torch.Tensor, P: torch.Tensor, weight: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    """min over the rows p_j of P of |z − p_j|²·weight_j for each row z of Z."""
    if Z.shape[1] <= FEW_COLUMNS:
        return _by_differences(Z, P, weight, sizes)
    out = torch.full_like(norm2, torch.inf)
    targets = picks_side(P, weight).split(sizes.picks)
    rows = max(256, sizes.scores // len(targets[0]))
    for part, q, best in zip(Z.split(rows), norm2.split(rows), out.split(rows), strict=True):
        side = rows_side(part, q)
        for target in targets:
            torch.minimum(best, (side @ target.T).amin(dim=1), out=best)
    cancelled = (out < CANCELS * norm2 * weight.max()).nonzero()[:, 0]
    if len(cancelled):
        out[cancelled] = _by_differences(Z[cancelled], P, weight, sizes)
    return out


def rows_side(Z: torch.Tensor, norm2: torch.Tensor) -> torch.Tensor:
    """Rows (z, |z|², 1): the product with a row of `picks_side` is |z − p|²·weight."""
    return _padded(Z, norm2, torch.ones_like(norm2))


def picks_side(P: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """Rows (−2p, 1, |p|²)·weight, the other factor of `rows_side`."""
    return _padded(-2 * weight[:, None] * P, weight, P.square().sum(1) * weight)


def _padded(A: torch.Tensor, *columns: torch.Tensor) -> torch.Tensor:
    """A with more columns, padded with zeros to a multiple of 8, with which matrix products are faster."""
    side = A.new_zeros((len(A), -(-(A.shape[1] + len(columns)) // 8) * 8))
    side[:, : A.shape[1]] = A
    for at, column in enumerate(columns, start=A.shape[1]):
        side[:, at] = column
    return side


def _by_differences(Z: torch.Tensor, P: torch.Tensor, weight: torch.Tensor, sizes: Sizes) -> torch.Tensor:
    out = Z.new_full((len(Z),), torch.inf)
    step = min(len(P), sizes.picks)
    rows = max(1, DIFFERENCES // (step * Z.shape[1]))
    for some, w in zip(P.split(step), weight.split(step), strict=True):
        for part, best in zip(Z.split(rows), out.split(rows), strict=True):
            distance2 = (part[:, None] - some).square_().sum(2) * w
            torch.minimum(best, distance2.amin(1), out=best)
    return out


@full_precision
def radii(points: Scaled, P: torch.Tensor, pick_weight: torch.Tensor, weight: Floats) -> Float64:
    """The largest weighted distance from any row to its nearest pick, after each pick."""
    w = points.floats(weight)
    for dtype in (P.dtype, torch.float64):
        targets = picks_side(P.to(dtype), pick_weight.to(dtype))
        worst, largest = targets.new_zeros(len(P)), targets.new_zeros(())
        for at, Z in points.pieces(max(256, points.sizes.scores // len(P))):
            part, own = Z.to(dtype), w[at].to(dtype)
            norm2 = part.square().sum(1)
            distance2 = targets @ rows_side(part, norm2).T  # a row for each pick
            left = distance2.mul_(own).cummin(dim=0).values.amax(dim=1)
            torch.maximum(worst, left, out=worst)
            torch.maximum(largest, (norm2 * own).max(), out=largest)
        if worst.min() >= CANCELS * largest:
            break
    else:
        worst[worst < ROUNDING * largest] = 0
    return worst.double().sqrt().cpu().numpy()
