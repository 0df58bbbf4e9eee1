"""The arguments of a simulation, checked before anything runs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from math import ceil
from operator import index
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..classes import why_not_classes
from ..exceptions import UserError, UserTypeError
from ..strategies import get
from ..strategy import Strategy

Strategies = Sequence[str | Strategy] | Mapping[str, str | Strategy]
ALWAYS = ("accuracy", "balanced_accuracy")  # measured whatever the metric


class Metric(NamedTuple):
    """The metric's name, and what computes it; None for those that are always measured."""

    name: str
    scorer: Callable[[Any, Any, Any], float] | None


def as_metric(metric: Any) -> Metric:
    """The metric of a scorer's name, or of a callable scorer(estimator, X, y) whose larger values are better."""
    if metric in ALWAYS:
        return Metric(metric, None)
    from sklearn.metrics import get_scorer, get_scorer_names

    if isinstance(metric, str):
        if metric not in get_scorer_names():
            near = get_close_matches(metric, get_scorer_names(), 1) or ALWAYS
            raise UserError(f"there is no metric {metric!r}: give the name of a scikit-learn scorer, such as {near[0]}")
        return Metric(metric, get_scorer(metric))
    if not callable(metric):
        raise UserTypeError(f"metric must be a scorer's name or a callable scorer(estimator, X, y), got {metric!r}")
    function = getattr(metric, "_score_func", metric)  # of a scorer that make_scorer made
    return Metric(getattr(function, "__name__", "score"), metric)


def as_strategies(strategies: Strategies) -> dict[str, Strategy]:
    """Instances by the name of their curve."""
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
    classes, counts = np.unique(y, return_counts=True)
    if reason := why_not_classes(y):
        raise UserError(reason)
    if counts.min() < 2:
        raise UserError(f"class {classes[counts.argmin()].item()!r} has 1 row only: drop it or merge it with another")
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


def as_budgets(budgets: Iterable[int], available: int) -> list[int]:
    """Numbers of labels, ascending, each once."""
    found = sorted({_whole(budget, "a budget") for budget in budgets})
    if not found:
        raise UserError("budgets is empty: give at least one number of labels")
    if found[0] < 1:
        raise UserError(f"budgets must be at least 1, got {found[0]}")
    if found[-1] > available:
        raise UserError(f"budget {found[-1]} exceeds the pool of {available} rows: ask for at most {available}")
    return found


def as_seeds(seeds: int | Iterable[int]) -> list[int]:
    """The seeds listed, or 0, 1, … so many."""
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
