"""Coverage: Core-set, ProbCover, MaxHerding and UHerding pick rows such that most of the pool is near a pick.

The last three greedily maximise C(S) = Σ_x u(x)·max_{s∈S} k(x, s), a facility location function (Bae et al. 2024).
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import softmax
from sklearn.base import clone

from ..algorithms.facility_location import lazy_greedy
from ..algorithms.farthest_first import farthest_first
from ..parameters import Count, Positive, Share
from ..strategy import Array, Pool, Rows, Scores, Strategy
from ..uncertainty import margins, probabilities
from .clustering import euclidean_clusters
from .common import REFERENCES, by_blocks, fill_with_farthest, median_distance, sample

BATCH = 32  # candidates whose gains are updated together
TEMPERATURES = np.arange(1.0, 20.05, 0.1)
CALIBRATED_FROM = 30  # fewest labels for a hold-out set on which the temperature is chosen

Kernel = Callable[[Array], Array]  # squared distances → similarities in [0, 1]


class CoreSet(Strategy):
    """Farthest-first traversal (k-centre greedy): each pick is the row farthest from all labelled and picked rows.

    Proposed by Sener and Savarese (2018). If nothing is labelled, the first pick is random.
    """

    name, title = "coreset", "Core-set"
    summary = "Always the row farthest from all labelled ones (k-centre greedy); picks outliers first"
    cost = "time N·√budget·d in practice, memory N"

    def _pick(self, pool: Pool, n: int) -> Rows:
        start = None if len(pool.labeled) else int(pool.rng.integers(len(pool.X)))
        return farthest_first(pool.Z, n, start=start, chosen=pool.labeled)


class ProbCover(Strategy):
    """Greedy maximum coverage: the ball around each pick covers the most uncovered rows (Yehuda et al. 2022).

    radius : radius of the balls. None: the largest radius for which the share `purity` of all balls lies within one
        cluster of k-means with `n_classes` clusters.
    purity, n_classes : see `radius`
    max_references : a larger pool is represented by a sample of this many rows; every row can still be picked
    """

    name, title = "probcover", "ProbCover"
    summary = "Covers as many rows as possible with balls of one radius: for the first labels; skips sparse regions"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows), memory N·d"
    quadratic = True

    radius: Positive | None = None
    purity: Share = 0.95
    n_classes: Count = 10
    max_references: Count = REFERENCES

    def _pick(self, pool: Pool, n: int) -> Rows:
        radius = self.radius or self._pure_radius(pool)
        return greedy_coverage(pool, n, tophat(radius), max_references=self.max_references)

    def _pure_radius(self, pool: Pool) -> float:
        """A quantile of the distances to the nearest row of another cluster: up to that distance, a ball is pure."""
        Z = pool.Z[sample(np.arange(len(pool.Z)), self.max_references, pool.rng)]
        labels, _ = euclidean_clusters(Z, min(self.n_classes, len(Z)), pool.rng)
        apart = by_blocks(Z, Z, lambda block, rows: np.where(labels[rows, None] == labels, np.inf, block).min(axis=1))
        if not np.isfinite(apart).all():  # there is one cluster: every ball is pure
            return float(4 * np.sqrt(np.square(Z).sum(axis=1).max()) + 1)
        return float(np.sqrt(np.quantile(apart, 1 - self.purity, method="lower")))


class MaxHerding(Strategy):
    """Facility location with a Gaussian kernel (Bae et al. 2024).

    Each pick adds most to Σ_x max_{s∈S} exp(−(‖x − s‖/h)²).

    bandwidth : h above. None: the median distance between rows. The published h = 1 is for features of unit length.
    max_references : a larger pool is represented by a sample of this many rows; every row can still be picked
    """

    name, title = "maxherding", "MaxHerding"
    summary = "Picks that are together most similar to the whole pool: ProbCover with soft balls"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows), memory N·d"
    quadratic = True

    bandwidth: Positive | None = None
    max_references: Count = REFERENCES

    def _pick(self, pool: Pool, n: int) -> Rows:
        bandwidth = self.bandwidth or median_distance(pool.Z, pool.rng)
        return greedy_coverage(pool, n, gaussian(bandwidth), max_references=self.max_references)


class UHerding(MaxHerding):
    """MaxHerding with rows weighted by the model's uncertainty 1 − (p₁ − p₂), and by 0 if they are labelled.

    Proposed by Bae et al. (2025). The probabilities are scaled with a temperature. It is chosen by fitting a copy of
    the model on 70 % of the labels and calibrating it on the other 30 %. Without a model it is MaxHerding.

    bandwidth : width of the Gaussian kernel. None: the smallest distance between labelled rows. As it shrinks with more
        labels, the strategy changes from coverage to uncertainty sampling.
    max_references : as in MaxHerding
    """

    name, title = "uherding", "UHerding"
    summary = "Represents the rows of which the model is uncertain; without a model it is MaxHerding"
    cost = "two fits of the model, then as MaxHerding"
    kind = "adaptive"
    uses_model = uses_proba = True

    def _pick(self, pool: Pool, n: int) -> Rows:
        bandwidth = self.bandwidth or _smallest_gap(pool.Z[pool.labeled]) or median_distance(pool.Z, pool.rng)
        uncertainty = None
        if pool.model is not None:
            p = probabilities(pool, np.arange(len(pool.X)))
            uncertainty = 1 - margins(soften(p, temperature(pool)))
            uncertainty[pool.labeled] = 0
        return greedy_coverage(pool, n, gaussian(bandwidth), uncertainty, max_references=self.max_references)


def gaussian(bandwidth: float) -> Kernel:
    """exp(−(‖x − s‖ / bandwidth)²)."""
    return lambda squared: np.exp(squared / -(bandwidth**2))


def tophat(radius: float) -> Kernel:
    """1 within the radius, else 0."""
    return lambda squared: (squared < radius**2).astype(squared.dtype)


def greedy_coverage(
    pool: Pool, n: int, kernel: Kernel, weight: Scores | None = None, *, max_references: int = REFERENCES
) -> Rows:
    """`n` unlabelled rows, each of which adds most to the coverage; ties go to the lowest row.

    Labelled rows count as picked. If no row adds anything, the rows farthest from all picks follow.
    """
    reference = sample(np.arange(len(pool.Z)), max_references, pool.rng)
    u = np.ones(len(reference)) if weight is None else weight[reference]
    coverage = Coverage(pool.Z[reference], u, kernel)
    coverage.add(pool.Z[pool.labeled])
    candidates = pool.Z[pool.unlabeled]
    picked = lazy_greedy(
        coverage.gains(candidates), lambda some: coverage.gains(candidates[some]),
        lambda row: coverage.add(candidates[row : row + 1]), n, batch=BATCH,
    )  # fmt: skip
    return fill_with_farthest(pool, pool.unlabeled[picked], n)


class Coverage:
    """The largest similarity of each reference row in R to the picks so far; `weight` is u(x)."""

    def __init__(self, R: Array, weight: Array, kernel: Kernel) -> None:
        self.R, self.weight, self.kernel = R, weight.astype(R.dtype), kernel
        self.covered = np.zeros(len(R), R.dtype)

    def add(self, A: Array) -> None:
        """Add these rows to S."""
        if len(A):
            nearest = by_blocks(self.R, A, lambda block, _: block.min(axis=1))
            np.maximum(self.covered, self.kernel(nearest), out=self.covered)

    def gains(self, A: Array) -> Array:
        """How much each of these rows would add to C(S)."""

        def gain(block: Array, _: slice) -> Array:
            more = self.kernel(block)
            more -= self.covered
            return np.maximum(more, 0, out=more) @ self.weight

        return by_blocks(A, self.R, gain)


def soften(p: Scores, temperature: float) -> Scores:
    """Probabilities ∝ p^(1/temperature)."""
    return softmax(np.log(np.maximum(p, 1e-30)) / temperature, axis=1)


def temperature(pool: Pool) -> float:
    """The temperature with the smallest calibration error on held-out labels.

    It is 1 if there are too few labels, or if the model cannot be refitted because it identifies rows by number.
    """
    n = len(pool.labels)
    order = pool.rng.permutation(n)
    held_out, rest = order[: n * 3 // 10], order[n * 3 // 10 :]
    by_number = hasattr(pool.model, "row_proba") or hasattr(pool.model, "row_decision")
    if n < CALIBRATED_FROM or by_number or len(np.unique(pool.labels[rest])) < 2:
        return 1.0
    model = clone(pool.model).fit(pool.X[pool.labeled[rest]], pool.labels[rest])
    p = probabilities(replace(pool, model=model), pool.labeled[held_out])
    correct = model.classes_[p.argmax(axis=1)] == pool.labels[held_out]
    return float(min(TEMPERATURES, key=lambda t: calibration_error(soften(p, t).max(axis=1), correct)))


def calibration_error(confidence: Scores, correct: Array) -> float:
    """Expected calibration error: mean gap between confidence and accuracy over 15 bins."""
    bins = np.minimum((confidence * 15).astype(int), 14)
    gap = np.bincount(bins, correct, 15) - np.bincount(bins, confidence, 15)
    return float(np.abs(gap).sum() / len(confidence))


def _smallest_gap(A: Array) -> float:
    """The smallest distance above 0 between rows of A; 0 if there is none."""
    if len(A) < 2:
        return 0.0
    squared = by_blocks(A, A, lambda block, _: np.where(block > 1e-6, block, np.inf).min(axis=1))
    return float(np.sqrt(squared.min())) if np.isfinite(squared.min()) else 0.0
