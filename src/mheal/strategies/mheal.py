"""Our own: the default, and the published algorithm."""

from typing import Any, Literal

from ..scaling import on_sphere
from ..selection import Selection
from ..selector import MHEAL
from .base import Pool, Strategy


class Mheal(Strategy):
    """Charged max-min over the whole pool, see `mheal.MHEAL`."""

    name, title = "mheal", "MHEAL"
    summary = "Spreads picks over the pool, following its density; the default, needs no labels"
    cost = "time N·√budget·d in practice, memory N"

    def __init__(
        self,
        n_clusters: Any = "auto",
        charge: Any = "auto",
        device: str | None = None,
        copies: Literal["count", "once"] = "count",
    ) -> None:
        self.n_clusters = n_clusters
        self.charge = charge
        self.device = device
        self.copies = copies

    def _pick(self, pool: Pool, budget: int) -> Selection:
        seed = int(pool.rng.integers(2**31))
        model = MHEAL(
            self.n_clusters, charge=self.charge, space=pool.space, copies=self.copies, device=self.device,
            random_state=seed,
        )  # fmt: skip
        return model.select(pool.X, budget, pool.labeled)


class MhealPaper(Strategy):
    """Algorithm 2 as printed, see `MHEAL.paper`."""

    name, title = "mheal-paper", "MHEAL (paper)"
    summary = "The published algorithm, literally: max-min inside spherical clusters; takes outliers first"
    cost = "time m·N·budget·d / clusters, memory N"
    kind = "one-shot"  # starts are ranked by sequences as long as the quota

    def __init__(self, n_clusters: int = 10, device: str | None = None) -> None:
        self.n_clusters = n_clusters
        self.device = device

    def _pick(self, pool: Pool, budget: int) -> Selection:
        clusters = min(self.n_clusters, len(pool.X))
        seed = int(pool.rng.integers(2**31))
        model = MHEAL.paper(clusters, device=self.device, random_state=seed)
        if pool.space == "raw" or (pool.space == "auto" and on_sphere(pool.X)):
            model.set_params(space="raw")  # on the sphere already, or of one length
        return model.select(pool.X, budget, pool.labeled)
