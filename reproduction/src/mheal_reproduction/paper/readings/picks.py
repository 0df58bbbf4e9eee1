"""The picks of a reading: Algorithm 2 with clusters that several readings share, and a random row per cluster."""

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import PaperMHEAL, SphericalKMeans
from mheal.algorithms.within_clusters import spread_within_clusters, turns_of
from mheal.backends import open_rows
from mheal.backends.base import RowStore
from mheal.backends.cpu.grouping import members_of
from mheal.cluster.sampled import sampled_clusters
from mheal.paper import MANY, RUNS_OF_MANY
from mheal.scaling import Scaling

from .grid import CONTROL, EQUAL

Rows = npt.NDArray[np.int64]
Labels = npt.NDArray[np.int32]
RUNS = 10  # runs of which the best is kept, for at most MANY clusters
KEPT = 32  # clusterings kept in memory


@dataclass(frozen=True, eq=False)
class Clustering:
    """A cluster for each row, and their unit centres."""

    labels: Labels
    centers: npt.NDArray[Any]


def cluster(X: npt.NDArray[Any], k: int, scaling: Scaling, rng: np.random.RandomState) -> Clustering:
    """Spherical clusters as `PaperMHEAL` finds them."""
    own = PaperMHEAL()
    runs = RUNS if k <= MANY else RUNS_OF_MANY
    kmeans = SphericalKMeans(
        k, init=own.init, n_init=runs, max_iter=own.max_iter, tol=own.tol, random_state=rng.randint(2**31)
    )
    with open_rows(X, scaling) as store:
        return Clustering(*sampled_clusters(store, kmeans, None, rng))


def picks_in(
    found: Clustering, method: str, X: npt.NDArray[Any], n: int, labeled: Rows, scaling: Scaling,
    rng: np.random.RandomState, quota: str = EQUAL,
) -> Rows:  # fmt: skip
    """n rows of the method in these clusters."""
    if method == CONTROL:
        return random_picks(n, labeled, found, rng, quota)
    if quota == EQUAL:
        return paper_picks(X, n, labeled, found, scaling, rng)
    return picks_by_size(X, n, labeled, found, scaling, rng)


def paper_picks(
    X: npt.NDArray[Any], n: int, labeled: Rows, found: Clustering, scaling: Scaling, rng: np.random.RandomState
) -> Rows:
    """n rows by Algorithm 2 in these clusters, the same rows as `PaperMHEAL` picks if it finds these clusters."""
    with open_rows(X, scaling) as store:
        return _spread(store.unit() if scaling == "unit" else store, n, labeled, found.labels, found.centers, rng)


def picks_by_size(
    X: npt.NDArray[Any], n: int, labeled: Rows, found: Clustering, scaling: Scaling, rng: np.random.RandomState
) -> Rows:
    """As `paper_picks`, but with quotas in proportion to the sizes of the clusters."""
    members = members_of(found.labels, len(found.centers))
    quotas = np.bincount(turns_by_size(members, found.labels[labeled], n), minlength=len(members))
    with open_rows(X, scaling) as store:
        scaled = (store.unit() if scaling == "unit" else store).array()
    parts = []
    for c, own in enumerate(members):
        if quotas[c]:
            known = np.flatnonzero(np.isin(own, labeled))
            one = np.zeros(len(own), found.labels.dtype)
            with open_rows(scaled[own], "raw") as store:
                parts.append(own[_spread(store, int(quotas[c]), known, one, found.centers[[c]], rng)])
    return np.concatenate(parts).astype(np.int64)


def _spread(
    rows: RowStore, n: int, labeled: Rows, labels: Labels, centers: npt.NDArray[Any], rng: np.random.RandomState
) -> Rows:
    own = PaperMHEAL()
    return spread_within_clusters(
        rows, n, labeled, labels, centers, balance_clusters=True, n_starts=own.n_starts,
        start_length=own.start_length, direction=own.direction, rng=rng,
    ).rows  # fmt: skip


def random_picks(n: int, labeled: Rows, found: Clustering, rng: np.random.RandomState, quota: str = EQUAL) -> Rows:
    """n random rows, as many from each cluster as Algorithm 2 takes: the control, which ignores the energy."""
    members = members_of(found.labels, len(found.centers))
    turns = (turns_of if quota == EQUAL else turns_by_size)(members, found.labels[labeled], n)
    free = [rng.permutation(np.setdiff1d(own, labeled)) for own in members]
    at = np.zeros(len(members), np.int64)
    picks = np.empty(n, np.int64)
    for t, c in enumerate(turns):
        picks[t] = free[c][at[c]]
        at[c] += 1
    return picks


def turns_by_size(members: list[npt.NDArray[Any]], labeled: Labels, n: int) -> Rows:
    """The cluster of each of n picks if quotas follow sizes (Webster's method); labels so far count."""
    counts, sizes = np.bincount(labeled, minlength=len(members)), np.array([len(own) for own in members])
    turns = np.empty(n, np.int64)
    for t in range(n):
        waiting = np.where(counts < sizes, (counts + 0.5) / np.maximum(sizes, 1), np.inf)
        turns[t] = waiting.argmin()
        counts[turns[t]] += 1
    return turns


@dataclass(eq=False)
class Clusterings:
    """A cache of the clusters of the last few features and seeds, because many readings share them."""

    _found: OrderedDict[tuple[str, int, int], Clustering] = field(default_factory=OrderedDict)

    def __call__(self, X: npt.NDArray[Any], space: str, scaling: Scaling, k: int, seed: int) -> Clustering:
        """k clusters of the rows X, which are the features `space` of this seed."""
        key = (space, k, seed)
        if key not in self._found:
            rng = np.random.RandomState(np.random.SeedSequence((seed, k)).generate_state(4))
            self._found[key] = cluster(X, k, scaling, rng)
            while len(self._found) > KEPT:
                self._found.popitem(last=False)
        return self._found[key]
