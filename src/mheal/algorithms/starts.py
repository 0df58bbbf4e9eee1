"""Where to start, and how far picks are from those before them."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends import backend
from ..backends.cpu.points import PASS_ROWS, FirstScores, Points
from ..backends.cpu.radii import radii
from ..runtime.threads import spans
from .density import Charge
from .result import Indices

Floats = npt.NDArray[np.float64]


def densest(points: Any, charge: Charge | None) -> Indices:
    """The point to start from: of largest weight or, uncharged, nearest to the mean."""
    if charge is not None:
        return np.array([int(np.argmax(charge.candidate))])
    return np.array([nearest_to_mean(points)])


def nearest_to_mean(points: Any, members: npt.NDArray[Any] | None = None) -> int:
    """Which of these points, by default of all, is nearest to their mean."""
    if members is None:
        mean = points.mean()
    else:
        blocks = (points.take(members[lo:hi]) for lo, hi in spans(len(members), PASS_ROWS))
        mean = np.sum([block.sum(axis=0, dtype=np.float64) for block in blocks], axis=0) / len(members)
    kernels = backend(points)
    picks = kernels.Picks(points, 1)
    picks.add_point(mean)
    return int(np.argmin(kernels.Traversal(picks, members).scores()))


def nearest_before(P: Floats, weight: Floats, own: Floats, i: int) -> float:
    """The distance of pick i from the nearest pick before it; infinite for the first."""
    if i == 0:
        return np.inf
    return float(np.sqrt((np.square(P[:i] - P[i]).sum(axis=1) * weight[:i]).min() * own[i]))


def uncovered(points: Any, picks: Any, weight: npt.NDArray[Any]) -> tuple[npt.NDArray[np.float64], FirstScores | None]:
    """The largest distance left anywhere after each pick, labelled rows included; every point against every pick.

    With it, where the points are on the CPU, what a traversal needs to go on after these picks.
    """
    if isinstance(points, Points):
        worst, first = radii(points, picks, weight)
        return np.sqrt(worst), first
    return backend(points).radii(points, picks, weight), None
