"""What many strategies share: samples, ranks by a score, batches filled up, and distances block by block."""

from collections.abc import Callable

import numpy as np

from ..algorithms.farthest_first import farthest_first
from ..backends.cpu.distances import squared_distances
from ..runtime.threads import run_parts, spans, thread_count
from ..strategy import Array, Pool, Rows

CELLS = 1 << 21  # distances that one thread holds at a time
REFERENCES = 10_000  # rows that represent a larger pool; every row can still be picked
WORKERS = 8  # at most, so that memory stays bounded on large machines


def sample(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """At most `size` of these rows, ascending. Few enough rows are returned as they are, without a random draw."""
    return rows if len(rows) <= size else np.sort(rng.choice(rows, size, replace=False))


def ranks(groups: Array) -> Rows:
    """The place of each element among the equal ones before it, from 0; `groups` ascends."""
    return np.arange(len(groups)) - np.searchsorted(groups, groups)


def smallest_first(pool: Pool, rows: Rows, score: Array, n: int) -> Rows:
    """The `n` rows with the smallest scores, smallest first. Ties are broken at random."""
    shuffled = pool.rng.permutation(len(rows))
    return rows[shuffled[np.argsort(score[shuffled], kind="stable")[:n]]]


def fill_with_farthest(pool: Pool, picked: Rows, n: int) -> Rows:
    """The first `n` of `picked`, or all of them and then the rows farthest from everything labelled or picked."""
    missing = n - len(picked)
    if missing <= 0:
        return picked[:n]
    return np.concatenate([picked, farthest_first(pool.Z, missing, chosen=np.concatenate([pool.labeled, picked]))])


def by_blocks(A: Array, B: Array, reduce: Callable[[Array, slice], Array]) -> Array:
    """reduce(‖a − b‖² of some rows of A with all of B, which rows), joined over all rows of A."""
    parts = spans(len(A), max(1, CELLS // max(1, len(B))))  # whatever the number of threads: so is the result

    def work(part: tuple[int, int]) -> Array:
        return reduce(squared_distances(A[slice(*part)], B), slice(*part))

    return np.concatenate(run_parts(work, parts, min(thread_count(), WORKERS)))


def nearest_distance(A: Array, B: Array) -> Array:
    """Distance from each row of A to the nearest row of B."""
    return np.sqrt(by_blocks(A, B, lambda block, _: block.min(axis=1)))


def median_distance(Z: Array, rng: np.random.Generator) -> float:
    """The median distance between rows, of at most 1,000 sampled ones; 1 where it is 0. A scale for kernels."""
    A = Z[sample(np.arange(len(Z)), 1000, rng)]
    pairs = squared_distances(A, A)[np.triu_indices(len(A), 1)]
    return float(np.sqrt(np.median(pairs))) or 1.0 if len(pairs) else 1.0
