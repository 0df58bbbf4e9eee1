"""Facility location: the rows that represent the pool, for the first labels of all.

Two rows are similar where each is among the nearest rows of the other. Let P be the share of the pool that is nearer
to x than y is, or the share that is nearer to y than x is, whichever is larger. The similarity of x and y is
−log(P + 0.002), in steps of P by a factor of 2^¼. It depends on the order of distances alone: neither their scale
matters, nor that in many columns they are nearly equal, and a row that is near most others is similar to few of them.

Each pick is the row that adds most to the sum of all rows' similarity to their nearest pick, so it lies where many rows
are still far from all picks. The sum is submodular, hence within 1 − 1/e of the best set. A large pool is represented
by a sample.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.random import sample_without_replacement

from ..backends.base import Rows, RowStore
from ..backends.cpu.facility_gains import gains, neighbourhoods, similarity
from ..backends.cpu.points import Points
from ..sphere import HEAD
from ..validation import as_array, as_budget, as_labeled, refuse_range
from .farthest_first import traverse

SAMPLE = 4096  # rows that represent the pool, and may be picked
AT_ONCE = 64  # candidates whose gains are renewed together
BLOCK = 512  # labelled rows looked at together
TIE = 1e-5  # gains that differ by less, relatively, are equal
ROUNDING = 1e-5  # of a similarity in float32: duplicates of a pick add no more than that


def facility_location(X: Any, n: int, *, labeled: Any = None, random_state: int = 0) -> Rows:
    """n rows of X, best first, that together represent X: each adds most to the similarity of all rows to their picks.

    X, (rows, columns), is taken as it is; (n,) row numbers are returned. Rows that are `labeled` represent X already,
    and are not returned. When nothing is left to gain, the rows farthest from all picks follow.

    >>> facility_location([[0.0], [1.0], [2.0], [9.0], [10.0]], 2)
    array([1, 3])
    """
    X = as_array(X, random_state)
    labeled = as_labeled(labeled, len(X))
    n = as_budget(n, len(X) - len(labeled))
    rows = Points.raw(X)
    refuse_range(rows.norms(), X[:HEAD])  # and NaN and infinity by their place, before rows are sampled
    picked = representatives(rows, n, labeled, np.random.RandomState(random_state))
    if len(picked) == n:
        return picked
    return np.concatenate([picked, traverse(rows, n - len(picked), np.concatenate([labeled, picked]))[0]])


def representatives(
    rows: RowStore, n: int, chosen: Rows, rng: np.random.RandomState, utility: npt.NDArray[np.float64] | None = None,
    sample: int = SAMPLE,
) -> Rows:  # fmt: skip
    """At most n rows, best first, that together with `chosen` represent the pool; fewer where nothing is left to gain.

    utility : how much the similarity of each row counts; by default all count the same
    sample : at most this many rows represent the pool, and may be picked
    """
    sampled = _sample(rows.shape[0], sample, rng)
    R = rows.take(sampled).astype(np.float32)
    center = R.mean(axis=0)
    R -= center
    useful = np.ones(len(R)) if utility is None else utility[sampled]
    weight = (useful / (useful.mean() or 1.0)).astype(np.float32)
    similar, within = neighbourhoods(R, R)
    similar = similarity(similar, within, within, weight)
    covered = np.zeros(len(R), np.float32)
    for lo in range(0, len(chosen), BLOCK):
        square, near = neighbourhoods(rows.take(chosen[lo : lo + BLOCK]).astype(np.float32) - center, R)
        np.maximum(covered, similarity(square, near, within, weight).max(axis=0), out=covered)
    similar[np.isin(sampled, chosen)] = 0  # what is labelled adds nothing
    # Similarities are whole numbers, so equal gains are common: neither rounding nor the order of rows may decide.
    picked = lazy_greedy(
        gains(similar, np.arange(len(R)), covered),
        lambda some: gains(similar, some, covered),
        lambda row: np.maximum(covered, similar[row], out=covered),
        n,
        tie=TIE,
        prefer=-np.einsum("ij,ij->i", R, R),  # rows near the mean first
        least=ROUNDING * len(covered),
    )
    return sampled[picked]


def lazy_greedy(
    gains: npt.NDArray[Any], renew: Callable[[Rows], npt.NDArray[Any]], add: Callable[[int], object], n: int, *,
    batch: int = AT_ONCE, tie: float = 0.0, prefer: npt.NDArray[Any] | None = None, least: float = 0.0,
) -> Rows:  # fmt: skip
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


def _sample(n: int, size: int, rng: np.random.RandomState) -> Rows:
    return (
        np.arange(n) if n <= size else np.sort(sample_without_replacement(n, size, random_state=rng)).astype(np.int64)
    )
