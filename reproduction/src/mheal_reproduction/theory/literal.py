"""The sequential searches of §3.3, §3.4 and §5.1 as the paper counts them, with every distance computed at every step.

Each function returns the picks and the number of distances that it computed. Running sums (`sequential`) and running
minima (`mheal.farthest_first`) give the same picks with a fraction of the distances.
"""

from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from mheal.sphere import Float64, Rows, unit_rows

Rule = Literal["product", "max-min"]


class Search(NamedTuple):
    """Picks, the logarithm of the product of their chords, and the number of distances that were computed."""

    rows: Rows
    log_product: float
    distances: int


def search(P: npt.ArrayLike, n: int, start: int, rule: Rule) -> Search:
    """n rows from one start, by Eq. 4 ("product") or Eq. 8 ("max-min"): M·t distances at step t."""
    U = unit_rows(np.asarray(P, np.float64))[0]
    rows, count = [start], 0
    for _ in range(1, n):
        log = _log_chords(U, U[rows])
        count += log.size
        score = log.sum(axis=1) if rule == "product" else log.min(axis=1)
        score[rows] = -np.inf
        rows.append(int(score.argmax()))
    log = _log_chords(U[rows], U[rows])[np.tril_indices(n, -1)]
    return Search(np.array(rows), float(log.sum()), count)


def best_of(P: npt.ArrayLike, n: int, starts: npt.ArrayLike, rule: Rule) -> Search:
    """The search with the largest product over some starts (Eq. 5, Algorithm 1, Eq. 12)."""
    found = [search(P, n, int(start), rule) for start in np.asarray(starts)]
    best = max(found, key=lambda one: one.log_product)
    return best._replace(distances=sum(one.distances for one in found))


def in_clusters(P: npt.ArrayLike, n: int, k: int, starts: int | None, rule: Rule = "max-min") -> Search:
    """n/k rows in each of k clusters of equal size, from all members as starts, or from `starts` of them.

    Clusters are slices of the rows, because the number of distances does not depend on their members.
    """
    parts = np.array_split(np.arange(len(np.asarray(P))), k)
    found = []
    for part in parts:
        some = np.arange(len(part))[:starts]
        one = best_of(np.asarray(P)[part], n // k, some, rule)
        found.append(one._replace(rows=part[one.rows]))
    rows = np.concatenate([one.rows for one in found])
    return Search(rows, sum(one.log_product for one in found), sum(one.distances for one in found))


def _log_chords(A: Float64, B: Float64) -> Float64:
    squared = np.maximum(2 - 2 * A @ B.T, 0.0)
    with np.errstate(divide="ignore"):
        return 0.5 * np.log(squared)
