"""BatchBALD: the batch whose labels, taken together, tell most about the model."""

import numpy as np
from scipy.special import entr

from ..parameters import COUNT
from ..runtime.threads import spans
from ..strategy import Pool, Rows
from .bayesian import BALD, Scores, expected_entropy, mutual_information, sampled_probabilities
from .common import smallest_first

CONFIGURATIONS = 10_000  # joint labellings of the batch and one candidate that are kept apart
BLOCK = 32  # candidates whose gains are updated together


class BatchBALD(BALD):
    """Greedily the batch with the largest mutual information between its labels and the model's weights.

    Proposed by Kirsch, van Amersfoort and Gal (2019). The joint entropy is exact up to 10,000 labellings of the
    batch (4 rows of 10 classes, 13 rows of two) and estimated from a sample of labellings beyond.

    Parameters
    ----------
    draws : int
        As in BALD.
    max_candidates : int
        Only so many rows with the largest BALD score (or four times the picks, if that is more) are considered.
    """

    name, title = "batchbald", "BatchBALD"
    summary = "BALD for batches: rows whose labels tell most about the model together; for small batches"
    cost = "as BALD, then time 10,000·1,000·samples at most for each pick"
    _parameter_constraints = {"draws": COUNT, "max_candidates": COUNT}

    def __init__(self, draws: int = 20, max_candidates: int = 1000) -> None:
        super().__init__(draws)
        self.max_candidates = max_candidates

    def _pick(self, pool: Pool, n: int) -> Rows:
        rows = pool.unlabeled
        P = sampled_probabilities(pool, rows, self.draws)
        best = smallest_first(pool, np.arange(len(rows)), -self.score(P), max(self.max_candidates, 4 * n))
        return rows[best[greedy(P[:, best].astype(np.float64), n, pool.rng)]]


def greedy(P: Scores, n: int, rng: np.random.Generator, *, block: int = BLOCK) -> Rows:
    """The order in which `n` rows of P, (samples, rows, classes), join the batch."""
    batch, residual = Labellings(P, rng), expected_entropy(P)
    gain = mutual_information(P)
    picked = [int(gain.argmax())]
    while len(picked) < n:
        batch.add(picked[-1])
        gain[picked[-1]] = -np.inf
        best, order = -np.inf, np.argsort(-gain, kind="stable")[: len(gain) - len(picked)]
        for lo, hi in spans(len(order), block):
            rows = order[lo:hi]
            if gain[rows[0]] <= best:  # gains only fall as the batch grows: an old one is an upper bound
                break
            gain[rows] = batch.conditional_entropy(rows) - residual[rows]
            best = max(best, gain[rows].max())
        picked.append(int(gain.argmax()))
    return np.array(picked)


class Labellings:
    """Joint labellings of the batch: all of them or, once there are too many, a sample.

    The joint entropy grows with each row by H(y | batch) = Σ weight · H[belief · p], which ranks the candidates.

    Attributes
    ----------
    weight : probability of each labelling, (labellings,)
    belief : posterior of the samples of the weights under each labelling, (labellings, samples)
    """

    def __init__(self, P: Scores, rng: np.random.Generator, *, configurations: int = CONFIGURATIONS) -> None:
        self.P, self.rng = P, rng
        draws, _, self.classes = P.shape
        self.most, self.sampled = max(1, configurations // self.classes), False
        self.weight, self.belief = np.ones(1), np.full((1, draws), 1 / draws)

    def conditional_entropy(self, rows: Rows) -> Scores:
        """H(y | labels of the batch) of each of these rows."""
        p = self.belief @ self.P[:, rows].reshape(len(self.P), -1)
        return (self.weight @ entr(p, out=p)).reshape(len(rows), self.classes).sum(axis=1)

    def add(self, row: int) -> None:
        """Extend every labelling by each class of this row or, once there are too many, by one random class."""
        self.sampled = self.sampled or len(self.weight) * self.classes > self.most
        if self.sampled:
            belief = self._with_random_class(self.P[:, row])
        else:
            belief = (self.belief[:, None] * self.P[:, row].T).reshape(-1, len(self.P))
            self.weight = np.repeat(self.weight, self.classes) * belief.sum(axis=1)
            belief, self.weight = belief[self.weight > 0], self.weight[self.weight > 0]
        self.belief = belief / belief.sum(axis=1, keepdims=True)

    def _with_random_class(self, p: Scores) -> Scores:
        even = (np.arange(self.most) + self.rng.random()) / self.most
        at = np.searchsorted(self.weight.cumsum()[:-1] / self.weight.sum(), even, side="right")
        self.weight = np.full(self.most, 1 / self.most)
        cumulative = (self.belief[at] @ p).cumsum(axis=1)
        below = cumulative[:, :-1] <= self.rng.random((self.most, 1)) * cumulative[:, -1:]
        return self.belief[at] * p.T[below.sum(axis=1)]
