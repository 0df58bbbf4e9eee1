"""Random sampling: what everything else has to beat."""

from .base import Pool, Rows, Strategy


class Random(Strategy):
    """Unlabelled rows in a random order."""

    name, title = "random", "Random"
    summary = "A random sample: the yardstick, and hard to beat when labels are many"
    cost = "time and memory N"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        return pool.rng.permutation(pool.unlabeled)[:budget]
