"""ProbCover (Yehuda et al. 2022): balls of one radius around the picks cover as many rows as possible."""

import numpy as np

from .base import Pool, Rows, Strategy
from .clusters import euclidean_clusters
from .coverage import REFERENCES, cover, tophat
from .distances import by_blocks, sample


class ProbCover(Strategy):
    """Greedy maximum coverage: each pick's ball holds the most rows that no ball holds yet.

    `radius` is by default the largest one with which `purity` of all balls lie inside one cluster of a k-means with
    `n_classes` clusters. Beyond 10,000 rows a sample of 10,000 is covered; every row may be picked.
    """

    name, title = "probcover", "ProbCover"
    summary = "Covers as many rows as possible with balls of one radius: for the first labels; ignores what is sparse"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows), memory N·d"

    def __init__(self, radius: float | None = None, purity: float = 0.95, n_classes: int = 10) -> None:
        self.radius = radius
        self.purity = purity
        self.n_classes = n_classes

    def _pick(self, pool: Pool, budget: int) -> Rows:
        return cover(pool, budget, tophat(self.radius or self._pure_radius(pool)))

    def _pure_radius(self, pool: Pool) -> float:
        """A ball is pure up to the distance to the nearest row of another cluster: take a quantile of these."""
        Z = pool.Z[sample(np.arange(len(pool.Z)), REFERENCES, pool.rng)]
        labels, _ = euclidean_clusters(Z, min(self.n_classes, len(Z)), pool.rng)
        apart = by_blocks(Z, Z, lambda block, rows: np.where(labels[rows, None] == labels, np.inf, block).min(axis=1))
        if not np.isfinite(apart).all():  # one cluster: everything is pure
            return float(4 * np.sqrt(np.square(Z).sum(axis=1).max()) + 1)
        return float(np.sqrt(np.quantile(apart, 1 - self.purity, method="lower")))
