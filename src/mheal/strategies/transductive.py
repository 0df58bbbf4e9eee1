"""Transductive strategies: rows that are uncertain and represent the pool, by maximum mean discrepancy (MMD).

GEN compares rows by their predicted probabilities; ALDR+ and SPAL (in spal.py) by a kernel of their features.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve
from sklearn.utils._param_validation import StrOptions

from ..backends.cpu.distances import squared_distances
from ..parameters import COUNT, NOT_NEGATIVE, SHARE
from ..strategy import Pool, Rows, Strategy
from ..uncertainty import margins, probabilities
from .common import fill_with_farthest, sample
from .distances import by_blocks, nearest_distance

REFERENCES = 10_000  # rows that represent a larger pool in GEN; every row can still be picked
ROUNDS = 10  # of self-training in ALDR+
RIDGE = 0.1

Matrix = npt.NDArray[np.float64]
Vector = npt.NDArray[np.float64]


class GEN(Strategy):
    """Rows with the smallest β·(p₁ − p₂)·exp(d²) + similarity to labelled rows − similarity to the pool.

    Proposed by Du et al. (2017). d is the distance to the nearest support vector (to the nearest labelled row, if the
    model has none). All distances are between probability vectors; the similarity is exp(−‖p − q‖²). A batch is picked
    one by one, and each pick counts as labelled from then on.

    Parameters
    ----------
    beta : float
        Weight of the uncertainty.
    weights : "mmd" or "published"
        Weights of the two similarities. "mmd" derives them from the maximum mean discrepancy. "published" is those of
        a known implementation, which follows the density alone while labels are few.
    """

    name, title = "gen", "GEN"
    summary = "Uncertain rows whose predictions resemble the pool's more than those of the labelled rows"
    cost = "time N²·classes (N·10,000 beyond 10,000 rows), memory N·(d + classes)"
    kind = "adaptive"
    needs_model = uses_proba = True
    _parameter_constraints = {"beta": NOT_NEGATIVE, "weights": [StrOptions({"mmd", "published"})]}

    def __init__(self, beta: float = 1.0, weights: Literal["mmd", "published"] = "mmd") -> None:
        self.beta = beta
        self.weights = weights

    def _pick(self, pool: Pool, n: int) -> Rows:
        P = probabilities(pool, np.arange(len(pool.X)))
        certainty = margins(P)
        support = P[pool.labeled[support_vectors(pool.model, len(pool.labeled))]]
        if len(support):
            certainty = certainty * np.exp(nearest_distance(P, support) ** 2)
        return self.one_by_one(pool, P, self.beta * certainty, n)

    def one_by_one(self, pool: Pool, P: Matrix, cost: Vector, n: int) -> Rows:
        """Rows with the smallest cost + ½ a_L·Σ_{labelled} S − ½ a_U·Σ_{unlabelled} S, S = exp(−‖p − q‖²)."""
        unlabeled = pool.unlabeled
        reference = sample(unlabeled, REFERENCES, pool.rng)
        scale = len(unlabeled) / len(reference)
        to_unlabeled = scale * by_blocks(P, P[reference], lambda block, _: np.exp(-block).sum(axis=1))
        to_labeled = np.zeros(len(P))
        if len(pool.labeled):
            to_labeled += by_blocks(P, P[pool.labeled], lambda block, _: np.exp(-block).sum(axis=1))
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


class ALDR(Strategy):
    """Uncertain and representative rows by a semi-supervised classifier; ALDR+ (Gu et al. 2021).

    Reconstructed from the abstract; the full text was not available. The classifier is one-vs-rest kernel ridge
    regression. Unlabelled rows are pulled to the side they are on, in the classes' proportions among the labels,
    until the sides no longer change. Uncertainty f² + 2|f| (with several classes f is half the margin) and
    representativeness are both scaled to [0, 1]; a batch is picked one by one.

    Parameters
    ----------
    beta : float
        Weight of representativeness, between 0 and 1.
    unlabeled_weight : float
        Weight of an unlabelled row in the classifier; a labelled row has 1.
    max_rows : int
        At most so many candidates, and so many labelled rows, take part; more are sampled.
    """

    name, title = "aldr", "ALDR+ (reconstructed)"
    summary = "Uncertain and representative rows by a semi-supervised classifier; reconstructed from an abstract"
    cost = "time 4,000³, memory 4,000²"
    kind = "adaptive"
    needs_labels = True
    _parameter_constraints = {"beta": SHARE, "unlabeled_weight": NOT_NEGATIVE, "max_rows": COUNT}

    def __init__(self, beta: float = 0.5, unlabeled_weight: float = 0.1, max_rows: int = 2000) -> None:
        self.beta = beta
        self.unlabeled_weight = unlabeled_weight
        self.max_rows = max_rows

    def _pick(self, pool: Pool, n: int) -> Rows:
        blocks = KernelBlocks.of(pool, self.max_rows)
        uncertainty = _unit_range(label_cost(semi_supervised(blocks, self.unlabeled_weight)))
        picked: list[int] = []
        for _ in range(min(n, len(blocks.candidates))):
            redundancy = _unit_range(blocks.redundancy(1, np.array(picked, np.int64)))
            score = (1 - self.beta) * uncertainty + self.beta * redundancy
            score[picked] = np.inf
            picked.append(int(score.argmin()))
        return fill_with_farthest(pool, blocks.candidates[picked], n)


@dataclass(frozen=True)
class KernelBlocks:
    """Blocks of the kernel exp(−‖x − y‖²/d) between labelled rows and candidates, and the labelled rows' targets.

    d is the number of columns: a typical exponent on standardised columns is then −2.
    """

    candidates: Rows  # rows of X
    Y: Matrix  # ±1 for each labelled row and class; a single column if there are two classes
    LL: Matrix  # kernel between labelled rows
    UL: Matrix  # between candidates and labelled rows
    UU: Matrix  # between candidates

    @classmethod
    def of(cls, pool: Pool, max_rows: int = 2000) -> "KernelBlocks":
        """The blocks of a pool; of samples of its labelled rows and its candidates, if there are more than max_rows."""
        at = sample(np.arange(len(pool.labeled)), max_rows, pool.rng)
        candidates = sample(pool.unlabeled, max_rows, pool.rng)
        L, U = (pool.Z[rows].astype(np.float64) for rows in (pool.labeled[at], candidates))
        LL, UL, UU = (np.exp(squared_distances(A, B) / -A.shape[1]) for A, B in ((L, L), (U, L), (U, U)))
        return cls(candidates, one_vs_rest(pool.labels[at]), LL, UL, UU)

    def redundancy(self, batch: int, picked: Rows | None = None) -> Vector:
        """How much each candidate resembles labelled rows minus how much it resembles the others; small is good.

        The linear term of the MMD between the pool and the labelled rows with a batch. `picked` count as labelled.
        """
        picked = np.empty(0, np.int64) if picked is None else picked
        near = self.UU[:, picked].sum(axis=1)
        l, u = self.UL.shape[1] + len(picked), len(self.UU) - len(picked)
        to_labeled, to_others = self.UL.sum(axis=1) + near, self.UU.sum(axis=1) - near
        return ((u - batch) * to_labeled - (l + batch) * to_others) / (l + u)


def one_vs_rest(labels: npt.NDArray[np.generic]) -> Matrix:
    """+1 for a row's own class, −1 for the others, (rows, classes); a single column if there are two classes."""
    classes = np.unique(labels)
    Y = np.where(labels[:, None] == classes, 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


def label_cost(F: Matrix) -> Vector:
    """f² + 2|f|, the largest loss that a row's label can cause, up to a constant; f is half the margin."""
    f = np.abs(F[:, 0]) if F.shape[1] == 1 else margins(F) / 2
    return f**2 + 2 * f


def semi_supervised(blocks: KernelBlocks, unlabeled_weight: float) -> Matrix:
    """Decision values of the candidates, a column for each class (one for two classes)."""
    if unlabeled_weight == 0:
        return blocks.UL @ np.linalg.solve(blocks.LL + RIDGE * np.eye(len(blocks.LL)), blocks.Y)
    l, u = len(blocks.LL), len(blocks.UU)
    K = np.block([[blocks.LL, blocks.UL.T], [blocks.UL, blocks.UU]])
    ridge = np.concatenate([np.full(l, RIDGE), np.full(u, RIDGE / unlabeled_weight)])
    factor = cho_factor(K + np.diag(ridge))
    F = semi_supervised(blocks, 0)
    sides = np.zeros_like(F)
    for _ in range(ROUNDS):
        last, sides = sides, _sides(F, blocks.Y)
        if np.array_equal(sides, last):
            break
        F = K[l:] @ cho_solve(factor, np.vstack([blocks.Y, sides]))
    return F


def support_vectors(model: Any, n_labeled: int) -> Rows:
    """Which of the labelled rows are the model's support vectors; all of them if it has none."""
    last = model[-1] if hasattr(model, "steps") else model
    support = np.asarray(getattr(last, "support_", np.arange(n_labeled)), np.int64)
    return support if support.ndim == 1 and (support < n_labeled).all() else np.arange(n_labeled)


def _sides(F: Matrix, Y: Matrix) -> Matrix:
    """+1 for the rows with the largest decision values, as large a share as among the labels, else −1."""
    sides = np.full_like(F, -1.0)
    for column, share in enumerate((Y > 0).mean(axis=0)):
        positive = np.argsort(-F[:, column], kind="stable")[: round(share * len(F))]
        sides[positive, column] = 1.0
    return sides


def _unit_range(x: Vector) -> Vector:
    return (x - x.min()) / (np.ptp(x) or 1.0)
