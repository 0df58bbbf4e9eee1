"""MaxHerding (Bae et al. 2024): coverage with soft balls."""

from .base import Pool, Rows, Strategy
from .coverage import cover, gaussian
from .distances import median_distance


class MaxHerding(Strategy):
    """Each pick adds most to Σ_x max_{s∈S} exp(−(‖x − s‖/h)²).

    `bandwidth` h is by default the median distance between rows: the published h = 1 on unit features is of that
    order, and standardised columns have no unit. Beyond 10,000 rows a sample of 10,000 is covered; every row
    may be picked.
    """

    name, title = "maxherding", "MaxHerding"
    summary = "Picks that are together most similar to the whole pool, near and far: ProbCover with soft balls"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows), memory N·d"

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def _pick(self, pool: Pool, budget: int) -> Rows:
        return cover(pool, budget, gaussian(self.bandwidth or median_distance(pool.Z, pool.rng)))
