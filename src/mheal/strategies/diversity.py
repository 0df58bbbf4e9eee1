"""Batches that are diverse to the model: BADGE compares gradients, CDAL and GEN compare predictions."""

from typing import Literal

import numpy as np

from ..backends.cpu.distances import squared_distances
from ..estimators import last_step
from ..parameters import NotNegative
from ..strategy import Pool, Rows, Scores, Strategy
from ..uncertainty import Model, margins, probabilities
from .common import REFERENCES, by_blocks, nearest_distance, sample

SMOOTHING = 1e-8  # added to probabilities, since the divergence from a probability of 0 is infinite


class BADGE(Strategy):
    """k-means++ on the gradients of the loss in a linear last layer, with predicted classes as labels.

    Proposed by Ash et al. (2020). The gradient is (p − e_ŷ) ⊗ z, where z is the model's `row_embedding`, or the scaled
    features if it has none, with a 1 appended. The first pick has the largest gradient; then rows are drawn with
    probability ∝ squared distance to the nearest pick. Rows of gradient 0, of which the model is certain, come last.
    """

    name, title = "badge", "BADGE"
    summary = "Rows that would change the model most, each differently: for large batches with a good model"
    cost = "time N·budget·(d + classes), memory N·(d + classes)"
    kind = "adaptive"
    needs_model = uses_proba = True

    def _pick(self, pool: Pool, n: int) -> Rows:
        rows = pool.unlabeled
        a = probabilities(pool, rows)
        a[np.arange(len(a)), a.argmax(axis=1)] -= 1
        embed = getattr(pool.model, "row_embedding", None)
        embedding = pool.Z[rows] if embed is None else embed(rows)
        z = np.column_stack([embedding, np.ones(len(rows), embedding.dtype)])
        norm2 = np.square(a).sum(axis=1) * np.einsum("ij,ij->i", z, z)

        picked = [int(norm2.argmax())]
        nearest = np.where(norm2 > 0, np.inf, 0.0)
        while len(picked) < n:
            i = picked[-1]
            # ‖g − g'‖² = ‖a‖²‖z‖² + ‖a'‖²‖z'‖² − 2 (a·a')(z·z'), so gradients are not computed
            nearest = np.minimum(nearest, np.maximum(norm2 + norm2[i] - 2 * (a @ a[i]) * (z @ z[i]), 0))
            nearest[picked] = 0
            if nearest.sum() == 0:  # only duplicates of picks and rows without gradient are left
                left = np.setdiff1d(np.arange(len(rows)), picked)
                picked += left[np.argsort(-norm2[left], kind="stable")].tolist()
                break
            picked.append(int(pool.rng.choice(len(rows), p=nearest / nearest.sum())))
        return rows[picked[:n]]


class CDALCoreSet(Strategy):
    """Farthest-first traversal on predictions, with the symmetric KL divergence between class probabilities.

    Proposed by Agarwal et al. (2020). If nothing is labelled, the first pick is random.
    """

    name, title = "cdal-coreset", "CDAL + Core-set"
    summary = "Core-set on predicted probabilities: always the prediction least like those of the labelled rows"
    cost = "time N·(labelled + budget)·classes, memory N·classes"
    kind = "adaptive"
    needs_model = uses_proba = True

    def _pick(self, pool: Pool, n: int) -> Rows:
        divergence = SymmetricKL(probabilities(pool, np.arange(len(pool.X))))
        nearest = np.full(len(pool.X), np.inf)
        rows = pool.labeled.tolist() or [int(pool.rng.integers(len(pool.X)))]
        for i in range(len(pool.labeled) + n):
            if i == len(rows):
                rows.append(int(nearest.argmax()))
            np.minimum(nearest, divergence.to(rows[i]), out=nearest)
            nearest[rows[i]] = -1
        return np.array(rows[len(pool.labeled) :])


class SymmetricKL:
    """½ KL(p‖q) + ½ KL(q‖p) between rows of P, smoothed."""

    def __init__(self, P: Scores) -> None:
        P = P + SMOOTHING
        P /= P.sum(axis=1, keepdims=True)
        self.both, self.classes = np.hstack([P, np.log(P)]), P.shape[1]
        self.negentropy = np.einsum("ij,ij->i", P, self.both[:, self.classes :])

    def to(self, row: int) -> Scores:
        """The divergence of every row from this one."""
        cross = self.both @ np.roll(self.both[row], self.classes)  # Σ p log q + Σ q log p
        return np.maximum((self.negentropy + self.negentropy[row] - cross) / 2, 0)


class GEN(Strategy):
    """Rows with the smallest β·(p₁ − p₂)·exp(d²) + similarity to labelled rows − similarity to the pool.

    Proposed by Du et al. (2017). d is the distance to the nearest support vector, or to the nearest labelled row if the
    model has none. All distances are between probability vectors; the similarity is exp(−‖p − q‖²). Rows are picked one
    by one, and each pick then counts as labelled.

    beta : weight of the uncertainty
    weights : weights of the two similarities. "mmd" derives them from the maximum mean discrepancy. "published" are
        those of a known implementation, by which picks follow the density alone while there are few labels.
    """

    name, title = "gen", "GEN"
    summary = "Uncertain rows whose predictions resemble the pool's more than those of the labelled rows"
    cost = "time N²·classes (N·10,000 beyond 10,000 rows), memory N·(d + classes)"
    quadratic = True
    kind = "adaptive"
    needs_model = uses_proba = True

    beta: NotNegative = 1.0
    weights: Literal["mmd", "published"] = "mmd"

    def _pick(self, pool: Pool, n: int) -> Rows:
        P = probabilities(pool, np.arange(len(pool.X)))
        certainty = margins(P)
        support = P[pool.labeled[support_vectors(pool.model, len(pool.labeled))]]
        if len(support):
            certainty = certainty * np.exp(nearest_distance(P, support) ** 2)
        return self.one_by_one(pool, P, self.beta * certainty, n)

    def one_by_one(self, pool: Pool, P: Scores, cost: Scores, n: int) -> Rows:
        """Rows with the smallest cost + ½ a_L·Σ_{labelled} S − ½ a_U·Σ_{unlabelled} S, S = exp(−‖p − q‖²)."""
        unlabeled = pool.unlabeled
        reference = sample(unlabeled, REFERENCES, pool.rng)
        scale = len(unlabeled) / len(reference)
        to_unlabeled = scale * by_blocks(P, P[reference], lambda block, _: np.exp(-block).sum(axis=1))
        to_labeled = by_blocks(P, P[pool.labeled], lambda block, _: np.exp(-block).sum(axis=1))
        open_cost = np.full(len(P), np.inf)
        open_cost[unlabeled] = cost[unlabeled]
        rows = np.empty(n, np.int64)
        for i in range(n):
            labeled, left = len(pool.labeled) + i, len(unlabeled) - i
            a_L, a_U = (left - 1, labeled + 1) if self.weights == "mmd" else (labeled + 1, left - 1)
            rows[i] = row = (open_cost + (a_L * to_labeled - a_U * to_unlabeled) / (2 * len(P))).argmin()
            open_cost[row] = np.inf
            similarity = np.exp(-squared_distances(P, P[row : row + 1])[:, 0])
            to_labeled += similarity
            to_unlabeled -= similarity
        return rows


def support_vectors(model: Model | None, n_labeled: int) -> Rows:
    """Which of the labelled rows are the model's support vectors; all of them if it has none."""
    last = last_step(model)
    support = np.asarray(getattr(last, "support_", np.arange(n_labeled)), np.int64)
    return support if support.ndim == 1 and (support < n_labeled).all() else np.arange(n_labeled)
