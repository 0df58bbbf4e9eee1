"""Rows sorted by group with a counting sort, which keeps rows of a group ascending; and groups copied to a file."""

from itertools import pairwise
from typing import Any

import numpy as np

from ...runtime.checkpoint import NullCheckpoint
from ..base import Arrays, Floats, Groups, Index, Labels, Rows
from .simd import kernel
from .staging import Staged


def row_type(n: int) -> type[np.signedinteger[Any]]:
    """The smaller of int32 and int64 that can number n rows."""
    return np.int32 if n < 1 << 31 else np.int64


@kernel
def _place(labels: Any, lo: int, hi: int, ends: Any, order: Any) -> None:
    place = ends[:-1].copy()  # position of the next row of each group
    for i in range(lo, hi):
        order[place[labels[i]]] = i
        place[labels[i]] += 1


def grouped(labels: Labels, k: int, lo: int = 0, hi: int | None = None) -> tuple[Index, Rows]:
    """Rows lo..hi sorted by group, and the positions in that list where each of the k groups begins and ends."""
    hi = len(labels) if hi is None else hi
    ends = np.append(0, np.cumsum(np.bincount(labels[lo:hi], minlength=k)))
    order = np.empty(hi - lo, row_type(len(labels)))
    _place(labels, lo, hi, ends, order)
    return order, ends


def members_of(labels: Labels, k: int) -> list[Index]:
    """The rows of each group, ascending."""
    order, ends = grouped(labels, k)
    return [order[lo:hi] for lo, hi in pairwise(ends)]


def group_numbers(n: int, groups: Groups, none: int) -> Labels:
    """The group number of each of n rows; `none` for rows in no group."""
    out = np.full(n, none, np.int32)
    for g, rows in enumerate(groups):
        out[rows] = g
    return out


def written_apart(points: Staged, groups: Groups, checkpoint: NullCheckpoint) -> list[Floats]:
    """Copy the rows of each group, group by group, to a file of the checkpoint, in one pass over the pool."""
    ends = np.append(0, np.cumsum([len(rows) for rows in groups]))
    A = checkpoint.scratch("clusters-apart", (int(ends[-1]), points.shape[1]), points.dtype)
    labels = group_numbers(points.shape[0], groups, len(groups))  # rows in no group sort last and are left out

    def write() -> Arrays:
        place = ends[:-1].copy()  # position of the next row of each group
        for lo, hi in points.passes():
            order, cuts = grouped(labels, len(groups) + 1, lo, hi)
            rows = points.take(order[: cuts[-2]])
            for g, (start, end) in enumerate(pairwise(cuts[:-1])):
                A[place[g] : place[g] + end - start] = rows[start:end]
                place[g] += end - start
        A.flush()  # type: ignore[attr-defined]
        return {"ends": ends}

    checkpoint.stage("written apart", write)
    return [A[lo:hi] for lo, hi in pairwise(ends)]
