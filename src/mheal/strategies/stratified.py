"""Random sampling stratified by spherical clusters: what clustering alone is worth."""

import numpy as np

from ..backends.cpu.points import Points
from ..cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from ..cluster.spherical import SphericalKMeans
from ..selection import Selection
from .base import Pool, Strategy


class Stratified(Strategy):
    """Rows at random, from each spherical cluster in proportion to its size; labelled rows count for theirs."""

    name, title = "stratified", "Stratified random"
    summary = "Random within clusters, in proportion to their size: a steadier yardstick than random"
    cost = "time N·clusters·d, memory N·d"

    def __init__(self, n_clusters: int | None = None) -> None:
        self.n_clusters = n_clusters

    def _pick(self, pool: Pool, budget: int) -> Selection:
        n = len(pool.Z)
        k = min(self.n_clusters or auto_clusters(n), n)
        seed = np.random.RandomState(int(pool.rng.integers(2**31)))
        labels, _ = sampled_clusters(Points.raw(pool.Z), SphericalKMeans(k, random_state=seed), SAMPLE, seed)
        size, bought = np.bincount(labels, minlength=k), np.bincount(labels[pool.labeled], minlength=k)

        free = pool.rng.permutation(pool.unlabeled)
        free = free[np.argsort(labels[free], kind="stable")]  # clusters together, at random inside
        rank = np.arange(len(free)) - np.searchsorted(labels[free], np.arange(k))[labels[free]]
        # Evenly spaced turns at a rate of one per size, from a random start: every prefix is in proportion.
        turn = (bought[labels[free]] + rank + pool.rng.random(k)[labels[free]]) / size[labels[free]]
        rows = free[np.argsort(turn, kind="stable")][:budget]
        unknown = np.full(budget, np.nan)
        return Selection(rows, labels[rows], unknown, unknown)
