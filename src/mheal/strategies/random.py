"""Random sampling, plain and stratified by clusters: the baselines."""

from dataclasses import replace

import numpy as np

from ..backends.cpu.points import Points
from ..cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from ..cluster.spherical import SphericalKMeans
from ..parameters import Count
from ..selection import Selection
from ..strategy import Pool, Rows, Strategy
from .common import ranks


class Random(Strategy):
    """Unlabelled rows in random order."""

    name, title = "random", "Random"
    summary = "A random sample: the baseline for every comparison, and hard to beat when labels are many"
    cost = "time and memory N"
    limits_memory = True

    def _pick(self, pool: Pool, n: int) -> Rows:
        return pool.rng.permutation(pool.unlabeled)[:n]


class Stratified(Strategy):
    """Random rows from every spherical cluster, in proportion to the cluster's size.

    Labelled rows count towards their cluster's share.

    n_clusters : number of clusters; None: one for every hundred rows, at most 32
    """

    name, title = "stratified", "Stratified random"
    summary = "Random rows from each cluster in proportion to its size: a baseline with less variance than random"
    cost = "time N·clusters·d, memory N·d"

    n_clusters: Count | None = None

    def _pick(self, pool: Pool, n: int) -> Selection:
        k = min(self.n_clusters or auto_clusters(len(pool.Z)), len(pool.Z))
        seed = np.random.RandomState(int(pool.rng.integers(2**31)))
        labels, _ = sampled_clusters(Points.raw(pool.Z), SphericalKMeans(k, random_state=seed), SAMPLE, seed)
        size, labeled = np.bincount(labels, minlength=k), np.bincount(labels[pool.labeled], minlength=k)

        free = pool.rng.permutation(pool.unlabeled)
        free = free[np.argsort(labels[free], kind="stable")]  # clusters together, in random order within each
        own = labels[free]
        # The r-th row of a cluster is picked at time (r + a random offset) / size, so every prefix is proportional.
        turn = (labeled[own] + ranks(own) + pool.rng.random(k)[own]) / size[own]
        rows = free[np.argsort(turn, kind="stable")][:n]
        return replace(Selection.of(rows), cluster=labels[rows])
