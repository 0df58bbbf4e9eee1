"""Covering: the rows that stand best for the pool, for the first labels of all.

Every row x of the pool is drawn to its nearest pick w by 1/(1 + |x − w|²/h²): a Riesz energy with s = 2, kept finite at
0 by h, the median distance in the pool. Each pick is the one that adds most to the sum of these attractions, so it
stands where many rows are still far from all picks. The sum is submodular, hence within 1 − 1/e of the best set, and
a gain that was computed earlier is an upper bound now: few candidates are looked at again. Large pools are
represented by a sample, as are the candidates.
"""

from collections.abc import Callable
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
    similarity = attraction(C, R, scale, share)
    every = np.arange(len(C))
    own = gains(similarity, every, np.zeros_like(so_far))
    picked = lazy_greedy(
        gains(similarity, every, so_far) if so_far.any() else own,
        lambda rows: gains(similarity, rows, so_far),
        lambda row: np.maximum(so_far, similarity[row], out=so_far),
        n,
        tie=TIE,
        prefer=own,
        least=ROUNDING * len(so_far),
    )
    return candidates[picked]


def lazy_greedy(
    gains: npt.NDArray[Any],
    renew: Callable[[Rows], npt.NDArray[Any]],
    add: Callable[[int], None],
    n: int,
    *,
    batch: int = AT_ONCE,
    tie: float = 0.0,
    prefer: npt.NDArray[Any] | None = None,
    least: float = 0.0,
) -> Rows:
    """At most n candidates in the order of what each adds to a submodular function: the picks of the plain greedy loop.

    What a candidate would add only falls as others are picked, so a gain that was computed earlier is an upper bound.
    Only candidates that may be the best are computed again, `batch` at a time (Minoux 1978).

    gains : what each candidate would add first, (candidates,); not changed
    renew : gives what these candidates would add now
    add : called with each candidate as it is picked
    tie : gains that differ by less, relatively, are equal
    prefer : among equal gains the largest of these wins, then the first candidate; by default the first of the largest
    least : candidates that add no more than this are not picked
    """
    bound = np.array(gains)
    fresh = np.ones(len(bound), bool)
    picked: list[int] = []
    while len(picked) < min(n, len(bound)):
        most = bound.max()
        if most <= least:
            break
        top = np.array([bound.argmax()]) if tie == 0 else np.flatnonzero(bound >= most * (1 - tie))
        if not fresh[top].all():
            stale = _largest(bound, min(batch, len(bound) - len(picked)))
            if tie:
                stale = np.append(stale, np.setdiff1d(top[~fresh[top]], stale))
            bound[stale], fresh[stale] = renew(stale), True
            continue
        best = int(top[0] if prefer is None else top[prefer[top].argmax()])
        if bound[best] <= least:
            break
        picked.append(best)
        add(best)
        bound[best] = -np.inf
        fresh[:] = False
    return np.array(picked, np.int64)


def _largest(values: npt.NDArray[Any], count: int) -> Rows:
    """Places of the largest values, the largest first, of equal ones the first."""
    level = np.partition(values, len(values) - count)[len(values) - count]
    top = np.flatnonzero(values >= level)
    return top[np.argsort(-values[top], kind="stable")[:count]]


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
