"""Simulated labelling: hide the labels, let each strategy buy some, train, and test what was learnt.

Each seed splits the rows by class into a pool and a test set. Columns are standardised with the pool's own
mean and deviation, which needs no labels. A strategy sees the pool's features and the labels it has bought.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from math import ceil
from operator import index
from time import perf_counter
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ..classes import as_classes
from ..estimators import MODELS, fit_model, predict
from ..exceptions import UserError, UserTypeError
from ..scaling import Scaling, comparable, on_sphere
from ..strategies import Pool, Strategy, get
from ..validation import as_pool
from .curves import Curves, Row

Rows = npt.NDArray[np.int64]
Step = tuple[Rows, Any, float]  # rows labelled so far, the model fitted on them, seconds spent selecting


def simulate(
    X: Any,
    y: Any,
    strategies: Sequence[str | Strategy],
    budgets: Iterable[int],
    model: str = "logistic",
    seeds: int | Iterable[int] = 5,
    *,
    test_size: float = 0.3,
    max_test: int = 5000,
    max_pool: int | None = None,
) -> Curves:
    """Learning curves of every strategy: accuracy on held-out rows against labels bought, one curve per seed.

    strategies : names or instances
    budgets : numbers of labels
    seeds : how many splits, or which
    test_size, max_test : this share of the rows is held out, but at most so many
    max_pool : at most so many of the other rows form the pool; None takes all

    >>> from sklearn.datasets import load_iris
    >>> curves = simulate(*load_iris(return_X_y=True), ["mheal", "random"], [5, 10], seeds=2)
    >>> curves.strategies, curves.budgets.tolist()
    (('mheal', 'random'), [5, 10])
    """
    units = runs(X, y, strategies, budgets, model, seeds, test_size=test_size, max_test=max_test, max_pool=max_pool)
    return Curves([row for unit in units for row in unit])


def runs(
    X: Any,
    y: Any,
    strategies: Sequence[str | Strategy],
    budgets: Iterable[int],
    model: str = "logistic",
    seeds: int | Iterable[int] = 5,
    *,
    test_size: float = 0.3,
    max_test: int = 5000,
    max_pool: int | None = None,
    done: Collection[tuple[str, int]] = frozenset(),
) -> Iterator[list[Row]]:
    """The rows of `simulate`, a (strategy, seed) at a time, as they are finished; those in `done` are left out.

    A unit's rows depend on nothing but the data, the budgets, its strategy and its seed: an interrupted
    simulation can be resumed, in any order. Bad input is refused at the call.
    """
    X = as_pool(X)
    comparable(X)  # refuses NaN and infinity by the row of X
    y = as_classes(y, n=len(X))
    if model not in MODELS:
        raise UserError(f"there is no model {model!r}: choose from {', '.join(MODELS)}")
    named = _named(strategies)
    sizes = split_sizes(y, test_size, max_test, max_pool)
    asked = _budgets(budgets, sizes[0])
    return _units(X, y, named, asked, model, _seeds(seeds), sizes, frozenset(done))


@dataclass(frozen=True)
class _Task:
    """One split: the pool, its hidden labels, and the test set."""

    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]
    model: str
    seed: int
    space: Scaling

    def pool(self, labeled: Rows, model: Any, rng: np.random.Generator) -> Pool:
        """What a strategy may see: no label but those of the rows bought."""
        return Pool(self.X, labeled, self.y[labeled], model, rng, self.space)

    def fit(self, labeled: Rows) -> Any:
        return fit_model(self.model, self.seed, self.X[labeled], self.y[labeled])

    def scores(self, model: Any) -> tuple[float, float]:
        """Accuracy, and its mean over the classes of the test set."""
        right = predict(model, self.X_test) == self.y_test
        classes, of = np.unique(self.y_test, return_inverse=True)
        recall = np.bincount(of, weights=right, minlength=len(classes)) / np.bincount(of)
        return float(right.mean()), float(recall.mean())


def _units(
    X: npt.NDArray[Any],
    y: npt.NDArray[Any],
    strategies: dict[str, Strategy],
    budgets: list[int],
    model: str,
    seeds: list[int],
    sizes: tuple[int, int],
    done: frozenset[tuple[str, int]],
) -> Iterator[list[Row]]:
    for seed in seeds:
        todo = [name for name in strategies if (name, seed) not in done]
        if todo:
            task = _split(X, y, sizes, model, seed)
        for name in todo:
            yield _unit(name, deepcopy(strategies[name]), task, budgets)  # a strategy must not remember other units


def _split(X: npt.NDArray[Any], y: npt.NDArray[Any], sizes: tuple[int, int], model: str, seed: int) -> _Task:
    from sklearn.model_selection import train_test_split

    n_pool, n_test = sizes
    rows = np.arange(len(y))
    pool, test = train_test_split(rows, train_size=n_pool, test_size=n_test, stratify=y, random_state=seed)
    mine = X[pool]
    points = comparable(mine)
    X_test = (X[test] - points.offset) * points.scale
    space: Scaling = "raw" if on_sphere(mine) else "auto"
    return _Task(points.array(), y[pool], X_test, y[test], model, seed, space)


def _unit(name: str, strategy: Strategy, task: _Task, budgets: list[int]) -> list[Row]:
    rows: list[Row] = []
    for labeled, model, seconds in _STEPS[strategy.kind](name, strategy, task, budgets):
        accuracy, balanced = task.scores(model)
        rows.append(
            Row(
                strategy=name,
                seed=task.seed,
                model=task.model,
                labels=len(labeled),
                accuracy=accuracy,
                balanced_accuracy=balanced,
                seconds=seconds,
            )
        )
    return rows


def _ranked(name: str, strategy: Strategy, task: _Task, budgets: list[int]) -> Iterator[Step]:
    """One call serves all budgets: each takes the first picks."""
    picks, seconds = _ask(name, strategy, task.pool(_NONE, None, _rng(task, name)), budgets[-1])
    for budget in budgets:
        yield picks[:budget], task.fit(picks[:budget]), seconds


def _one_shot(name: str, strategy: Strategy, task: _Task, budgets: list[int]) -> Iterator[Step]:
    """A call per budget, each from nothing and from the same state of chance."""
    for budget in budgets:
        picks, seconds = _ask(name, strategy, task.pool(_NONE, None, _rng(task, name)), budget)
        yield picks, task.fit(picks), seconds


def _adaptive(name: str, strategy: Strategy, task: _Task, budgets: list[int]) -> Iterator[Step]:
    """Rounds: what is missing to the next budget is picked with the labels and the model there are."""
    rng, labeled, model, seconds = _rng(task, name), _NONE, None, 0.0
    for budget in budgets:
        blind = (strategy.needs_model or strategy.needs_labels) and not len(labeled)
        if blind:  # at random: the same rows for every such strategy
            labeled = np.random.default_rng(task.seed).permutation(len(task.X))[:budget]
        else:
            picks, spent = _ask(name, strategy, task.pool(labeled, model, rng), budget - len(labeled))
            labeled, seconds = np.concatenate([labeled, picks]), seconds + spent
        model = task.fit(labeled)
        yield labeled, model, seconds


_STEPS = {"ranked": _ranked, "one-shot": _one_shot, "adaptive": _adaptive}
_NONE: Rows = np.empty(0, np.int64)


def _rng(task: _Task, name: str) -> np.random.Generator:
    """The unit's own source of chance."""
    return np.random.default_rng(np.random.SeedSequence((task.seed, crc32(name.encode()))))


def _ask(name: str, strategy: Strategy, pool: Pool, budget: int) -> tuple[Rows, float]:
    start = perf_counter()
    picks = strategy.select(pool, budget).indices
    seconds = perf_counter() - start
    if len(np.unique(picks)) != budget or len(picks) != budget or np.isin(picks, pool.labeled).any():
        raise UserError(f"strategy {name} was asked for {budget} new rows, but repeated some or gave {len(picks)}")
    return picks, seconds


def _named(strategies: Sequence[str | Strategy]) -> dict[str, Strategy]:
    if isinstance(strategies, str | Strategy):
        raise UserTypeError("strategies must be a list of names or instances, such as ['mheal', 'random']")
    named: dict[str, Strategy] = {}
    for given in strategies:
        strategy = get(given)() if isinstance(given, str) else given
        if not isinstance(strategy, Strategy):
            raise UserTypeError(f"{given!r} is neither the name of a strategy nor an instance of one")
        if strategy.name in named:
            raise UserError(f"two strategies are called {strategy.name!r}: set another name on one of them")
        named[strategy.name] = strategy
    if not named:
        raise UserError("strategies is empty: name at least one")
    return named


def split_sizes(
    y: npt.NDArray[Any], test_size: float = 0.3, max_test: int = 5000, max_pool: int | None = None
) -> tuple[int, int]:
    """Rows in the pool and in the test set of every split of these labels."""
    classes, counts = np.unique(y, return_counts=True)
    if counts.min() < 2:
        raise UserError(f"class {classes[counts.argmin()].item()!r} has 1 row only: drop it or merge it with another")
    if len(classes) < 2:
        raise UserError(f"all labels are {classes[0].item()!r}: there is nothing to learn from one class")
    if not 0 < test_size < 1:
        raise UserError(f"test_size must be a share between 0 and 1, got {test_size!r}")
    test = min(ceil(test_size * len(y)), max_test)
    pool = len(y) - test if max_pool is None else min(len(y) - test, max_pool)
    if min(pool, test) < len(classes):
        raise UserError(
            f"{pool} pool rows and {test} test rows cannot hold all {len(classes)} classes: give more rows, or "
            "change test_size, max_test or max_pool"
        )
    return pool, test


def _budgets(budgets: Iterable[int], available: int) -> list[int]:
    asked = sorted({_whole(budget, "a budget") for budget in budgets})
    if not asked:
        raise UserError("budgets is empty: give at least one number of labels")
    if asked[0] < 1:
        raise UserError(f"budgets must be at least 1, got {asked[0]}")
    if asked[-1] > available:
        raise UserError(f"budget {asked[-1]} exceeds the pool of {available} rows: ask for at most {available}")
    return asked


def _seeds(seeds: int | Iterable[int]) -> list[int]:
    listed = [_whole(s, "a seed") for s in (seeds if isinstance(seeds, Iterable) else range(_whole(seeds, "seeds")))]
    if not listed or len(set(listed)) < len(listed):
        raise UserError(f"seeds must be a positive number or a list without repetitions, got {seeds!r}")
    if min(listed) < 0 or max(listed) >= 2**32:
        raise UserError(f"seeds must lie between 0 and 2³² − 1, got {seeds!r}")
    return listed


def _whole(value: Any, what: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise UserTypeError(f"{what} must be a whole number, got {value!r}") from None
