"""The arguments of a simulation, checked before anything runs."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from ..classes import why_not_classes
from ..exceptions import UserError, UserTypeError
from ..strategies import get
from ..strategy import Strategy


def as_strategies(strategies: Sequence[str | Strategy] | Mapping[str, str | Strategy]) -> dict[str, Strategy]:
    """Instances by the name of their curve."""
    if isinstance(strategies, str | Strategy):
        raise UserTypeError("strategies must be a list or dict of names or instances, such as ['mheal', 'random']")
    titles = list(strategies) if isinstance(strategies, Mapping) else None
    named: dict[str, Strategy] = {}
    for i, given in enumerate(strategies.values() if isinstance(strategies, Mapping) else strategies):
        strategy = get(given)() if isinstance(given, str) else given
        if not isinstance(strategy, Strategy):
            raise UserTypeError(f"{given!r} is neither the name of a strategy nor an instance of one")
        name = strategy.name if titles is None else titles[i]
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
