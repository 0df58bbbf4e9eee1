"""Mean distance from each row to its nearest neighbours among a few reference rows."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...runtime.threads import run_parts, single_threaded_blas, spans
from ..base import Floats, Index, Labels, Rows
from .grouping import grouped
from .simd import kernel, wide_vectors
from .staging import Staged, stage

CHUNK = 128  # points scored by one BLAS call
KEPT_BYTES = 1 << 26  # references of at most this size are kept in memory between tasks


@kernel
def _spacing_part(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, references: Any, R: Any, R_norm2: Any,
    neighbours: int, out: Any,
) -> None:  # fmt: skip
    """For each of the members the mean distance to the nearest `neighbours` references other than itself."""
    wide_vectors()
    m, d = R.shape
    G, S = np.zeros((CHUNK, d), R.dtype), np.empty((m, CHUNK), R.dtype)
    nearest, carry = np.empty((neighbours, CHUNK), R.dtype), np.empty(CHUNK, R.dtype)
    norm2, rows = np.zeros(CHUNK, R.dtype), np.empty(CHUNK, np.int64)
    far, two = R.dtype.type(3e38), R.dtype.type(2)  # a plain 2 would take numba to float64
    for a in range(0, members.size, CHUNK):
        n = min(CHUNK, members.size - a)
        for z in range(n):  # a copy of slices takes numba longer to compile
            rows[z] = members[a + z]
        stage(X, rows, n, offset, scale, factor, G)
        for z in range(n):
            s = R.dtype.type(0)
            for t in range(d):
                s += G[z, t] * G[z, t]
            norm2[z] = s
        np.dot(R, G.T, S)
        nearest[:] = far
        itself = 0  # both lists ascend, so one pass finds the references that are the points themselves
        for j in range(m):
            row, q = S[j], R_norm2[j]
            for z in range(CHUNK):
                carry[z] = norm2[z] + q - two * row[z]
            while itself < n and members[a + itself] < references[j]:
                itself += 1
            if itself < n and members[a + itself] == references[j]:
                carry[itself] = far
            for level in range(neighbours):  # insert into sorted lists, one for each point of the chunk
                kept = nearest[level]
                for z in range(CHUNK):
                    v, k = carry[z], kept[z]
                    kept[z] = v if v < k else k
                    carry[z] = k if v < k else v
        for z in range(n):
            total = 0.0
            for level in range(neighbours):
                total += np.sqrt(max(nearest[level, z], R.dtype.type(0)))
            out[a + z] = total / neighbours


def spacing_of(points: Staged, members: Index, references: Rows, R: Floats, neighbours: int) -> Floats:
    """The mean distance from each of these members to its nearest references, whose points are R.

    Members and references are ascending row numbers. A row is not its own neighbour.
    """
    out = np.empty(len(members), points.dtype)
    _spacing_part(*points.source, members, references, R, np.einsum("ij,ij->i", R, R), neighbours, out)
    return out


def spacing_by_label(points: Staged, labels: Labels, references: Sequence[Rows], neighbours: Sequence[int]) -> Floats:
    """The mean distance of each row of label c to its `neighbours[c]` nearest rows among `references[c]`."""
    n, k, sizes, row = len(labels), len(references), points.sizes, points.shape[1] * points.dtype.itemsize
    few = sum(map(len, references)) * row <= KEPT_BYTES
    kept = [points.take(rows) for rows in references] if few else []
    span = n
    if points.on_disk and few:  # a file is read once from end to end
        span = max(sizes.task_rows, sizes.together * k, sizes.span_bytes // row)
    tasks: list[tuple[Index, int]] = []
    for lo, hi in spans(n, span):
        order, ends = grouped(labels, k, lo, hi)
        for c, (start, end) in enumerate(pairwise(ends.tolist())):
            tasks += [(order[start + a : start + b], c) for a, b in spans(end - start, sizes.task_rows)]
    out = np.empty(n, points.dtype)

    def work(task: tuple[Index, int]) -> None:
        members, c = task
        R = kept[c] if few else points.take(references[c])
        out[members] = spacing_of(points, members, references[c], R, neighbours[c])

    with single_threaded_blas():
        run_parts(work, tasks, yield_point=points.yield_point)
    return out
