"""SPAL, self-paced active learning: rows that are informative, representative and easy."""

from math import sqrt

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..parameters import COUNT, NOT_NEGATIVE
from ..strategy import Pool, Rows, Strategy
from .common import fill_with_farthest
from .transductive import KernelBlocks, Matrix, Vector, label_cost

ROUNDS, DESCENT_STEPS, ADMM_STEPS = 15, 300, 1000
RIDGE, PENALTY = 0.1, 1.0  # γ of the regression, ρ of its ADMM


class SPAL(Strategy):
    """Self-paced active learning: rows that are informative, representative and easy (Tang and Huang 2019).

    minimise Σ_L (y − f)² + Σ_U v w (f² + 2|f|) + γ‖θ‖² + μ·MMD²(labelled + w, pool) + λ (½‖v‖² − Σ v), v·w = n

    Kernel ridge regression θ, selection w and easiness v are solved in turn; the largest w·v are picked. The published
    form is for two classes. With more, ours is a heuristic: the regression penalises each of its one-vs-rest columns,
    while w and v take half the margin for f.

    Parameters
    ----------
    mu : float
        μ, the weight of representativeness.
    pace : tuple of two floats
        λ = pace[0] + pace[1]·labels: the larger λ, the harder the rows that may be picked.
    max_rows : int
        At most so many candidates, and so many labelled rows, take part; more are sampled.
    max_steps : int or None
        At most so many steps of each inner solver, which is then less exact. None takes 300 and 1,000.
    """

    name, title = "spal", "SPAL"
    summary = "Uncertain and representative rows, easy ones first, by kernel ridge regression of its own"
    cost = "time and memory 2,000² for each of a few rounds"
    kind = "adaptive"
    needs_labels = True
    _parameter_constraints = {"mu": NOT_NEGATIVE, "pace": [tuple], "max_rows": COUNT, "max_steps": [*COUNT, None]}

    def __init__(
        self,
        mu: float = 0.1,
        pace: tuple[float, float] = (0.1, 0.01),
        max_rows: int = 2000,
        max_steps: int | None = None,
    ) -> None:
        self.mu = mu
        self.pace = pace
        self.max_rows = max_rows
        self.max_steps = max_steps

    def _pick(self, pool: Pool, n: int) -> Rows:
        blocks = KernelBlocks.of(pool, self.max_rows)
        batch = min(n, len(blocks.candidates))
        pace = self.pace[0] + self.pace[1] * len(pool.labeled)
        state = Alternation(blocks, batch, self.mu, pace, self.max_steps)
        best = np.empty(0, np.int64)
        for _ in range(ROUNDS):
            state.update_selection()
            state.update_easiness()
            state.update_regression()
            last, best = best, state.ranking()[:batch]
            if set(best) == set(last):
                break
        return fill_with_farthest(pool, blocks.candidates[best], n)


class Alternation:
    """The three unknowns: selection w and easiness v of each candidate, coefficients theta of the regression."""

    def __init__(self, blocks: KernelBlocks, batch: int, mu: float, pace: float, max_steps: int | None = None) -> None:
        self.descent_steps, self.admm_steps = max_steps or DESCENT_STEPS, max_steps or ADMM_STEPS
        self.blocks, self.batch, self.mu, self.pace = blocks, batch, mu, pace
        self.quadratic = mu / 2 * blocks.UU
        self.curvature = float(self.quadratic.sum(axis=1).max())  # bounds the largest eigenvalue
        u = len(blocks.UU)
        self.w, self.v = np.full(u, batch / u), np.ones(u)
        self.update_regression(np.zeros(u))

    def linear(self) -> Vector:
        """q, the linear term in w."""
        return self.mu * self.blocks.redundancy(self.batch) + self.v * self.cost

    def update_selection(self) -> None:
        """w: accelerated projected gradient descent of ½wᵀ(½μK)w + qᵀw over 0 ≤ w ≤ 1, v·w = batch."""
        q = self.linear()
        step = 1 / max(self.curvature, 1e-4 * float(np.ptp(q)), 1e-12)  # a linear problem is solved by one long step
        ahead, t = self.w, 1.0
        for _ in range(self.descent_steps):
            new = project(ahead - step * (self._curve(ahead) + q), self.v, self.batch)
            moved = float(np.abs(new - self.w).max())
            if (ahead - new) @ (new - self.w) > 0:  # the momentum points uphill: start it anew
                t = 1.0
            longer = (1 + sqrt(1 + 4 * t * t)) / 2
            ahead, self.w, t = new + (t - 1) / longer * (new - self.w), new, longer
            if moved < 1e-5:
                break

    def _curve(self, w: Vector) -> Vector:
        """½μKw; most of w is 0 after a few steps."""
        some = np.flatnonzero(w)
        return w[some] @ self.quadratic[some] if len(some) < len(w) / 4 else self.quadratic @ w

    def update_easiness(self) -> None:
        """v: a row is the easier, the further its cost is below λ."""
        self.v = np.clip(1 - self.w * self.cost / self.pace, 0, 1)

    def update_regression(self, weight: Vector | None = None) -> None:
        """θ: ridge regression in which selected rows pull f to 0, by ADMM with z = f on them."""
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
        self.theta: Matrix = theta
        self.cost = label_cost(self.blocks.UL @ theta)

    def ranking(self) -> Rows:
        """Candidates by w·v, largest first; among equals, cheapest first."""
        return np.lexsort((self.cost, -np.round(self.w * self.v, 6)))


def project(x: Vector, v: Vector, total: float) -> Vector:
    """The nearest w with 0 ≤ w ≤ 1 and v·w = total; without the sum where it cannot be reached."""
    usable = v > 1e-6
    if v[usable].sum() <= total:
        return np.clip(x, 0, 1)
    low, high = float(((x - 1)[usable] / v[usable]).min()), float((x[usable] / v[usable]).max())
    shift = low
    for _ in range(60):  # Newton's steps, kept between bounds that close in
        w = np.clip(x - shift * v, 0, 1)
        excess = float(v @ w) - total
        if abs(excess) < 1e-12 * total:
            break
        low, high = (shift, high) if excess > 0 else (low, shift)
        inside = (w > 0) & (w < 1)
        slope = float(v[inside] @ v[inside])
        shift = shift + excess / slope if slope > 0 else high
        if not low < shift < high:
            shift = (low + high) / 2
    return w
