"""How far apart points are where they are: the spacing r_i behind the density charge."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends import backend
from ..backends.cpu.grouping import grouped, members_at
from ..runtime.threads import spans

NEIGHBOURS = 20
REFERENCES = 512  # at most this many points of a cluster serve as possible neighbours,
FEWER = 128  # or so many in a large pool,
COMPARISONS = 1 << 24  # where this many are enough
TASK = 4096  # rows that one thread takes at a time
FEWEST = 8  # of a thinned cluster: fewer neighbours are too noisy
TOGETHER = 256  # rows of a cluster, on average, that are worked on together at least
SPAN_BYTES = 1 << 24  # of rows on disk that are sorted by cluster at a time, unless that leaves fewer together
REFERENCE_BYTES = 1 << 26  # of all clusters' references, which are kept while the pool is read in the order of rows


def local_spacing(points: Any, labels: npt.NDArray[np.int32], n_clusters: int) -> npt.NDArray[Any]:
    """r_i for each point: mean distance to its 20 nearest neighbours inside its cluster.

    Of a large cluster every s-th point serves as a possible neighbour, and 20/s neighbours are asked for, but 8 at
    least, so that about the same ball is measured. Points of a tiny cluster look for neighbours in the whole pool.
    """
    n = len(labels)
    most = min(REFERENCES, max(FEWER, COMPARISONS // max(1, n)))
    counts = np.bincount(labels, minlength=n_clusters)
    candidates = np.where(counts > FEWEST, counts, n)
    ranks = [_thin(count, most) for count in candidates.tolist()]
    found = members_at(labels, [r[: 0 if count <= FEWEST else None] for r, count in zip(ranks, counts, strict=True)])
    references = [r if count <= FEWEST else rows for r, count, rows in zip(ranks, counts, found, strict=True)]
    neighbours = [_asked(len(r), count) for r, count in zip(references, candidates.tolist(), strict=True)]
    tasks = []
    for lo, hi in spans(n, _span(points, n_clusters, sum(map(len, references)))):
        order, ends = grouped(labels, n_clusters, lo, hi)
        for c in np.flatnonzero(np.diff(ends)):
            members = order[ends[c] : ends[c + 1]]
            tasks += [(members[a:b], references[c], neighbours[c]) for a, b in spans(len(members), TASK)]
    out = np.empty(n, points.dtype)
    for (members, _, _), spacing in zip(tasks, backend(points).spacing(points, tasks), strict=True):
        out[members] = spacing
    return out


def _span(points: Any, k: int, references: int) -> int:
    """Rows that are sorted by cluster at a time: all or, so that a file is read once from end to end, some."""
    n, d = points.shape
    row = d * points.dtype.itemsize
    if not getattr(points, "on_disk", False) or references * row > REFERENCE_BYTES:
        return n
    return max(TASK, TOGETHER * k, SPAN_BYTES // row)


def _thin(count: int, size: int) -> npt.NDArray[np.int64]:
    """Every s-th of `count` places, at most `size` of them."""
    if count <= size:
        return np.arange(count)
    return np.linspace(0, count - 1, size).astype(np.int64)


def _asked(references: int, candidates: int) -> int:
    """How many of the references count as near."""
    share = NEIGHBOURS * references / candidates
    return max(1, min(references - 1, NEIGHBOURS, max(FEWEST, round(share))))
