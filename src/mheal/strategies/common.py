"""What many strategies share: to sample a large pool, rank rows by a score, fill up a batch."""

import numpy as np
import numpy.typing as npt

from ..algorithms.farthest_first import farthest_first
from ..strategy import Pool, Rows


def sample(rows: Rows, size: int, rng: np.random.Generator) -> Rows:
    """At most `size` of these rows, ascending. Few enough rows are returned as they are, without a random draw."""
    return rows if len(rows) <= size else np.sort(rng.choice(rows, size, replace=False))


def smallest_first(pool: Pool, rows: Rows, score: npt.NDArray[np.floating], n: int) -> Rows:
    """The `n` rows with the smallest scores, smallest first. Ties are broken at random."""
    shuffled = pool.rng.permutation(len(rows))
    return rows[shuffled[np.argsort(score[shuffled], kind="stable")[:n]]]


def fill_with_farthest(pool: Pool, picked: Rows, n: int) -> Rows:
    """The first `n` of `picked`, or all of them and then the rows farthest from everything labelled or picked.

    For strategies that can run out of clusters, or of uncovered rows, before they have `n` picks.
    """
    missing = n - len(picked)
    if missing <= 0:
        return picked[:n]
    return np.concatenate([picked, farthest_first(pool.Z, missing, chosen=np.concatenate([pool.labeled, picked]))])
