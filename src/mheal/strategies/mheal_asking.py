"""Our default for those who have labels already, and a model that has learnt from them."""

from typing import Any, Literal

from ..selection import Selection
from ..selector import MHEAL
from ..uncertainty import ASK_FROM, DOUBT, worth_of
from .base import Pool, Strategy
from .doubt import Said


class MhealAsking(Strategy):
    """MHEAL in which each row is worth the model's doubt of it, 1 − (p₁ − p₂), to a power.

    With fewer than `ask_from` labels it is MHEAL, as it is without a model: a model that has seen little doubts the
    wrong rows.
    """

    name, title = "mheal-asking", "MHEAL, asking"
    summary = "MHEAL in which each row is worth the model's doubt of it; without a model it is mheal"
    cost = "as mheal, and a prediction for every row"
    kind = "adaptive"

    def __init__(
        self,
        power: float = DOUBT,
        ask_from: int = ASK_FROM,
        n_clusters: Any = "auto",
        device: str | None = None,
        copies: Literal["count", "once"] = "count",
    ) -> None:
        self.power = power
        self.ask_from = ask_from
        self.n_clusters = n_clusters
        self.device = device
        self.copies = copies

    def _pick(self, pool: Pool, budget: int) -> Selection:
        worth = None
        if pool.model is not None and len(pool.labeled) >= self.ask_from:
            worth = worth_of(Said(pool), self.power)
        seed = int(pool.rng.integers(2**31))
        model = MHEAL(self.n_clusters, space=pool.space, copies=self.copies, device=self.device, random_state=seed)
        return model.select(pool.X, budget, pool.labeled, worth=worth)
