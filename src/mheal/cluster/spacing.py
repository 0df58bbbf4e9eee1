"""How far apart points are where they are: the spacing r_i behind the density charge."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..kernels import backend
from ..kernels.threads import resting, spans

NEIGHBOURS = 20
REFERENCES = 512  # at most this many points of a cluster serve as possible neighbours,
FEWER = 128  # or so many in a large pool,
COMPARISONS = 1 << 24  # where this many are enough
TASK = 4096  # rows of a cluster that one thread takes at a time
FEWEST = 8  # of a thinned cluster: fewer neighbours are too noisy


def local_spacing(points: Any, labels: npt.NDArray[np.int32], n_clusters: int) -> npt.NDArray[Any]:
    """r_i for each point: mean distance to its 20 nearest neighbours inside its cluster.

    Of a large cluster every s-th point serves as a possible neighbour, and 20/s neighbours are asked for, but 8 at
    least, so that about the same ball is measured. Points of a tiny cluster look for neighbours in the whole pool.
    """
    most = min(REFERENCES, max(FEWER, COMPARISONS // max(1, len(labels))))
    order = np.argsort(labels, kind="stable")  # rows of a cluster stand together, ascending
    ends = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    tasks = []
    task = TASK // 8 if resting() else TASK
    for c in range(n_clusters):
        members = order[ends[c] : ends[c + 1]]
        candidates = members if len(members) > FEWEST else np.arange(len(labels))
        references = _thin(candidates, most)
        share = NEIGHBOURS * len(references) / len(candidates)
        neighbours = max(1, min(len(references) - 1, NEIGHBOURS, max(FEWEST, round(share))))
        tasks += [(members[lo:hi], references, neighbours) for lo, hi in spans(len(members), task)]
    out = np.empty(len(labels), points.dtype)
    for (members, _, _), spacing in zip(tasks, backend(points).spacing(points, tasks), strict=True):
        out[members] = spacing
    return out


def _thin(rows: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Every s-th row, at most `size` of them."""
    if len(rows) <= size:
        return rows
    return rows[np.linspace(0, len(rows) - 1, size).astype(np.int64)]
