"""Work on groups of rows, each of which lies together while it is worked on."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.checkpoint import NullCheckpoint
from ...runtime.threads import run_parts, single_threaded_blas, thread_count
from .grouping import grouped
from .staging import Staged

STATE = 120  # bytes that picking inside a group takes for each of its rows

Arrays = dict[str, npt.NDArray[Any]]


def map_groups(
    points: Staged,
    work: Callable[..., Arrays],
    groups: Sequence[npt.NDArray[Any]],
    arguments: Sequence[tuple[Any, ...]],
    name: str,
    checkpoint: NullCheckpoint,
) -> list[Arrays]:
    """work(rows of the group, *its arguments, workers) for each group; groups are disjoint.

    With a checkpoint on disk the groups are first written there one after the other, with a single pass over the pool.
    """
    apart = _written_apart(points, groups, checkpoint) if checkpoint.on_disk else None
    room = STATE + (0 if apart else points.shape[1] * points.dtype.itemsize)
    most = max(map(len, groups), default=0)
    workers = max(1, min(thread_count(), checkpoint.room() // (room * max(1, most))))
    inner = None if workers == 1 else 1  # threads, inside a group

    def one(g: int) -> Arrays:
        own = apart[g] if apart else points.subset(groups[g])
        return work(own, *arguments[g], inner)

    def stored(g: int) -> Arrays:
        return checkpoint.stage(f"{name} {g}", lambda: one(g), part=True)

    order = sorted(range(len(groups)), key=lambda g: -len(groups[g]))  # the largest first, so that threads end together
    with single_threaded_blas():
        done = run_parts(stored, order, workers, points.yield_point)
    return [result for _, result in sorted(zip(order, done, strict=True), key=lambda pair: pair[0])]


def _written_apart(points: Staged, groups: Sequence[npt.NDArray[Any]], checkpoint: NullCheckpoint) -> list[Staged]:
    """The rows of each group, one group after the other in a file of the checkpoint."""
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
    return [type(points).raw(A[lo:hi], points.limit, points.sizes) for lo, hi in pairwise(ends)]
