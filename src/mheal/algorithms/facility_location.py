"""Covering: the rows that stand best for the pool, for the first labels of all.

Every row x of the pool is drawn to its nearest pick w by 1/(1 + |x − w|²/h²): a Riesz energy with s = 2, kept finite at
0 by h, the median distance in the pool. Each pick is the one that adds most to the sum of these attractions, so it
stands where many rows are still far from all picks. The sum is submodular, hence within 1 − 1/e of the best set, and
a gain that was computed earlier is an upper bound now: few candidates are looked at again. Large pools are
represented by a sample, as are the candidates.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from ..backends.cpu.facility_gains import attraction, gains

REFERENCES = 4096  # rows that stand for the pool
CANDIDATES = 8192  # rows that may be picked
PAIRS = 1 << 18  # distances that their median is taken of
AT_ONCE = 64  # candidates whose gains are renewed together
BLOCK = 512  # labelled rows looked at together
TIE = 1e-5  # gains that differ by less, relatively, are equal
ROUNDING = 1e-5  # of an attraction in float32: duplicates of a pick add no more than that

Rows = npt.NDArray[np.int64]


def cover(
    points: Any, n: int, chosen: Rows, rng: np.random.RandomState, worth: npt.NDArray[np.float64] | None = None
) -> Rows:
    """At most n rows, best first, that together with `chosen` cover the pool; fewer where nothing is left to gain.

    worth : what it is worth to cover each row; by default all are worth the same
    """
    total = points.shape[0]
    references = _sample(total, REFERENCES, rng)
    candidates = np.setdiff1d(_sample(total, CANDIDATES + len(chosen), rng), chosen)
    R, C = (points.take(rows).astype(np.float32) for rows in (references, candidates))
    scale = _median_square(R[:: -(-(R.shape[0] ** 2) // PAIRS)], R)  # of references only: labels do not change them
    share = np.ones(len(R), np.float32) if worth is None else _shares(worth[references])
    so_far = np.zeros(len(R), np.float32)
    for lo in range(0, len(chosen), BLOCK):
        labelled = points.take(chosen[lo : lo + BLOCK]).astype(np.float32)
        np.maximum(so_far, attraction(labelled, R, scale, share).max(axis=0), out=so_far)
    return candidates[_greedy(attraction(C, R, scale, share), so_far, min(n, len(C)))]


def _greedy(drawn: npt.NDArray[np.float32], so_far: npt.NDArray[np.float32], n: int) -> Rows:
    """Candidates (rows of `drawn`) in the order of what each adds; of equal ones what draws most, then the first."""
    every = np.arange(len(drawn))
    drawing = gains(drawn, every, np.zeros_like(so_far))
    bound = gains(drawn, every, so_far) if so_far.any() else drawing.copy()
    picked: list[int] = []
    while len(picked) < n:
        exact = np.zeros(len(bound), bool)
        while True:
            # Two rows that are each other's only company add exactly the same: rounding must not choose between them,
            # nor their order.
            first = np.flatnonzero(bound >= bound.max() * (1 - TIE))
            if exact[first].all():
                best = int(first[drawing[first].argmax()])
                break
            highest = np.argpartition(-bound, min(AT_ONCE, len(bound)) - 1)[:AT_ONCE]
            stale = np.union1d(highest, first)
            stale = stale[~exact[stale]]
            bound[stale], exact[stale] = gains(drawn, stale, so_far), True
        if bound[best] <= ROUNDING * len(so_far):
            break
        picked.append(best)
        np.maximum(so_far, drawn[best], out=so_far)
        bound[best] = -1
    return np.array(picked, np.int64)


def _shares(worth: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Worth of the references, 1 on average."""
    return (worth / (worth.mean() or 1.0)).astype(np.float32)


def _sample(n: int, size: int, rng: np.random.RandomState) -> Rows:
    if n <= size:
        return np.arange(n)
    return np.sort(sample_without_replacement(n, size, random_state=rng)).astype(np.int64)


def _median_square(A: npt.NDArray[np.float32], B: npt.NDArray[np.float32]) -> float:
    """The median squared distance between rows of A and of B; 1 where that is 0."""
    square = -2 * (A @ B.T)
    square += np.einsum("ij,ij->i", A, A)[:, None]
    square += np.einsum("ij,ij->i", B, B)
    return max(0.0, float(np.median(square))) or 1.0
