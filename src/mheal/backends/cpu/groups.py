"""The rows of groups written apart, so that each lies together on disk."""

from itertools import pairwise

import numpy as np

from ...runtime.checkpoint import NullCheckpoint
from ..base import Arrays, Floats, Groups
from .grouping import grouped
from .staging import Staged


def written_apart(points: Staged, groups: Groups, checkpoint: NullCheckpoint) -> list[Floats]:
    """The rows of each group, one group after the other in a file of the checkpoint, by one pass over the pool."""
    ends = np.append(0, np.cumsum([len(rows) for rows in groups]))
    A = checkpoint.scratch("clusters-apart", (int(ends[-1]), points.shape[1]), points.dtype)
    labels = np.full(points.shape[0], len(groups), np.int32)  # rows of no group come last and are left out
    for g, rows in enumerate(groups):
        labels[rows] = g

    def write() -> Arrays:
        place = ends[:-1].copy()  # where the next row of each group goes
        for lo, hi in points.passes():
            order, cuts = grouped(labels, len(groups) + 1, lo, hi)
            rows = points.take(order[: cuts[-2]])
            for g in np.flatnonzero(np.diff(cuts[:-1])):
                size = cuts[g + 1] - cuts[g]
                A[place[g] : place[g] + size] = rows[cuts[g] : cuts[g + 1]]
                place[g] += size
        A.flush()  # type: ignore[attr-defined]
        return {"ends": ends}

    checkpoint.stage("written apart", write)
    return [A[lo:hi] for lo, hi in pairwise(ends)]
