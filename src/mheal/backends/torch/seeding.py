"""k-means++ on the sphere, on the device: the draws of cpu.seeding, without waiting for the device at each of them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from .placed import Placed
from .precision import full_precision


@full_precision()
def plus_plus(
    points: Placed, rows: npt.NDArray[np.int64], weight: npt.NDArray[Any], k: int, rng: np.random.RandomState
) -> npt.NDArray[np.int64]:
    """k of these rows, each the best of a few drawn by squared chord to those before; the order is by content."""
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
    """Rows with probability in proportion to their mass; any where all have none."""
    cumulative = mass.cumsum(0)
    by_mass = torch.searchsorted(cumulative, uniform * cumulative[-1], right=True)
    return torch.where(cumulative[-1] > 0, by_mass, (uniform * len(mass)).long()).clamp_max(len(mass) - 1)


def _squared_chords(U: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    chords = (2.0 - 2.0 * (U @ U[rows].T)).clamp_min(0).double()
    return torch.where(chords < 1e-6, 0.0, chords)  # rounding: a row and its duplicates are at 0
