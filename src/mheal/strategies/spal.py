"""SPAL, self-paced active learning (Tang and Huang 2019): easy, informative and representative rows."""

from math import sqrt

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from .base import Pool, Rows, Strategy
from .coreset import complete
from .discrepancy import Matrix, Scene, uncertainty

Vector = npt.NDArray[np.float64]
ROUNDS, DESCENT_STEPS, ADMM_STEPS = 15, 300, 1000
RIDGE, PENALTY = 0.1, 1.0  # γ of the regression, ρ of its ADMM


class Spal(Strategy):
    """Kernel ridge regression, selection w and easiness v in turn; the largest w·v are picked.

    minimise Σ_L (y − f)² + Σ_U v w (f² + 2|f|) + γ‖θ‖² + μ·MMD²(labelled + w, pool) + λ (½‖v‖² − Σ v), v·w = budget

    λ = pace[0] + pace[1]·labels. The published form knows two classes. With more, ours is a heuristic whose steps do
    not minimise one objective: the regression penalises each of its one-vs-rest columns, while w and v take half the
    margin for f. At most 2,000 candidates, sampled, take part.
    """

    name, title = "spal", "SPAL"
    summary = "Uncertain and representative rows, the easy ones first; kernel ridge regression of its own"
    cost = "time and memory 2,000² for each of a few rounds"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, mu: float = 0.1, pace: tuple[float, float] = (0.1, 0.01)) -> None:
        self.mu = mu
        self.pace = pace

    def _pick(self, pool: Pool, budget: int) -> Rows:
        scene = Scene.of(pool)
        batch = min(budget, len(scene.candidates))
        state = Alternation(scene, batch, self.mu, self.pace[0] + self.pace[1] * len(pool.labeled))
        best = np.empty(0, np.int64)
        for _ in range(ROUNDS):
            state.choose()
            state.judge()
            state.regress()
            last, best = best, state.ranking()[:batch]
            if set(best) == set(last):
                break
        return complete(pool, scene.candidates[best], budget)


class Alternation:
    """The three unknowns: selection w and easiness v of each candidate, coefficients theta of the regression."""

    def __init__(self, scene: Scene, batch: int, mu: float, pace: float) -> None:
        self.scene, self.batch, self.mu, self.pace = scene, batch, mu, pace
        self.quadratic = mu / 2 * scene.UU
        self.curvature = float(self.quadratic.sum(axis=1).max())  # bounds the largest eigenvalue
        u = len(scene.UU)
        self.w, self.v = np.full(u, batch / u), np.ones(u)
        self.regress(np.zeros(u))

    def linear(self) -> Vector:
        """What multiplies w."""
        return self.mu * self.scene.represented(self.batch) + self.v * self.cost

    def choose(self) -> None:
        """w: accelerated projected gradient descent of ½wᵀ(½μK)w + qᵀw over 0 ≤ w ≤ 1, v·w = batch."""
        q = self.linear()
        step = 1 / max(self.curvature, 1e-4 * float(np.ptp(q)), 1e-12)  # a linear problem is solved by one long step
        ahead, t = self.w, 1.0
        for _ in range(DESCENT_STEPS):
            new = project(ahead - step * (self._curve(ahead) + q), self.v, self.batch)
            moved = float(np.abs(new - self.w).max())
            if (ahead - new) @ (new - self.w) > 0:  # the momentum points uphill: start it anew
                t = 1.0
            longer = (1 + sqrt(1 + 4 * t * t)) / 2
            ahead, self.w, t = new + (t - 1) / longer * (new - self.w), new, longer
            if moved < 1e-5:
                break

    def _curve(self, w: Vector) -> Vector:
        """½μKw; few of w are not 0 soon."""
        some = np.flatnonzero(w)
        return w[some] @ self.quadratic[some] if len(some) < len(w) / 4 else self.quadratic @ w

    def judge(self) -> None:
        """v: rows are easy as far as what they cost is below λ."""
        self.v = np.clip(1 - self.w * self.cost / self.pace, 0, 1)

    def regress(self, weight: Vector | None = None) -> None:
        """theta: ridge regression in which selected rows pull f to 0, by ADMM with z = f on them."""
        weight = self.w * self.v if weight is None else weight
        LL, Y = self.scene.LL, self.scene.Y
        active = np.flatnonzero(weight > 1e-3)
        SL, c = self.scene.UL[active], weight[active, None]
        factor = cho_factor(2 * LL @ LL + 2 * RIDGE * np.eye(len(LL)) + PENALTY * SL.T @ SL)
        fitted, pull = cho_solve(factor, 2 * LL @ Y), cho_solve(factor, PENALTY * SL.T)
        z, dual = np.zeros((2, len(active), Y.shape[1]))
        for _ in range(ADMM_STEPS):
            theta = fitted + pull @ (z - dual)
            f = SL @ theta
            last, pulled = z, PENALTY * (f + dual)
            z = np.sign(pulled) * np.maximum(np.abs(pulled) - 2 * c, 0) / (PENALTY + 2 * c)
            dual += f - z
            if np.abs(f - z).max(initial=0) < 1e-4 and np.abs(z - last).max(initial=0) < 1e-4:
                break
        self.theta: Matrix = theta
        self.cost = uncertainty(self.scene.UL @ theta)

    def objective(self) -> float:
        """What the steps minimise with two classes, but for the easiness of rows (constant while v is)."""
        fit = np.square(self.scene.Y - self.scene.LL @ self.theta).sum() + RIDGE * np.square(self.theta).sum()
        return float(fit + self.w @ self.quadratic @ self.w / 2 + self.linear() @ self.w)

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
