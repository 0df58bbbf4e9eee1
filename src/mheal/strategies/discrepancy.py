"""What SPAL and ALDR+ share: one-vs-rest targets, a kernel, and how badly rows are represented (as in BMDR)."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..uncertainty import margins
from .base import Pool, Rows
from .distances import sample, squared_distances

SUBSET = 2000  # at most this many labelled rows, and this many candidates, both sampled

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scene:
    """The rows that take part, their kernel exp(−‖x − y‖²/d) on standardised columns, and the targets.

    d is the number of columns: then a typical exponent is −2, whatever the data.
    """

    candidates: Rows  # rows of X
    Y: Matrix  # ±1 for each labelled row (rows) and class (columns); one column for two classes
    LL: Matrix  # kernel between labelled rows
    UL: Matrix  # between candidates and labelled rows
    UU: Matrix  # between candidates

    @classmethod
    def of(cls, pool: Pool) -> "Scene":
        """Of all rows of a small pool, of samples of a large one."""
        at = sample(np.arange(len(pool.labeled)), SUBSET, pool.rng)
        candidates = sample(pool.unlabeled, SUBSET, pool.rng)
        L, U = (pool.Z[rows].astype(np.float64) for rows in (pool.labeled[at], candidates))
        LL, UL, UU = (np.exp(squared_distances(A, B) / -A.shape[1]) for A, B in ((L, L), (U, L), (U, U)))
        return cls(candidates, targets(pool.labels[at]), LL, UL, UU)

    def represented(self, batch: int, picked: Rows | None = None) -> npt.NDArray[np.float64]:
        """How much each candidate resembles labelled rows minus how much it resembles the others: small is good.

        The linear term of the maximum mean discrepancy between the pool and labelled rows plus a batch. `picked`
        candidates count as labelled.
        """
        picked = np.empty(0, np.int64) if picked is None else picked
        near = self.UU[:, picked].sum(axis=1)
        l, u = self.UL.shape[1] + len(picked), len(self.UU) - len(picked)
        to_labeled, to_others = self.UL.sum(axis=1) + near, self.UU.sum(axis=1) - near
        return ((u - batch) * to_labeled - (l + batch) * to_others) / (l + u)


def targets(labels: npt.NDArray[np.generic]) -> Matrix:
    """One-vs-rest: +1 for the row's own class, −1 for the others; a single column where there are two classes."""
    classes = np.unique(labels)
    Y = np.where(labels[:, None] == classes, 1.0, -1.0)
    return Y[:, 1:] if len(classes) == 2 else Y


def uncertainty(F: Matrix) -> npt.NDArray[np.float64]:
    """f² + 2|f|, the worst the row's label could do (but for a constant); f is half the margin of several classes."""
    f = np.abs(F[:, 0]) if F.shape[1] == 1 else margins(F) / 2
    return f**2 + 2 * f
