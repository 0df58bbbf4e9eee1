"""Which cluster's turn it is, and one order for the picks of all."""

import heapq
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu.grouping import grouped
from .result import Indices, Spread


def members_of(labels: npt.NDArray[np.int32], k: int) -> list[npt.NDArray[Any]]:
    """The rows of each cluster, ascending."""
    order, ends = grouped(labels, k)
    return [order[lo:hi] for lo, hi in pairwise(ends)]


def turns_of(members: list[npt.NDArray[Any]], labeled: npt.NDArray[np.int32], budget: int) -> Indices:
    """Whose turn it is: the cluster with fewest labels so far, the largest of these, as long as it has rows.

    Any prefix is as balanced as can be, and the quotas are budget/k with the remainder to the largest clusters.
    """
    counts = np.bincount(labeled, minlength=len(members))
    queue = [(int(counts[c]), -len(m), c) for c, m in enumerate(members) if len(m) > counts[c]]
    heapq.heapify(queue)
    turns = np.empty(budget, np.int64)
    for t in range(budget):
        count, size, c = heapq.heappop(queue)
        turns[t] = c
        if count + 1 < -size:
            heapq.heappush(queue, (count + 1, size, c))
    return turns


def merge(parts: list[Spread], turns: Indices | None, budget: int) -> Spread:
    """One order for all: clusters take turns or, without quotas, the largest gain goes first."""
    at = np.zeros(len(parts), np.int64)
    rows, gain, radius = np.empty(budget, np.int64), np.empty(budget), np.empty(budget)
    sizes = np.array([len(p.rows) for p in parts])
    left = np.array([p.gain[0] if len(p.gain) else p.radius[-1] for p in parts])
    for t in range(budget):
        c = int(turns[t]) if turns is not None else int(np.argmax(np.where(at < sizes, left, -1)))
        rows[t], gain[t] = parts[c].rows[at[c]], parts[c].gain[at[c]]
        left[c] = parts[c].radius[at[c]]
        at[c] += 1
        radius[t] = left.max()
    return Spread(rows, gain, radius)
