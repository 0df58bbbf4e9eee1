"""ALDR+ (Gu et al. 2021), reconstructed from what its abstract says."""

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from .base import Pool, Rows, Strategy
from .coreset import complete
from .discrepancy import Matrix, Scene, uncertainty

ROUNDS = 10
RIDGE = 0.1


class Aldr(Strategy):
    """A semi-supervised classifier trained on labelled and unlabelled rows, then uncertain and representative rows.

    The full text was not available; this is our reading. The classifier is kernel ridge regression, one-vs-rest, in
    which each unlabelled row counts `unlabeled_weight` and is pulled to the side it is on, in the classes'
    proportions among the labels, until sides stop changing. Uncertainty f² + 2|f| (with several classes f is half the
    margin) and representativeness, both scaled to [0, 1], are weighed by `beta`; a batch is picked one by one.
    At most 2,000 candidates, sampled, take part.
    """

    name, title = "aldr", "ALDR+ (reconstructed)"
    summary = "Uncertain and representative rows by a semi-supervised classifier; our reading of an abstract"
    cost = "time 4,000³, memory 4,000²"
    kind = "adaptive"
    needs_labels = True

    def __init__(self, beta: float = 0.5, unlabeled_weight: float = 0.1) -> None:
        self.beta = beta
        self.unlabeled_weight = unlabeled_weight

    def _pick(self, pool: Pool, budget: int) -> Rows:
        scene = Scene.of(pool)
        doubt = _unit_range(uncertainty(semi_supervised(scene, self.unlabeled_weight)))
        picked: list[int] = []
        for _ in range(min(budget, len(scene.candidates))):
            represented = _unit_range(scene.represented(1, np.array(picked, np.int64)))
            score = (1 - self.beta) * doubt + self.beta * represented
            score[picked] = np.inf
            picked.append(int(score.argmin()))
        return complete(pool, scene.candidates[picked], budget)


def semi_supervised(scene: Scene, unlabeled_weight: float) -> Matrix:
    """Decision values of the candidates, a column for each class (one for two classes)."""
    if unlabeled_weight == 0:
        return scene.UL @ np.linalg.solve(scene.LL + RIDGE * np.eye(len(scene.LL)), scene.Y)
    l, u = len(scene.LL), len(scene.UU)
    K = np.block([[scene.LL, scene.UL.T], [scene.UL, scene.UU]])
    ridge = np.concatenate([np.full(l, RIDGE), np.full(u, RIDGE / unlabeled_weight)])
    factor = cho_factor(K + np.diag(ridge))
    F = semi_supervised(scene, 0)
    sides = np.zeros_like(F)
    for _ in range(ROUNDS):
        last, sides = sides, _sides(F, scene.Y)
        if np.array_equal(sides, last):
            break
        F = K[l:] @ cho_solve(factor, np.vstack([scene.Y, sides]))
    return F


def _sides(F: Matrix, Y: Matrix) -> Matrix:
    """+1 for the rows with the largest decision values, as large a share as of the labels, else −1."""
    sides = np.full_like(F, -1.0)
    for column, share in enumerate((Y > 0).mean(axis=0)):
        positive = np.argsort(-F[:, column], kind="stable")[: round(share * len(F))]
        sides[positive, column] = 1.0
    return sides


def _unit_range(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return (x - x.min()) / (np.ptp(x) or 1.0)
