"""Ways to ask a model that were tried; `mheal-asking` is the one that was taken."""

import numpy as np

from mheal import MHEAL
from mheal.strategies import get
from mheal.strategies.base import Strategy
from mheal.strategies.doubt import probabilities, samples
from mheal.strategies.mc_scores import mutual_information
from mheal.uncertainty import margins


class Asking(Strategy):
    """MHEAL up to `ask_from` labels; from there on each row is worth its doubt to a power.

    then : "cover" goes on as MHEAL does, covering what is worth most up to 256 labels, "cover on" without end; "spread"
        picks far from everything labelled at once; "shortlist" spreads among the five times as many rows of the most
        doubt; else the name of a strategy that goes on from there
    draws : doubt of the mean of so many draws of the model; 0 asks it once
    by : "margin", or "bald", which needs draws: what is worth most is what they disagree on
    space : "given", the features of the pool, or "network", what the last layer of the model sees
    """

    title = summary = cost = "a variant of mheal-asking"
    kind = "adaptive"

    def __init__(self, power=2, ask_from=64, then="cover", draws=0, space="given", by="margin"):
        self.power, self.ask_from, self.then, self.draws, self.space = power, ask_from, then, draws, space
        self.by = by
        weighted = f"power={power}" if then in ("cover", "cover on", "spread") else ""
        said = [then, weighted, f"from={ask_from}", f"draws={draws}" * bool(draws), "bald" * (by == "bald")]
        self.name = " ".join(filter(None, [*said, "network" * (space == "network")]))

    def _pick(self, pool, budget):
        seed = int(pool.rng.integers(2**31))
        if pool.model is None or len(pool.labeled) < self.ask_from:
            return MHEAL(random_state=seed).select(pool.X, budget, pool.labeled)
        if self.then not in ("cover", "cover on", "spread", "shortlist"):
            return get(self.then)().select(pool, budget)
        every = np.arange(len(pool.X))
        drawn = samples(pool, every, self.draws) if self.draws else None
        if self.by == "bald":
            doubt = mutual_information(drawn)
        else:
            p = probabilities(pool, every) if drawn is None else drawn.mean(axis=0)
            doubt = np.clip(1 - margins(np.asarray(p, np.float64)), 0, 1)
        X = pool.model.row_embedding(every) if self.space == "network" else pool.X
        if self.then == "shortlist":
            doubt[pool.labeled] = -1
            rows = np.append(pool.labeled, np.argsort(-doubt, kind="stable")[: 5 * budget])
            model = MHEAL(random_state=seed, charge=None)
            return rows[model.select(X[rows], budget, np.arange(len(pool.labeled))).indices]
        cover = {"cover": 256, "cover on": len(X), "spread": 0}[self.then]
        worth = doubt**self.power if doubt.any() else None
        return MHEAL(random_state=seed, cover=cover).select(X, budget, pool.labeled, worth=worth)
