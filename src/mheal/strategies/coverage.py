"""Greedy coverage: picks that are, together, similar to as much of the pool as possible (Bae et al. 2024).

C(S) = Σ_x U(x)·max_{s∈S} k(x, s) over reference rows x. What a candidate would add only falls as picks
are made, so a stale gain is an upper bound, and only candidates at the top of the heap are looked at again.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush
from typing import Any

import numpy as np
import numpy.typing as npt

from .base import Pool, Rows
from .coreset import complete
from .distances import by_blocks, sample

REFERENCES = 10_000  # at most this many rows, sampled, stand for the pool that is to be covered
BATCH = 32  # candidates whose gains are brought up to date at once

Kernel = Callable[[npt.NDArray[Any]], npt.NDArray[Any]]  # squared distances → similarities in [0, 1]


def gaussian(bandwidth: float) -> Kernel:
    """exp(−(‖x − s‖ / bandwidth)²)."""
    return lambda squared: np.exp(squared / -(bandwidth**2))


def tophat(radius: float) -> Kernel:
    """1 within the radius, else 0."""
    return lambda squared: (squared < radius**2).astype(squared.dtype)


class Coverage:
    """How well each reference row is covered so far; `weight` says how much it counts (U)."""

    def __init__(self, R: npt.NDArray[Any], weight: npt.NDArray[Any], kernel: Kernel) -> None:
        self.R, self.weight, self.kernel = R, weight.astype(R.dtype), kernel
        self.covered = np.zeros(len(R), R.dtype)

    def total(self) -> float:
        """Σ U(x)·covered(x)."""
        return float(self.weight @ self.covered)

    def add(self, A: npt.NDArray[Any]) -> None:
        """Cover with these rows too."""
        if len(A):
            nearest = by_blocks(self.R, A, lambda block, _: block.min(axis=1))
            np.maximum(self.covered, self.kernel(nearest), out=self.covered)

    def gains(self, A: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """How much each of these rows would add to the total."""
        return by_blocks(A, self.R, lambda block, _: self._gain(block))

    def _gain(self, block: npt.NDArray[Any]) -> npt.NDArray[Any]:
        more = self.kernel(block)
        more -= self.covered
        return np.maximum(more, 0, out=more) @ self.weight


def cover(pool: Pool, budget: int, kernel: Kernel, weight: npt.NDArray[Any] | None = None) -> Rows:
    """`budget` unlabelled rows, each adding most to the coverage; ties go to the lowest row.

    Labelled rows cover already. When nothing is left to gain, the rows farthest from everything picked follow.
    """
    reference = sample(np.arange(len(pool.Z)), REFERENCES, pool.rng)
    U = np.ones(len(reference)) if weight is None else weight[reference]
    coverage = Coverage(pool.Z[reference], U, kernel)
    coverage.add(pool.Z[pool.labeled])
    return complete(pool, greedy(coverage, pool.Z, pool.unlabeled, budget), budget)


def greedy(coverage: Coverage, Z: npt.NDArray[Any], candidates: Rows, budget: int) -> Rows:
    """At most `budget` candidates, best gain first, until none has any: lazy, with the picks of the plain loop."""
    heap = [(-gain, row) for gain, row in zip(coverage.gains(Z[candidates]).tolist(), candidates.tolist(), strict=True)]
    heapify(heap)
    picks: list[int] = []
    fresh = set(candidates.tolist())
    while heap and len(picks) < budget and heap[0][0] < 0:
        if heap[0][1] in fresh:
            picks.append(heappop(heap)[1])
            coverage.add(Z[picks[-1:]])
            fresh = set()
            continue
        stale = [heappop(heap)[1] for _ in range(min(BATCH, len(heap)))]
        for gain, row in zip(coverage.gains(Z[stale]).tolist(), stale, strict=True):
            heappush(heap, (-gain, row))
        fresh.update(stale)
    return np.array(picks, np.int64)
