"""Mean distance from each row to its nearest neighbours among a few reference rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...runtime.threads import run_parts, single_threaded_blas, spans
from .grouping import grouped
from .simd import kernel, wide_vectors
from .staging import Staged, stage

CHUNK = 128  # points scored by one BLAS call
KEPT_BYTES = 1 << 26  # of references that are kept between tasks

Task = tuple[npt.NDArray[Any], npt.NDArray[np.int64], int]


@kernel
def _spacing_part(
    X: Any, offset: Any, scale: Any, factor: Any, members: Any, lo: int, hi: int,
    references: Any, R: Any, R_norm2: Any, neighbours: int, out: Any,
) -> None:  # fmt: skip
    """out[i] for members lo..hi: mean distance to the nearest `neighbours` references other than itself."""
    wide_vectors()
    m, d = R.shape
    G, S = np.zeros((CHUNK, d), R.dtype), np.empty((m, CHUNK), R.dtype)
    nearest, carry = np.empty((neighbours, CHUNK), R.dtype), np.empty(CHUNK, R.dtype)
    norm2 = np.zeros(CHUNK, R.dtype)
    far, two = R.dtype.type(3e38), R.dtype.type(2)  # a plain 2 would take numba to float64
    for a in range(lo, hi, CHUNK):
        n = min(CHUNK, hi - a)
        stage(X, members[a : a + n], n, offset, scale, factor, G)
        for z in range(n):
            s = R.dtype.type(0)
            for t in range(d):
                s += G[z, t] * G[z, t]
            norm2[z] = s
        np.dot(R, G.T, S)
        nearest[:] = far
        itself = 0  # both lists ascend, so a point meets its own reference in one walk
        for j in range(m):
            row, q = S[j], R_norm2[j]
            for z in range(CHUNK):
                carry[z] = norm2[z] + q - two * row[z]
            while itself < n and members[a + itself] < references[j]:
                itself += 1
            if itself < n and members[a + itself] == references[j]:
                carry[itself] = far
            for level in range(neighbours):  # insertion into a sorted list, all points of the chunk at once
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


def spacing(points: Staged, tasks: Sequence[Task]) -> list[npt.NDArray[Any]]:
    """For each task (members, references, neighbours): the mean distance from each member to its nearest references.

    Members and references are ascending rows; a row is not its own neighbour. Tasks may share their references,
    which are then taken from the pool once, if all of them together are few.
    """
    shared = {id(references): references for _, references, _ in tasks}
    few = sum(map(len, shared.values())) * points.shape[1] * points.dtype.itemsize <= KEPT_BYTES
    kept = {key: points.take(references) for key, references in shared.items()} if few else {}

    def work(task: Task) -> npt.NDArray[Any]:
        members, references, neighbours = task
        R = kept[id(references)] if few else points.take(references)
        return spacing_of(points, members, references, R, neighbours)

    with single_threaded_blas():
        return run_parts(work, tasks, yield_point=points.yield_point)


def spacing_of(
    points: Staged, members: npt.NDArray[Any], references: npt.NDArray[np.int64], R: npt.NDArray[Any], neighbours: int
) -> npt.NDArray[Any]:
    """The same for one task, whose reference rows are R."""
    out = np.empty(len(members), points.dtype)
    R_norm2 = np.einsum("ij,ij->i", R, R)
    _spacing_part(*points.source, members, 0, len(members), references, R, R_norm2, neighbours, out)
    return out


def spacing_by_label(
    points: Staged,
    labels: npt.NDArray[np.int32],
    references: Sequence[npt.NDArray[np.int64]],
    neighbours: Sequence[int],
) -> npt.NDArray[Any]:
    """For each row the mean distance to the nearest `neighbours[c]` of `references[c]`, c its label."""
    n, k, sizes = len(labels), len(references), points.sizes
    row = points.shape[1] * points.dtype.itemsize
    span = n
    if points.on_disk and sum(map(len, references)) * row <= KEPT_BYTES:  # a file is read once from end to end
        span = max(sizes.task_rows, sizes.together * k, sizes.span_bytes // row)
    tasks: list[Task] = []
    for lo, hi in spans(n, span):
        order, ends = grouped(labels, k, lo, hi)
        for c in np.flatnonzero(np.diff(ends)).tolist():
            members = order[ends[c] : ends[c + 1]]
            tasks += [(members[a:b], references[c], neighbours[c]) for a, b in spans(len(members), sizes.task_rows)]
    out = np.empty(n, points.dtype)
    for (members, _, _), found in zip(tasks, spacing(points, tasks), strict=True):
        out[members] = found
    return out
