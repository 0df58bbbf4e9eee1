"""BatchBALD (Kirsch, van Amersfoort and Gal 2019): what the labels of a batch would tell about the model, together."""

import numpy as np
from scipy.special import entr

from ..runtime.threads import spans
from .bald import Bald
from .base import Pool, Rows
from .doubt import Scores, lowest, samples
from .mc_scores import expected_entropy, mutual_information

CONFIGURATIONS = 10_000  # labellings of the batch, with the class of one candidate, that are kept apart
CANDIDATES = 1000
BLOCK = 32  # candidates whose gains are brought up to date at once


class BatchBald(Bald):
    """Greedily the batch with the largest mutual information between its labels and the model, from `draws` of it.

    Only the 1,000 rows with the largest BALD score (four times the budget, if that is more) are candidates. The joint
    entropy is exact up to 10,000 labellings of the batch (4 rows of 10 classes, 13 of two) and sampled beyond.
    """

    name, title = "batchbald", "BatchBALD"
    summary = "As BALD, for batches: rows whose labels tell most about the model together, not each the same"
    cost = "as BALD, then time 10,000·1,000·draws at most for each pick"

    def _pick(self, pool: Pool, budget: int) -> Rows:
        rows = pool.unlabeled
        drawn = samples(pool, rows, self.draws)
        best = lowest(pool, np.arange(len(rows)), -self.score(drawn), max(CANDIDATES, 4 * budget))
        P = drawn[:, best].astype(np.float64)
        return rows[best[greedy(P, budget, pool.rng)]]


def greedy(P: Scores, budget: int, rng: np.random.Generator) -> Rows:
    """The order in which rows of P (draws, rows, classes) are taken; the first has the largest BALD score."""
    batch, residual = Labellings(P, rng), expected_entropy(P)
    gain = mutual_information(P)
    picked = [int(gain.argmax())]
    while len(picked) < budget:
        batch.add(picked[-1])
        gain[picked[-1]] = -np.inf
        best, open_rows = -np.inf, np.argsort(-gain, kind="stable")[: len(gain) - len(picked)]
        for lo, hi in spans(len(open_rows), BLOCK):
            rows = open_rows[lo:hi]
            if gain[rows[0]] <= best:  # gains only fall as the batch grows: an old one is a bound
                break
            gain[rows] = batch.conditional_entropy(rows) - residual[rows]
            best = max(best, gain[rows].max())
        picked.append(int(gain.argmax()))
    return np.array(picked)


class Labellings:
    """The ways in which the rows added so far may be labelled: all of them or, once they are too many, a sample.

    weight : how probable each is, (labellings)
    belief : how probable each draw of the model is after it, (labellings, draws)

    The joint entropy grows with each row by H(y | batch) = Σ weight · H[belief · p], by which candidates are compared.
    """

    def __init__(self, P: Scores, rng: np.random.Generator) -> None:
        self.P, self.rng = P, rng
        draws, _, self.classes = P.shape
        self.most, self.sampled = max(1, CONFIGURATIONS // self.classes), False
        self.weight, self.belief = np.ones(1), np.full((1, draws), 1 / draws)

    def conditional_entropy(self, rows: Rows) -> Scores:
        """H(y | labels of the batch) of each of these rows."""
        p = self.belief @ self.P[:, rows].reshape(len(self.P), -1)
        return (self.weight @ entr(p, out=p)).reshape(len(rows), self.classes).sum(axis=1)

    def add(self, row: int) -> None:
        """Label this row too: in every way or, once these are too many, by chance in each labelling."""
        self.sampled = self.sampled or len(self.weight) * self.classes > self.most
        if self.sampled:
            belief = self._by_chance(self.P[:, row])
        else:
            belief = (self.belief[:, None] * self.P[:, row].T).reshape(-1, len(self.P))
            self.weight = np.repeat(self.weight, self.classes) * belief.sum(axis=1)
            belief, self.weight = belief[self.weight > 0], self.weight[self.weight > 0]
        self.belief = belief / belief.sum(axis=1, keepdims=True)

    def _by_chance(self, p: Scores) -> Scores:
        even = (np.arange(self.most) + self.rng.random()) / self.most
        drawn = np.searchsorted(self.weight.cumsum()[:-1] / self.weight.sum(), even, side="right")
        self.weight = np.full(self.most, 1 / self.most)
        up_to = (self.belief[drawn] @ p).cumsum(axis=1)
        below = up_to[:, :-1] <= self.rng.random((self.most, 1)) * up_to[:, -1:]
        return self.belief[drawn] * p.T[below.sum(axis=1)]
