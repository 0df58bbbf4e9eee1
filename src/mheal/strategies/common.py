"""Helpers of many strategies: samples, rankings by a score, picks that complete a batch, and distances in blocks."""

from collections.abc import Callable

import numpy as np

from ..algorithms.farthest_first import farthest_first
from ..backends.cpu.distances import squared_distances
from ..runtime.threads import run_parts, spans, thread_count
from ..strategy import Array, Pool, Rows

CELLS = 1 << 21  # distances that one thread holds at a time
REFERENCES = 10_000  # rows that represent a larger pool; every row can still be picked
WORKERS = 8  # largest number of threads, to bound memory on large machines


def sample(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """A random sample of `size` of these rows, ascending; all of them, without a random draw, if there are no more."""
    return rows if len(rows) <= size else np.sort(rng.choice(rows, size, replace=False))


def ranks(groups: Array) -> Rows:
    """How many equal elements come before each element; `groups` ascends."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def smallest_first(pool: Pool, rows: Rows, score: Array, n: int) -> Rows:
    """The `n` rows with the smallest scores, smallest first. Ties are broken at random."""
    shuffled = pool.rng.permutation(len(rows))
    return rows[shuffled[np.argsort(score[shuffled], kind="stable")[:n]]]


def fill_with_farthest(pool: Pool, picked: Rows, n: int) -> Rows:
    """The first `n` of `picked`; if there are fewer, then the rows farthest from all labelled and picked ones."""
    missing = n - len(picked)
    if missing <= 0:
        return picked[:n]
    return np.concatenate([picked, farthest_first(pool.Z, missing, chosen=np.concatenate([pool.labeled, picked]))])


def by_blocks(A: Array, B: Array, reduce: Callable[[Array, slice], Array]) -> Array:
    """Concatenate reduce(block, rows) over slices `rows` of A; block has ‖a − b‖² of these rows to all rows of B."""
    parts = spans(len(A), max(1, CELLS // max(1, len(B))))  # the same for any number of threads, so results are too

    def work(part: tuple[int, int]) -> Array:
        return reduce(squared_distances(A[slice(*part)], B), slice(*part))

    return np.concatenate(run_parts(work, parts, min(thread_count(), WORKERS)))


def nearest_distance(A: Array, B: Array) -> Array:
    """Distance from each row of A to the nearest row of B."""
    return np.sqrt(by_blocks(A, B, lambda block, _: block.min(axis=1)))


def median_distance(Z: Array, rng: np.random.Generator) -> float:
    """The median distance between at most 1,000 sampled rows, used as the bandwidth of kernels; 1 if it is 0."""
    A = Z[sample(np.arange(len(Z)), 1000, rng)]
    pairs = squared_distances(A, A)[np.triu_indices(len(A), 1)]
    return float(np.sqrt(np.median(pairs))) or 1.0 if len(pairs) else 1.0
