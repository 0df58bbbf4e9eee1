"""Squared distances to picks, times the picks' weights: by matrix products, by differences where those cancel."""

from typing import TYPE_CHECKING

import torch

from .precision import full_precision

if TYPE_CHECKING:
    from .picks import Picks

SCORES = 1 << 23  # scores that exist at one time: they stay in the cache of a GPU
PICKS = 1024  # that are compared with at one time
DIFFERENCES = 1 << 26  # numbers in flight where distances are made of differences
FEW_COLUMNS = 8  # up to here products would lose precision and gain no speed
CANCELS = 1e-4  # of the squared length: smaller squared distances are made of differences


@full_precision()
def nearest(Z: torch.Tensor, norm2: torch.Tensor, picks: "Picks", lo: int, hi: int) -> torch.Tensor:
    """min over picks lo ≤ j < hi of |z − p_j|²·weight_j for each row z of Z."""
    if Z.shape[1] <= FEW_COLUMNS:
        return _by_differences(Z, picks, lo, hi)
    out = torch.full_like(norm2, torch.inf)
    targets = picks_side(picks.P[lo:hi], picks.weight[lo:hi]).split(PICKS)
    rows = max(256, SCORES // len(targets[0]))
    for part, q, best in zip(Z.split(rows), norm2.split(rows), out.split(rows), strict=True):
        side = rows_side(part, q)
        for target in targets:
            torch.minimum(best, (side @ target.T).amin(dim=1), out=best)
    cancelled = (out < CANCELS * norm2 * picks.weight[lo:hi].max()).nonzero()[:, 0]
    if len(cancelled):
        out[cancelled] = _by_differences(Z[cancelled], picks, lo, hi)
    return out


def rows_side(Z: torch.Tensor, norm2: torch.Tensor) -> torch.Tensor:
    """(z, |z|², 1): its product with a pick's side is |z − p|²·weight. Padded, since products like multiples of 8."""
    side = Z.new_zeros((len(Z), _padded(Z.shape[1])))
    side[:, : Z.shape[1]], side[:, Z.shape[1]], side[:, Z.shape[1] + 1] = Z, norm2, 1
    return side


def picks_side(P: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """(−2p, 1, |p|²)·weight."""
    side = P.new_zeros((len(P), _padded(P.shape[1])))
    side[:, : P.shape[1]] = -2 * weight[:, None] * P
    side[:, P.shape[1]], side[:, P.shape[1] + 1] = weight, P.square().sum(1) * weight
    return side


def _padded(columns: int) -> int:
    return -(-(columns + 2) // 8) * 8


def _by_differences(Z: torch.Tensor, picks: "Picks", lo: int, hi: int) -> torch.Tensor:
    out = Z.new_full((len(Z),), torch.inf)
    d = Z.shape[1]
    step = min(hi - lo, PICKS)
    rows = max(1, DIFFERENCES // (step * d))
    for j in range(lo, hi, step):
        P, weight = picks.P[j : min(hi, j + step)], picks.weight[j : min(hi, j + step)]
        for part, best in zip(Z.split(rows), out.split(rows), strict=True):
            distance2 = (part[:, None] - P).square_().sum(2) * weight
            torch.minimum(best, distance2.amin(1), out=best)
    return out
