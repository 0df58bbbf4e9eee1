"""Rows sorted by cluster: a counting sort, which keeps rows of a cluster ascending."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from .simd import kernel

Rows = npt.NDArray[Any]  # row numbers, in 4 bytes where these are enough


def row_type(n: int) -> type[np.signedinteger[Any]]:
    """The smallest integer that numbers n rows."""
    return np.int32 if n < 1 << 31 else np.int64


@kernel
def _place(labels: Any, lo: int, hi: int, ends: Any, order: Any) -> None:
    place = ends[:-1].copy()  # where the next row of each cluster goes
    for i in range(lo, hi):
        order[place[labels[i]]] = i
        place[labels[i]] += 1


def grouped(labels: npt.NDArray[np.int32], k: int, lo: int = 0, hi: int | None = None) -> tuple[Rows, Rows]:
    """Rows lo..hi by cluster, and where each of the k clusters begins and ends in that list."""
    hi = len(labels) if hi is None else hi
    ends = np.append(0, np.cumsum(np.bincount(labels[lo:hi], minlength=k)))
    order = np.empty(hi - lo, row_type(len(labels)))
    _place(labels, lo, hi, ends, order)
    return order, ends


@kernel
def _at_ranks(labels: Any, ranks: Any, ends: Any, out: Any) -> None:
    k = ends.size - 1
    count, at = np.zeros(k, np.int64), ends[:-1].copy()
    for i in range(labels.size):
        c = labels[i]
        if at[c] < ends[c + 1] and ranks[at[c]] == count[c]:
            out[at[c]] = i
            at[c] += 1
        count[c] += 1


def members_at(labels: npt.NDArray[np.int32], ranks: list[npt.NDArray[np.int64]]) -> list[npt.NDArray[np.int64]]:
    """For each cluster its members of these ranks (ascending), counted from 0 in the order of rows."""
    ends = np.append(0, np.cumsum([len(r) for r in ranks]))
    out = np.empty(ends[-1], np.int64)
    _at_ranks(labels, np.concatenate(ranks), ends, out)
    return [out[lo:hi] for lo, hi in pairwise(ends)]
