"""The largest distance from the picks that is left in the pool, after each of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .distances import picks_side, rows_side
from .picks import PickList
from .placed import Placed
from .precision import full_precision

CANCELS = 1e-4  # of the largest squared length: smaller radii are computed in float64
ROUNDING = 1e-12  # what cancellation leaves there of a pick's distance from itself


def radii(points: Placed, picks: PickList, weight: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """The largest distance of any row from its nearest pick, times both weights, after each pick."""
    worst, largest = _squared(points, picks, weight, points.rows.dtype)
    if worst.min() < CANCELS * largest:
        worst, _ = _squared(points, picks, weight, torch.float64)
        worst[worst < ROUNDING * largest] = 0
    return np.sqrt(worst)


@full_precision()
def _squared(
    points: Placed, picks: PickList, weight: npt.NDArray[Any], dtype: torch.dtype
) -> tuple[npt.NDArray[np.float64], float]:
    """The same, squared and in this precision, and the largest squared length."""
    w = points.floats(weight)
    targets = picks_side(picks.P[: picks.count].to(dtype), picks.weight[: picks.count].to(dtype))
    worst, largest = targets.new_zeros(picks.count), targets.new_zeros(())
    rows = max(256, points.sizes.scores // picks.count)
    for lo, Z in points.chunks():
        for at in range(0, len(Z), rows):
            part = Z[at : at + rows].to(dtype)
            own = w[lo + at : lo + at + len(part)].to(dtype)
            norm2 = part.square().sum(1)
            distance2 = targets @ rows_side(part, norm2).T  # a row for each pick
            left = distance2.mul_(own).cummin(dim=0).values.amax(dim=1)
            torch.maximum(worst, left, out=worst)
            torch.maximum(largest, (norm2 * own).max(), out=largest)
    return worst.double().cpu().numpy(), float(largest)
