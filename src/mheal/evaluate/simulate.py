"""Simulated labelling: hide the labels of a data set, let each strategy pick rows to label, fit, and score.

Seed s decides everything that is random about a (strategy, seed) unit:

- the split into a pool and a test set is `train_test_split(..., stratify=y, random_state=s)`;
- every pick is `mheal.select(X[pool], n, strategy=..., random_state=s)`: of a ranked strategy one call for the largest
  budget, of a one-shot strategy one call for each budget, of an adaptive strategy one call for each budget, with the
  rows labelled so far and, from the strategy's `min_labels` on, their labels and the estimator fitted on them (without
  predict_proba or decision_function it is left out, and the strategy fits its default estimator);
- an adaptive strategy that needs labels starts with the picks of "random", the same for all such strategies;
- random states of the estimator that are None are set to s.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..api import select
from ..classes import as_classes
from ..estimators import estimator_name, fit_model, for_pool, resolve_estimator
from ..scaling import Scaling, comparable
from ..strategies.random import Random
from ..strategy import Strategy
from ..validation import as_array
from .checks import as_budgets, as_seeds, as_strategies, split_sizes
from .curves import Curves, Row
from .metrics import Metric, as_metric, scores

Rows = npt.NDArray[np.int64]
Step = tuple[Rows, Any, float]  # rows labelled so far, the model fitted on them, seconds spent picking
NONE: Rows = np.empty(0, np.int64)


def simulate(
    X: Any,
    y: Any,
    strategies: Sequence[str | Strategy] | Mapping[str, str | Strategy],
    budgets: Iterable[int],
    estimator: Any = "logistic",
    seeds: int | Iterable[int] = 5,
    metric: Any = "accuracy",
    *,
    scaling: Scaling = "auto",
    test_size: float = 0.3,
    max_test: int = 5000,
    max_pool: int | None = None,
) -> Curves:
    """Learning curves of every strategy: a metric on held-out rows against the number of labels, for each seed.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    y : their classes: integers, booleans or strings
    strategies : list of names or `Strategy` instances, or dict
        The keys of a dict name the curves.
    budgets : numbers of labels
    estimator : str or classifier
        The classifier that learns from the labels: "logistic", "svm", "knn", "forest", "logistic+knn" (columns are
        scaled for these as for picking), "package.module:attribute", or any scikit-learn classifier or pipeline. It
        is cloned for each fit and sees the columns as they are in X. Labels of one class give a constant prediction.
    seeds : int or list of int
        Number of splits, or their seeds.
    metric : str or callable
        "accuracy", "balanced_accuracy", "f1_macro", the name of any scikit-learn scorer, or a callable
        scorer(estimator, X, y); larger is better.
    scaling : scaling for the picks, as for `mheal.select`
    test_size, max_test : this share of the rows is held out, but at most so many
    max_pool : at most so many of the other rows form the pool; None takes all

    Returns
    -------
    Curves

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> curves = simulate(*load_iris(return_X_y=True), ["mheal", "random"], [5, 10], seeds=2)
    >>> curves.strategies, curves.budgets.tolist()
    (('mheal', 'random'), [5, 10])
    """
    units = runs(
        X, y, strategies, budgets, estimator, seeds, metric,
        scaling=scaling, test_size=test_size, max_test=max_test, max_pool=max_pool,
    )  # fmt: skip
    return Curves([row for unit in units for row in unit], as_metric(metric).name)


def runs(
    X: Any,
    y: Any,
    strategies: Sequence[str | Strategy] | Mapping[str, str | Strategy],
    budgets: Iterable[int],
    estimator: Any = "logistic",
    seeds: int | Iterable[int] = 5,
    metric: Any = "accuracy",
    *,
    scaling: Scaling = "auto",
    test_size: float = 0.3,
    max_test: int = 5000,
    max_pool: int | None = None,
    done: Collection[tuple[str, int]] = frozenset(),
) -> Iterator[list[Row]]:
    """The rows of `simulate` for one (strategy, seed) after another, as they are finished, without those in `done`.

    The rows of a unit depend on the data, the options, the strategy and the seed alone: an interrupted simulation can
    be resumed in any order. Bad input is refused at the call.
    """
    X = as_array(X)
    comparable(X)  # refuses NaN and infinity by the row of X
    y = as_classes(y, n=len(X))
    model, named = resolve_estimator(estimator), as_strategies(strategies)
    name = estimator_name(estimator if isinstance(estimator, str) else model)
    sizes = split_sizes(y, test_size, max_test, max_pool)
    task = _Task(X, y, sizes, model, name, as_metric(metric), scaling, as_budgets(budgets, sizes[0]))
    return _units(task, named, as_seeds(seeds), frozenset(done))


@dataclass(frozen=True, eq=False)
class _Task:
    """What all units share."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    sizes: tuple[int, int]  # rows of the pool, of the test set
    estimator: Any
    estimator_name: str
    metric: Metric
    scaling: Scaling
    budgets: list[int]


def _units(
    task: _Task, strategies: dict[str, Strategy], seeds: list[int], done: frozenset[tuple[str, int]]
) -> Iterator[list[Row]]:
    for seed in seeds:
        todo = [name for name in strategies if (name, seed) not in done]
        if todo:
            split = _Split.of(task, seed)
        for name in todo:
            strategy = deepcopy(strategies[name])  # a strategy must not remember other units
            yield [
                dict(strategy=name, seed=seed, estimator=task.estimator_name, labels=len(labeled))
                | scores(model, split.X_test, split.y_test, task.metric)
                | dict(seconds=seconds)
                for labeled, model, seconds in split.steps(strategy, task.budgets)
            ]


@dataclass(frozen=True, eq=False)
class _Split:
    """One split: the pool, its hidden labels, and the test set."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]
    estimator: Any
    scaling: Scaling
    seed: int

    @classmethod
    def of(cls, task: _Task, seed: int) -> "_Split":
        from sklearn.model_selection import train_test_split

        n_pool, n_test = task.sizes
        pool, test = train_test_split(
            np.arange(len(task.y)), train_size=n_pool, test_size=n_test, stratify=task.y, random_state=seed
        )
        X, y = task.X, task.y
        estimator = for_pool(task.estimator, X[pool])
        return cls(X[pool], y[pool], X[test], y[test], estimator, task.scaling, seed)

    def steps(self, strategy: Strategy, budgets: list[int]) -> Iterator[Step]:
        """What is labelled at each budget, and the model fitted on it."""
        if strategy.kind == "ranked":
            picks, seconds = self.pick(strategy, budgets[-1])
            for budget in budgets:
                yield picks[:budget], self.fit(picks[:budget]), seconds
        elif strategy.kind == "one-shot":
            for budget in budgets:
                picks, seconds = self.pick(strategy, budget)
                yield picks, self.fit(picks), seconds
        else:
            yield from self.rounds(strategy, budgets)

    def rounds(self, strategy: Strategy, budgets: list[int]) -> Iterator[Step]:
        """Rounds of an adaptive strategy: each picks what is missing to the next budget."""
        labeled, model, total = NONE, None, 0.0
        for budget in budgets:
            if not len(labeled) and (strategy.needs_model or strategy.needs_labels):
                labeled, _ = self.pick(Random(), budget)
            else:
                picks, seconds = self.pick(strategy, budget - len(labeled), labeled, model)
                labeled, total = np.concatenate([labeled, picks]), total + seconds
            model = self.fit(labeled)
            yield labeled, model, total

    def pick(self, strategy: Strategy, n: int, labeled: Rows = NONE, model: Any = None) -> tuple[Rows, float]:
        """n further rows and the seconds it took; the strategy sees no label but those of the rows in `labeled`."""
        given: dict[str, Any] = {}
        if len(labeled) and (strategy.needs_model or len(labeled) >= strategy.min_labels):
            given["y"] = self.y[labeled]
            if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
                given["estimator"] = model
        start = perf_counter()
        rows = select(
            self.X, n, strategy=strategy, labeled=labeled, scaling=self.scaling, random_state=self.seed, **given
        ).indices
        seconds = perf_counter() - start
        if len(np.unique(rows)) != n or len(rows) != n or np.isin(rows, labeled).any():
            raise ValueError(f"strategy {strategy.name} must pick {n} different unlabelled rows, got {len(rows)}")
        return rows, seconds

    def fit(self, labeled: Rows) -> Any:
        return fit_model(self.estimator, self.seed, self.X[labeled], self.y[labeled])
