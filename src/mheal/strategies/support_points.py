"""Support points (Mak and Joseph 2018), picked greedily from the pool's own rows."""

import numpy as np

from .base import Pool, Rows, Strategy
from .distances import by_blocks, sample, squared_distances

REFERENCES = 10_000


class SupportPoints(Strategy):
    """Each pick leaves the smallest energy distance between what is labelled and the pool.

    With m rows labelled or picked that is the smallest E‖x − s‖ − Σ_j‖s_j − s‖ / (m + 1): near the pool, far from
    each other. Beyond 10,000 rows the mean over the pool is taken over a sample of 10,000.
    """

    name, title = "support-points", "Support points"
    summary = "Picks whose distribution is as close to the pool's as can be (energy distance)"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows) + N·budget·d, memory N·d"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        Z = pool.Z
        reference = Z[sample(np.arange(len(Z)), REFERENCES, pool.rng)]
        to_pool = by_blocks(Z, reference, lambda block, _: np.sqrt(block).mean(axis=1, dtype=np.float64))
        to_chosen = np.zeros(len(Z))
        if len(pool.labeled):
            to_chosen += by_blocks(Z, Z[pool.labeled], lambda block, _: np.sqrt(block).sum(axis=1, dtype=np.float64))
        to_pool[pool.labeled] = np.inf
        rows = np.empty(budget, np.int64)
        for i in range(budget):
            rows[i] = row = (to_pool - to_chosen / (len(pool.labeled) + i + 1)).argmin()
            to_pool[row] = np.inf
            to_chosen += np.sqrt(squared_distances(Z, Z[row : row + 1])[:, 0])
        return rows
