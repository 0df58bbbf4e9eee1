"""IWAL: importance-weighted active learning on a stream, with a finite class of hyperplanes (§6.1).

Beygelzimer, Dasgupta and Langford (2009). In each round one row arrives. Its label is queried with probability p_t, the
largest difference in loss that the remaining hypotheses can have on it, and gets the weight 1 / p_t. Hypotheses of too
large a loss are pruned.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from .hyperplanes import Float32, Float64, Hyperplanes, Rows, logistic

FIRST_BLOCK, LAST_BLOCK = 8, 256  # rounds between two compactions: few at first, when most hypotheses die


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in each round t = 1 … T of a stream (entry t − 1 of the arrays)."""

    pruned_at: Rows  # (hypotheses,) the round that pruned each, T + 1 for those still alive
    best: Rows  # (T,) the living hypothesis of smallest loss after the round
    probability: Float64  # (T,) p_t
    queried: npt.NDArray[np.bool_]  # (T,) Q_t
    emptied_at: int | None  # first round in which even the best hypothesis was above the threshold; it is kept

    @property
    def alive(self) -> Rows:
        """|H_t| after each round."""
        died = np.bincount(self.pruned_at, minlength=len(self.best) + 2)
        return len(self.pruned_at) - np.cumsum(died)[1:-1]

    @property
    def weights(self) -> Float64:
        """Q_t / p_t, the importance weights."""
        return np.divide(self.queried, self.probability, out=np.zeros(len(self.queried)), where=self.queried)


def deviation(t: int, n_hypotheses: int, delta: float = 0.05) -> float:
    """IWAL's Δ_t = √((8/t) log(2t(t+1)|H|²/δ)), for losses in [0, 1]."""
    return sqrt(8 / t * log(2 * t * (t + 1) * n_hypotheses**2 / delta))


def query_probability(lowest: Any, highest: Any, scale: float = 1.0) -> Any:
    """p_t = max_y max_{f,g} ℓ(f, y) − ℓ(g, y) over hypotheses whose margins span [lowest, highest].

    The loss is monotone in the margin, so the two extreme hypotheses decide. `scale` is the largest loss there is.
    """
    positive = logistic(lowest) - logistic(highest)
    negative = logistic(-highest) - logistic(-lowest)
    return np.clip(np.maximum(positive, negative) / scale, 0.0, 1.0)


def iwal(
    hyperplanes: Hyperplanes,
    X: Float32,
    y: npt.ArrayLike,
    threshold: Callable[[int], float] | None = None,
    *,
    excess: bool = True,
    scale: float = 1.0,
    draws: Float64 | None = None,
) -> Trace:
    """Run through the rows of X in their order and prune hypotheses of too large a loss.

    threshold : function of t; the loss that is allowed after t rounds. None: IWAL's own Δ_t
    excess : whether the threshold applies to the loss minus that of the best remaining hypothesis (IWAL), or to the
        loss itself (the paper's §6.2)
    scale : divisor of the losses; IWAL needs the largest loss (`Hyperplanes.largest_loss`)
    draws : one uniform number per row, which decides whether its label is queried; None: all are queried, p_t = 1
    """
    n, T = len(hyperplanes), len(X)
    signs = np.asarray(y, np.float32)
    if threshold is None:
        threshold = lambda t: deviation(t, n)  # noqa: E731
    alive, sums = np.arange(n), np.zeros(n)
    pruned_at, best = np.full(n, T + 1), np.zeros(T, np.int64)
    probability, queried = np.ones(T), np.ones(T, bool)
    emptied_at = None
    leader = at = 0
    size = FIRST_BLOCK
    while at < T:
        margins = hyperplanes.margins(X[at : at + size], alive)
        dead, n_dead = np.zeros(len(alive), np.float32), 0  # ∞ for those pruned in this block
        for t, z in enumerate(margins, start=at):
            if draws is not None:
                probability[t] = query_probability((z + dead).min(), (z - dead).max(), scale)
                queried[t] = draws[t] < probability[t]
            if queried[t]:  # thresholds on the sum grow with t: a round without a label prunes nothing
                sums += logistic(z * signs[t]) / np.float32(scale * probability[t])
                living = sums + dead
                leader = int(living.argmin())
                limit = (t + 1) * threshold(t + 1) + (living[leader] if excess else 0.0)
                out = living > limit
                if out[leader]:
                    emptied_at = emptied_at or t + 1
                    out[leader] = False
                if np.count_nonzero(out) > n_dead:
                    pruned_at[alive[out & (dead == 0)]] = t + 1
                    dead[out] = np.inf
                    n_dead = int(np.count_nonzero(out))
            best[t] = alive[leader]
        keep = dead == 0
        leader = int(np.count_nonzero(keep[:leader]))
        alive, sums = alive[keep], sums[keep]
        at, size = at + size, min(2 * size, LAST_BLOCK)
    return Trace(pruned_at, best, probability, queried, emptied_at)
