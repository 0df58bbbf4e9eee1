"""Hypothesis pruning (§6.2): IWAL against MHEAL, as the paper describes it and in fair comparisons."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mheal.exceptions import UserError

from .hyperplanes import Float32, Float64, Hyperplanes, Rows
from .iwal import Trace, iwal

CLUSTERS = 3
THETA = 10.0  # ξ / r = 1 / 0.1, the paper's θ_IWAL


class Rule(NamedTuple):
    """The rule for pruning: a hypothesis's loss, or its excess over the best one's, is above √(θ/t)."""

    theta: float | None  # None: IWAL's own Δ_t
    excess: bool
    regional: bool = False  # every cluster has its own stream and version space

    @property
    def threshold(self) -> Callable[[int], float] | None:
        """The loss allowed after t rounds; None is IWAL's own."""
        theta = self.theta
        return None if theta is None else lambda t: sqrt(theta / t)


# The paper sets θ_MHEAL = θ_IWAL / k, as if disagreement shrank with volume, which it does not. So `literal` and
# `excess` compare two constants on the same stream. `control` has one constant, and compares clusters with no clusters.
MODES: dict[str, dict[str, Rule]] = {
    "literal": {"IWAL": Rule(THETA, excess=False), "MHEAL": Rule(THETA / CLUSTERS, excess=False)},
    "excess": {"IWAL": Rule(THETA, excess=True), "MHEAL": Rule(THETA / CLUSTERS, excess=True)},
    "control": {"IWAL": Rule(THETA, excess=True), "MHEAL": Rule(THETA, excess=True, regional=True)},
    "true-iwal": {"IWAL": Rule(None, excess=True), "MHEAL": Rule(None, excess=True, regional=True)},
}


@dataclass(frozen=True, eq=False)
class Pruning:
    """One pass over a stream of T rows, by one learner or by one in each region."""

    regions: Rows  # (T,) the region of each row, 0 throughout without regions
    traces: list[Trace]  # one a region, over its own rows in their order

    @cached_property
    def rounds(self) -> Rows:
        """How many rows each region has seen after each round: (regions, T)."""
        return np.cumsum(self.regions == np.arange(len(self.traces))[:, None], axis=1)

    @property
    def share(self) -> Float64:
        """Hypotheses alive after each round, as a share of all; the mean over regions."""
        n = len(self.traces[0].pruned_at)
        alive = [np.concatenate([[n], trace.alive])[seen] for trace, seen in zip(self.traces, self.rounds, strict=True)]
        return np.mean(alive, axis=0) / n

    @property
    def winners(self) -> Rows:
        """The hypothesis each region would use after each round: (regions, T).

        It is the first one, as good as any, before the region's first row.
        """
        return np.array(
            [np.concatenate([[0], trace.best])[seen] for trace, seen in zip(self.traces, self.rounds, strict=True)]
        )

    @property
    def weights(self) -> Float64:
        """Q_t / p_t."""
        return self._by_round([trace.weights for trace in self.traces])

    @property
    def labels(self) -> Rows:
        """Labels queried up to each round."""
        return np.cumsum(self._by_round([trace.queried for trace in self.traces])).astype(np.int64)

    def alive(self, t: int) -> npt.NDArray[np.bool_]:
        """The hypotheses that live in at least one region after round t."""
        seen = self.rounds[:, t - 1]
        return np.any([trace.pruned_at > n for trace, n in zip(self.traces, seen, strict=True)], axis=0)

    def _by_round(self, columns: list[npt.NDArray[np.generic]]) -> Float64:
        values = np.empty(len(self.regions))
        for region, column in enumerate(columns):
            values[self.regions == region] = column
        return values


def prune(
    hyperplanes: Hyperplanes,
    X: Float32,
    y: npt.ArrayLike,
    rule: Rule,
    *,
    regions: npt.ArrayLike | None = None,
    scale: float = 1.0,
    draws: Float64 | None = None,
) -> Pruning:
    """Prune on the rows of X in their order; `scale` and `draws` as in `iwal`.

    regions : the cluster of each row from 0, for regional rules; others ignore it
    """
    if rule.regional and regions is None:
        raise UserError("this rule prunes in every cluster by itself: pass the cluster of each row as regions")
    where = np.asarray(regions) if rule.regional else np.zeros(len(X), np.int64)
    y = np.asarray(y)
    traces = []
    for region in range(int(where.max(initial=0)) + 1):
        rows = np.flatnonzero(where == region)
        mine = None if draws is None else draws[rows]
        traces.append(iwal(hyperplanes, X[rows], y[rows], rule.threshold, excess=rule.excess, scale=scale, draws=mine))
    return Pruning(where, traces)


def literal_survivors(losses: npt.ArrayLike, t: int, theta: float = THETA) -> int:
    """How many hypotheses remain after t rounds of the printed rule if each has its expected loss.

    The number depends only on θ/t. So |H_MHEAL(t)| = |H_IWAL(3t)| on any data if θ_MHEAL = θ_IWAL / 3, and none remains
    once t > θ / L*².
    """
    return int((np.asarray(losses, np.float64) ** 2 * t <= theta).sum())
