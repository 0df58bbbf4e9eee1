"""Simulated labelling: labels are hidden, strategies pick rows, and models trained on the rows' labels are scored.

A seed decides the split, `train_test_split(..., stratify=y, random_state=seed)`, the picks, `mheal.select(X[pool], n,
random_state=seed)`, and random states of the estimator that are None. A ranked strategy picks once, for the largest
budget; others pick for each budget. An adaptive strategy gets the rows labelled so far. From its `min_labels` on it
also gets their labels and the estimator fitted on them, if that has predict_proba or decision_function. A strategy that
needs labels starts with the picks of "random".
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from difflib import get_close_matches
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from ..api import select
from ..classes import as_classes, why_not_classes, with_one_row
from ..estimators import estimator_name, fit_model, for_pool, predict, resolve_estimator, single_threaded
from ..exceptions import UserError, UserTypeError, user_code
from ..frames import frame_pool
from ..scaling import Scaling, comparable
from ..strategies import get
from ..strategies.random import Random
from ..strategy import Strategy
from ..validation import as_array, as_whole, is_frame
from .curves import ALWAYS, Curves, Row

Rows = npt.NDArray[np.int64]
Scorer = Callable[[Any, Any, Any], float]
Strategies = Sequence[str | Strategy] | Mapping[str, str | Strategy]
NONE: Rows = np.empty(0, np.int64)


def simulate(
    X: Any, y: Any, strategies: Strategies, budgets: Iterable[int], estimator: Any = "logistic",
    seeds: int | Iterable[int] = 5, metric: Any = "accuracy", *, scaling: Scaling = "auto",
    test_size: float = 0.3, max_test: int = 5000, max_pool: int | None = None,
) -> Curves:  # fmt: skip
    """Learning curves of every strategy: a metric on held-out rows against the number of labels, for each seed.

    X : (rows, columns) of numbers, or a frame
    y : (rows,) their classes: integers, booleans or strings
    strategies : list of names or `Strategy` instances, or a dict whose keys name the curves
    budgets : numbers of labels
    estimator : the classifier that learns from the labels: a name such as "logistic" or "forest" (columns are scaled
        for these as for picking), "package.module:attribute", or any scikit-learn classifier or pipeline, to which
        X is passed unscaled. It is cloned for each fit. Labels of one class give a constant prediction.
    seeds : number of splits, or a list of their seeds
    metric : "accuracy", "balanced_accuracy", "f1_macro", the name of any scikit-learn scorer, or a callable
        scorer(estimator, X, y); larger is better
    scaling : scaling for the picks, as for `mheal.select`
    test_size, max_test : share of the rows to hold out, and the largest number of them
    max_pool : the largest number of rows in a pool; None: all rows that are not held out

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
    return Curves([row for unit in units for row in unit], as_metric(metric)[0])


def runs(
    X: Any, y: Any, strategies: Strategies, budgets: Iterable[int], estimator: Any = "logistic",
    seeds: int | Iterable[int] = 5, metric: Any = "accuracy", *, scaling: Scaling = "auto",
    test_size: float = 0.3, max_test: int = 5000, max_pool: int | None = None,
    done: Collection[tuple[str, int]] = frozenset(),
) -> Iterator[list[Row]]:  # fmt: skip
    """The rows of `simulate`, yielded as each (strategy, seed) is finished, without those in `done`.

    The rows depend only on the data, the options, the strategy and the seed, so an interrupted simulation can resume in
    any order. Invalid input raises an error at the call.
    """
    if is_frame(X):
        as_classes(y, n=len(X))
        X, _, _, y = frame_pool(X, "impute", None, y)
    X = as_array(X)
    comparable(X)  # refuses NaN and infinity by the row of X
    y = as_classes(y, n=len(X))
    model, named, measure = resolve_estimator(estimator), as_strategies(strategies), as_metric(metric)
    n_pool, n_test = split_sizes(y, test_size, max_test, max_pool)
    sizes, all_seeds = as_budgets(budgets, n_pool), as_seeds(seeds)
    called = estimator_name(estimator if isinstance(estimator, str) else model)

    def units() -> Iterator[list[Row]]:
        from sklearn.model_selection import train_test_split

        for seed in all_seeds:
            if not (todo := [name for name in named if (name, seed) not in done]):
                continue
            sides = dict(train_size=n_pool, test_size=n_test, stratify=y, random_state=seed)
            pool, test = train_test_split(np.arange(len(y)), **sides)
            hidden = _HiddenLabels(X[pool], y[pool], for_pool(model, X[pool]), scaling, seed)
            X_test, y_test = X[test], y[test]
            for name in todo:
                unit = dict(strategy=name, seed=seed, estimator=called)
                yield [
                    {**unit, "labels": labels, **_scores(fitted, X_test, y_test, *measure), "seconds": seconds}
                    for labels, fitted, seconds in hidden.steps(deepcopy(named[name]), sizes)  # runs are independent
                ]

    return units()


def _scores(model: Any, X: Any, y: npt.NDArray[Any], metric: str, scorer: Scorer | None) -> dict[str, float]:
    """By name: accuracy, balanced accuracy over the classes of y, the share of the largest class, and the metric."""
    correct = predict(model, X) == y
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    recall = np.bincount(codes, weights=correct) / counts
    found = dict(accuracy=float(correct.mean()), balanced_accuracy=float(recall.mean()))
    found |= dict(largest_class=float(counts.max() / len(y)))
    if scorer is not None:
        failure = f"metric {metric} cannot score {estimator_name(model)}"
        remedy = "choose another metric, or larger budgets"
        with single_threaded(model), user_code(failure, remedy):
            found[metric] = float(scorer(model, X, y))
        if not np.isfinite(found[metric]):
            raise UserError(f"{failure}, it gives {found[metric]}: {remedy}")
    return found


@dataclass(frozen=True, eq=False)
class _HiddenLabels:
    """A pool whose labels are revealed as rows are picked."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    estimator: Any
    scaling: Scaling
    seed: int

    def steps(self, strategy: Strategy, budgets: list[int]) -> Iterator[tuple[int, Any, float]]:
        """For each budget the number of labels, the model fitted on them, and the seconds spent picking."""
        labeled, model, total = NONE, None, 0.0
        if strategy.kind == "ranked":
            order, total = self.pick(strategy, budgets[-1])
        for budget in budgets:
            if strategy.kind == "ranked":
                labeled = order[:budget]
            elif strategy.kind == "one-shot":
                labeled, total = self.pick(strategy, budget)
            elif not len(labeled) and (strategy.needs_model or strategy.needs_labels):
                labeled, _ = self.pick(Random(), budget)
            else:
                picks, seconds = self.pick(strategy, budget - len(labeled), labeled, model)
                labeled, total = np.concatenate([labeled, picks]), total + seconds
            model = fit_model(self.estimator, self.seed, self.X[labeled], self.y[labeled])
            yield budget, model, total

    def pick(self, strategy: Strategy, n: int, labeled: Rows = NONE, model: Any = None) -> tuple[Rows, float]:
        """n further rows and the seconds taken. The strategy gets only the labels of the rows in `labeled`."""
        given: dict[str, Any] = dict(labeled=labeled, scaling=self.scaling, random_state=self.seed)
        if len(labeled) and (strategy.needs_model or len(labeled) >= strategy.min_labels):
            given["y"] = self.y[labeled]
            if hasattr(model, "predict_proba") or hasattr(model, "decision_function"):
                given["estimator"] = model
        start = perf_counter()
        rows = select(self.X, n, strategy=strategy, **given).indices
        seconds = perf_counter() - start
        if len(np.unique(rows)) != n or len(rows) != n or np.isin(rows, labeled).any():
            raise UserError(f"strategy {strategy.name} must pick {n} different unlabelled rows, got {len(rows)}")
        return rows, seconds


def as_metric(metric: Any) -> tuple[str, Scorer | None]:
    """The name of a metric, and its scorer (None if it is always measured), from a scorer or its name."""
    if metric in ALWAYS:
        return metric, None
    from sklearn.metrics import get_scorer, get_scorer_names

    if isinstance(metric, str):
        if metric not in get_scorer_names():
            near = get_close_matches(metric, get_scorer_names(), 1) or ALWAYS
            raise UserError(f"there is no metric {metric!r}: give the name of a scikit-learn scorer, such as {near[0]}")
        return metric, get_scorer(metric)
    if not callable(metric):
        raise UserTypeError(f"metric must be a scorer's name or a callable scorer(estimator, X, y), got {metric!r}")
    function = getattr(metric, "_score_func", metric)  # for scorers by make_scorer
    return getattr(function, "__name__", "score"), metric


def as_strategies(strategies: Strategies) -> dict[str, Strategy]:
    """Instances of the strategies, by the names of their curves."""
    if isinstance(strategies, str | Strategy):
        raise UserTypeError("strategies must be a list or dict of names or instances, such as ['mheal', 'random']")
    pairs = strategies.items() if isinstance(strategies, Mapping) else ((None, given) for given in strategies)
    named: dict[str, Strategy] = {}
    for title, given in pairs:
        strategy = get(given)() if isinstance(given, str) else given
        if not isinstance(strategy, Strategy):
            raise UserTypeError(f"{given!r} is neither the name of a strategy nor an instance of one")
        name = strategy.name if title is None else title
        if name in named:
            raise UserError(f"two strategies are called {name!r}: give a dict, whose keys name the curves")
        named[name] = strategy
    if not named:
        raise UserError("strategies is empty: name at least one")
    return named


def split_sizes(
    y: npt.NDArray[Any], test_size: float = 0.3, max_test: int = 5000, max_pool: int | None = None
) -> tuple[int, int]:
    """Rows in the pool and in the test set of every split of these labels."""
    classes = np.unique(y)
    if reason := why_not_classes(y):
        raise UserError(reason)
    if rare := with_one_row(y):
        raise UserError(f"{rare}: drop such rows, or merge classes")
    if not 0 < test_size < 1:
        raise UserError(f"test_size must be a share between 0 and 1, got {test_size!r}")
    test = min(ceil(test_size * len(y)), max_test)
    pool = len(y) - test if max_pool is None else min(len(y) - test, max_pool)
    if min(pool, test) < len(classes):
        remedy = "give more rows, or change test_size, max_test or max_pool"
        raise UserError(f"{pool} pool rows and {test} test rows cannot hold all {len(classes)} classes: {remedy}")
    return pool, test


def as_budgets(budgets: Iterable[int], available: int) -> list[int]:
    """Numbers of labels, ascending, each once."""
    listed = budgets if isinstance(budgets, Iterable) else [budgets]
    found = sorted({as_whole(budget, "a budget") for budget in listed})
    if not found or found[0] < 1:
        raise UserError(f"budgets must be one or more numbers of labels, each at least 1, got {found}")
    if found[-1] > available:
        raise UserError(f"budget {found[-1]} exceeds the pool of {available} rows: give at most {available}")
    return found


def as_seeds(seeds: int | Iterable[int]) -> list[int]:
    """The seeds listed, or the first n: 0, 1, …"""
    listed = seeds if isinstance(seeds, Iterable) else range(as_whole(seeds, "seeds"))
    listed = [as_whole(seed, "a seed") for seed in listed]
    if not listed or len(set(listed)) < len(listed) or min(listed) < 0 or max(listed) >= 2**32:
        raise UserError(f"seeds must be a positive number, or different ones between 0 and 2³² − 1, got {seeds!r}")
    return listed
