"""The contract every strategy keeps: it sees a pool, and what has been bought of its labels, and picks rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator

from ..backends.cpu.points import Points
from ..exceptions import UserError
from ..runtime.threads import single_threaded_blas
from ..scaling import Space, comparable
from ..selection import Selection
from ..validation import as_budget, as_labeled, as_pool

Rows = npt.NDArray[np.int64]
Kind = Literal["ranked", "one-shot", "adaptive"]


@dataclass(frozen=True)
class Pool:
    """What a strategy may see: every row's features, and the labels that have been paid for.

    X : (rows, columns), dense, finite
    labeled : rows of X whose labels are known, in the order they were bought
    labels : the labels of those rows, in the same order
    model : a classifier fitted on them, with predict_proba or decision_function; None where there is none yet
    rng : the strategy's only source of chance
    space : what distances are measured on: X with columns of mean 0 and standard deviation 1 ("standard"), X as it is
        ("raw"), or "auto": as it is, but for one factor, where rows have unit length, else standard

    A model may know rows by their numbers: a network that reads images, while X holds vectors made of them. It has
    `classes_` and any of these methods, which are then asked instead of those that take features:

    - row_proba(rows): class probabilities, (rows, classes)
    - row_decision(rows): decision values, (rows, classes)
    - row_samples(rows, n, rng): probabilities under n draws of the model's weights, (n, rows, classes); a draw is the
      same for all rows, as with one dropout mask for the whole pool
    - row_embedding(rows): what its last, linear layer sees, (rows, width)
    """

    X: npt.NDArray[Any]
    labeled: Rows = field(default_factory=lambda: np.empty(0, np.int64))
    labels: npt.NDArray[Any] = field(default_factory=lambda: np.empty(0, np.int64))
    model: Any = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    space: Space = "auto"

    def __post_init__(self) -> None:
        object.__setattr__(self, "labeled", as_labeled(self.labeled, len(self.X)))
        object.__setattr__(self, "labels", np.asarray(self.labels))
        if len(self.labels) not in (0, len(self.labeled)):
            raise UserError(f"there are {len(self.labels)} labels for {len(self.labeled)} labelled rows")

    @property
    def unlabeled(self) -> Rows:
        """Rows of X that can still be picked, ascending."""
        free = np.ones(len(self.X), bool)
        free[self.labeled] = False
        return np.flatnonzero(free)

    @cached_property
    def Z(self) -> npt.NDArray[Any]:
        """What distances are measured on, see `space`; constant columns become 0 in standard space."""
        X = as_pool(self.X)
        if self.space == "raw":
            return X
        return (Points.standardized(X) if self.space == "standard" else comparable(X)).array()


class Strategy(BaseEstimator, ABC):
    """A way to pick rows of X. Subclasses set the class attributes and write `_pick`; parameters go in __init__.

    kind says how smaller budgets relate to larger ones:
      "ranked"    picks for a budget are the first picks of any larger one: ask once
      "one-shot"  needs no labels, but each budget has its own picks: ask once per budget
      "adaptive"  looks at the labels bought so far (and at the model, if needs_model): ask in rounds
    """

    name: ClassVar[str]
    title: ClassVar[str]  # as it reads in a table
    summary: ClassVar[str]  # what it does and when to use it, one line
    cost: ClassVar[str]  # time and memory, one line
    kind: ClassVar[Kind] = "ranked"
    needs_model: ClassVar[bool] = False
    needs_labels: ClassVar[bool] = False  # reads pool.labels, not only where the labelled rows are
    needs_torch: ClassVar[bool] = False  # trains a network of its own

    def select(self, pool: Pool, budget: int) -> Selection:
        """`budget` rows of pool.X that are not labelled yet, best first."""
        budget = as_budget(budget, len(pool.X) - len(pool.labeled))
        if self.needs_model and pool.model is None:
            raise UserError(f"{self.name} ranks rows by a model's doubt: fit one on a few labels first")
        if self.needs_labels and len(pool.labels) == 0:
            raise UserError(f"{self.name} learns from labels: label a few rows first, picked at random or by mheal")
        with single_threaded_blas():  # the order of sums, and so of near ties, must not depend on the machine
            picked = self._pick(pool, budget)
        return picked if isinstance(picked, Selection) else _unexplained(picked)

    @abstractmethod
    def _pick(self, pool: Pool, budget: int) -> Selection | Rows:
        """The picks, as row numbers or as a Selection that explains them. Budget and pool are good."""


def _unexplained(rows: Rows) -> Selection:
    """A Selection from a strategy that has neither clusters nor distances to report."""
    unknown = np.full(len(rows), np.nan)
    return Selection(rows, np.full(len(rows), -1), unknown, unknown)
