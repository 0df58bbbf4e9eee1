"""ALDR+ and SPAL: rows that are uncertain by kernel ridge regression, and representative by mean discrepancy (MMD)."""

from collections.abc import Sequence
from math import sqrt

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq
from sklearn.preprocessing import label_binarize, minmax_scale

from ..backends.cpu.distances import squared_distances
from ..parameters import Count, NotNegative, Share
from ..strategy import Array, Pool, Rows, Strategy
from ..uncertainty import margins
from .common import fill_with_farthest, sample

RIDGE, PENALTY = 0.1, 1.0  # γ of the regressions, ρ of SPAL's ADMM
SELF_TRAINING = 10  # rounds of ALDR+
ROUNDS, DESCENT_STEPS, ADMM_STEPS = 15, 300, 1000  # of SPAL


class ALDR(Strategy):
    """Uncertain and representative rows by a semi-supervised classifier; ALDR+ (Gu et al. 2021).

    Reconstructed from the abstract; the full text was not available. The classifier is one-vs-rest kernel ridge
    regression. Unlabelled rows get the predicted classes, in the proportions of the labels, and the classifier is
    refitted, until nothing changes or ten times. Certainty f² + 2|f|, where f is half the margin with several
    classes, and redundancy are scaled to [0, 1]. Rows with the smallest weighted sum are picked one by one.

    beta : weight of representativeness, between 0 and 1
    unlabeled_weight : weight of an unlabelled row in the classifier; a labelled row has weight 1
    max_rows : at most this many candidates and this many labelled rows are used; more are sampled
    """

    name, title = "aldr", "ALDR+ (reconstructed)"
    summary = "Uncertain and representative rows by a semi-supervised classifier; reconstructed from an abstract"
    cost = "time 4,000³, memory 4,000²"
    kind = "adaptive"
    needs_labels = True

    beta: Share = 0.5
    unlabeled_weight: NotNegative = 0.1
    max_rows: Count = 2000

    def _pick(self, pool: Pool, n: int) -> Rows:
        blocks = KernelBlocks(pool, self.max_rows)
        certainty = minmax_scale(label_cost(semi_supervised(blocks, self.unlabeled_weight)))
        picked: list[int] = []
        for _ in range(min(n, len(blocks.candidates))):
            redundancy = minmax_scale(blocks.redundancy(1, picked))
            score = (1 - self.beta) * certainty + self.beta * redundancy
            score[picked] = np.inf
            picked.append(int(score.argmin()))
        return fill_with_farthest(pool, blocks.candidates[picked], n)


class KernelBlocks:
    """Blocks of the kernel exp(−‖x − y‖²/d) between labelled rows (L) and candidates (U), and the classes Y as ±1.

    d is the number of columns, so a typical exponent is −2 on standardised columns. If there are more than `max_rows`
    labelled rows or candidates, a sample is used.
    """

    def __init__(self, pool: Pool, max_rows: int = 2000) -> None:
        at = sample(np.arange(len(pool.labeled)), max_rows, pool.rng)
        self.candidates = sample(pool.unlabeled, max_rows, pool.rng)
        L, U = (pool.Z[rows].astype(np.float64) for rows in (pool.labeled[at], self.candidates))
        self.LL, self.UL, self.UU = (np.exp(squared_distances(A, B) / -A.shape[1]) for A, B in ((L, L), (U, L), (U, U)))
        labels = pool.labels[at]
        self.Y = label_binarize(labels, classes=np.unique(labels), neg_label=-1).astype(np.float64)  # one-vs-rest

    def redundancy(self, batch: int, picked: Sequence[int] = ()) -> Array:
        """Similarity of each candidate to the labelled rows minus its similarity to the others; low if representative.

        It is the linear term of the maximum mean discrepancy between the pool and the union of the labelled rows and a
        batch. The candidates `picked` count as labelled.
        """
        near = self.UU[:, list(picked)].sum(axis=1)
        l, u = self.UL.shape[1] + len(picked), len(self.UU) - len(picked)
        to_labeled, to_others = self.UL.sum(axis=1) + near, self.UU.sum(axis=1) - near
        return ((u - batch) * to_labeled - (l + batch) * to_others) / (l + u)


def label_cost(F: Array) -> Array:
    """f² + 2|f|, the largest squared loss (y − f)² for a label y = ±1, up to a constant; f is half the margin."""
    f = np.abs(F[:, 0]) if F.shape[1] == 1 else margins(F) / 2
    return f**2 + 2 * f


def semi_supervised(blocks: KernelBlocks, unlabeled_weight: float) -> Array:
    """Decision values of the candidates, a column for each class (one for two classes)."""
    if unlabeled_weight == 0:
        return blocks.UL @ np.linalg.solve(blocks.LL + RIDGE * np.eye(len(blocks.LL)), blocks.Y)
    l, u = len(blocks.LL), len(blocks.UU)
    K = np.block([[blocks.LL, blocks.UL.T], [blocks.UL, blocks.UU]])
    ridge = np.concatenate([np.full(l, RIDGE), np.full(u, RIDGE / unlabeled_weight)])
    factor = cho_factor(K + np.diag(ridge))
    F = semi_supervised(blocks, 0)
    sides = np.zeros_like(F)
    for _ in range(SELF_TRAINING):
        last, sides = sides, np.full_like(F, -1.0)
        for column, share in enumerate((blocks.Y > 0).mean(axis=0)):  # the classes keep their shares of the labels
            sides[np.argsort(-F[:, column], kind="stable")[: round(share * u)], column] = 1.0
        if np.array_equal(sides, last):
            break
        F = K[l:] @ cho_solve(factor, np.vstack([blocks.Y, sides]))
    return F


class SPAL(Strategy):
    """Self-paced active learning: rows that are informative, representative and easy (Tang and Huang 2019).

    minimise Σ_L (y − f)² + Σ_U v w (f² + 2|f|) + γ‖θ‖² + μ·MMD²(labelled + w, pool) + λ (½‖v‖² − Σ v), v·w = n

    Kernel ridge regression θ, selection w and easiness v are optimised in turn; the rows with the largest w·v are
    picked. The published method is for two classes. With more, this is a heuristic: the regression penalises each of
    its one-vs-rest columns, while w and v use half the margin as f.

    mu : μ, the weight of representativeness
    pace : λ = pace[0] + pace[1]·labels; with a larger λ, harder rows may be picked
    max_rows : at most this many candidates and this many labelled rows are used; more are sampled
    max_steps : largest number of steps of each inner solver; few steps are less exact. None: 300 and 1,000
    """

    name, title = "spal", "SPAL"
    summary = "Uncertain and representative rows, easy ones first, by kernel ridge regression of its own"
    cost = "time and memory 2,000² for each of a few rounds"
    kind = "adaptive"
    needs_labels = True

    mu: NotNegative = 0.1
    pace: tuple[float, float] = (0.1, 0.01)
    max_rows: Count = 2000
    max_steps: Count | None = None

    def _pick(self, pool: Pool, n: int) -> Rows:
        blocks = KernelBlocks(pool, self.max_rows)
        batch, best = min(n, len(blocks.candidates)), np.empty(0, np.int64)
        pace = self.pace[0] + self.pace[1] * len(pool.labeled)
        state = Alternation(blocks, batch, self.mu, pace, self.max_steps)
        for _ in range(ROUNDS):
            state.update_selection()
            state.update_easiness()
            state.update_regression()
            last, best = best, state.ranking()[:batch]
            if set(best) == set(last):
                break
        return fill_with_farthest(pool, blocks.candidates[best], n)


class Alternation:
    """The variables of SPAL: selection w and easiness v of each candidate, coefficients theta of the regression."""

    def __init__(self, blocks: KernelBlocks, batch: int, mu: float, pace: float, max_steps: int | None = None) -> None:
        self.descent_steps, self.admm_steps = max_steps or DESCENT_STEPS, max_steps or ADMM_STEPS
        self.blocks, self.batch, self.mu, self.pace = blocks, batch, mu, pace
        self.quadratic = mu / 2 * blocks.UU
        self.curvature = float(self.quadratic.sum(axis=1).max())  # bounds the largest eigenvalue
        u = len(blocks.UU)
        self.w, self.v = np.full(u, batch / u), np.ones(u)
        self.update_regression(np.zeros(u))

    def update_selection(self) -> None:
        """w: accelerated projected gradient descent of ½wᵀ(½μK)w + qᵀw over 0 ≤ w ≤ 1, v·w = batch."""
        q = self.mu * self.blocks.redundancy(self.batch) + self.v * self.cost
        step = 1 / max(self.curvature, 1e-4 * float(np.ptp(q)), 1e-12)  # a linear problem takes one long step
        ahead, t = self.w, 1.0
        for _ in range(self.descent_steps):
            some = np.flatnonzero(ahead)  # most of w is 0 after a few steps
            few = len(some) < len(ahead) / 4
            curve = ahead[some] @ self.quadratic[some] if few else self.quadratic @ ahead
            new = project(ahead - step * (curve + q), self.v, self.batch)
            moved = float(np.abs(new - self.w).max())
            if (ahead - new) @ (new - self.w) > 0:  # the momentum points uphill: restart it
                t = 1.0
            longer = (1 + sqrt(1 + 4 * t * t)) / 2
            ahead, self.w, t = new + (t - 1) / longer * (new - self.w), new, longer
            if moved < 1e-5:
                break

    def update_easiness(self) -> None:
        """v: a row is easier if its selection times its cost is smaller in relation to λ."""
        self.v = np.clip(1 - self.w * self.cost / self.pace, 0, 1)

    def update_regression(self, weight: Array | None = None) -> None:
        """θ: ridge regression with a penalty that pulls f of selected rows to 0, by ADMM with z = f on these rows."""
        weight = self.w * self.v if weight is None else weight
        LL, Y = self.blocks.LL, self.blocks.Y
        active = np.flatnonzero(weight > 1e-3)
        SL, c = self.blocks.UL[active], weight[active, None]
        factor = cho_factor(2 * LL @ LL + 2 * RIDGE * np.eye(len(LL)) + PENALTY * SL.T @ SL)
        fitted, pull = cho_solve(factor, 2 * LL @ Y), cho_solve(factor, PENALTY * SL.T)
        z, dual = np.zeros((2, len(active), Y.shape[1]))
        for _ in range(self.admm_steps):
            theta = fitted + pull @ (z - dual)
            f = SL @ theta
            last, pulled = z, PENALTY * (f + dual)
            z = np.sign(pulled) * np.maximum(np.abs(pulled) - 2 * c, 0) / (PENALTY + 2 * c)
            dual += f - z
            if np.abs(f - z).max(initial=0) < 1e-4 and np.abs(z - last).max(initial=0) < 1e-4:
                break
        self.theta: Array = theta
        self.cost = label_cost(self.blocks.UL @ theta)

    def ranking(self) -> Rows:
        """Candidates by w·v, largest first; among equals, cheapest first."""
        return np.lexsort((self.cost, -np.round(self.w * self.v, 6)))


def project(x: Array, v: Array, total: float) -> Array:
    """The w nearest to x with 0 ≤ w ≤ 1 and, if it can be met, v·w = total."""
    usable = v > 1e-6
    if v[usable].sum() <= total:
        return np.clip(x, 0, 1)
    low, high = ((x - 1)[usable] / v[usable]).min(), (x[usable] / v[usable]).max()
    shift = brentq(lambda shift: v @ np.clip(x - shift * v, 0, 1) - total, low, high)
    return np.clip(x - shift * v, 0, 1)
