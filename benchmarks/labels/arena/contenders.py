"""The methods of the arena: every strategy of mheal, those of scikit-activeml that are affordable, and trial variants.

A method gives the rows of the pool that have labels at each budget. Methods that learn from labels pick in rounds, from
one budget to the next.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from common import fitted
from variants import VARIANTS

import mheal
from mheal.scaling import comparable

Picks = Iterator[Any]
COLD = (
    "random", "mheal", "kmedoids", "kmeans", "maxherding", "support-points", "typiclust", "coreset", "probcover", "ted",
    "hierarchical", "mheal-paper",
)  # fmt: skip
ROUNDS = (
    "mheal with labels", "mheal with a model", "margin", "badge", "uherding", "entropy", "least-confidence", "qbc",
    "gen", "aldr", "spal", "stratified",
)  # fmt: skip
OTHERS = {f"{name} (scikit-activeml)": name for name in ("TypiClust", "ProbCover", "CoreSet")}
NAMES = (*COLD, *ROUNDS, *OTHERS, *VARIANTS)
GROUPS = {"cold": COLD, "rounds": ROUNDS, "others": tuple(OTHERS), "variants": tuple(VARIANTS)}
INFORMED = frozenset({"kmedoids", "kmeans", "typiclust", "mheal-paper", "TypiClust (scikit-activeml)"})  # of the budget
NO_ESTIMATOR = frozenset({"qbc", "aldr", "spal", "stratified", "mheal with labels"})


def labelled(method: str, X: Any, y: Any, budgets: Sequence[int], seed: int) -> Picks:
    """The labelled rows at each budget."""
    if method in VARIANTS:
        picks = VARIANTS[method](comparable(X).array(), budgets[-1], np.random.default_rng(seed))
        return (picks[:n] for n in budgets)
    if method in OTHERS:
        return (_of_activeml(OTHERS[method], X, y, n, seed) for n in budgets)
    if method in ROUNDS:
        return _in_rounds(method, X, y, budgets, seed)
    return _without_labels(method, X, budgets, seed)


def _without_labels(method: str, X: Any, budgets: Sequence[int], seed: int) -> Picks:
    strategy = mheal.strategies.get(method)

    def pick(n: int) -> Any:
        return mheal.select(X, n, strategy=strategy(), random_state=seed).indices

    if strategy.kind == "one-shot":
        return (pick(n) for n in budgets)
    picks = pick(budgets[-1])
    return (picks[:n] for n in budgets)


def _in_rounds(method: str, X: Any, y: Any, budgets: Sequence[int], seed: int) -> Picks:
    strategy = mheal.strategies.get(method.split(" with ")[0])
    rows = np.empty(0, np.int64)
    for n in budgets:
        if not len(rows):
            alone = strategy.needs_model or strategy.needs_labels
            rows = np.random.default_rng(seed).permutation(len(X))[:n] if alone else _first(strategy, X, n, seed)
        else:
            given: dict[str, Any] = {"labeled": rows, "y": y[rows]}
            if method not in NO_ESTIMATOR:
                given["estimator"] = fitted("logistic", X[rows], y[rows], seed)
            more = mheal.select(X, n - len(rows), strategy=strategy(), random_state=seed, **given)
            rows = np.append(rows, more.indices)
        yield rows


def _first(strategy: Callable[[], Any], X: Any, n: int, seed: int) -> Any:
    return mheal.select(X, n, strategy=strategy(), random_state=seed).indices


def _of_activeml(name: str, X: Any, y: Any, n: int, seed: int) -> Any:
    from skactiveml import pool  # not a dependency of mheal

    options = {"n_classes": int(y.max()) + 1} if name == "ProbCover" else {}
    query = getattr(pool, name)(random_state=seed, **options)
    Z = comparable(X).array().astype(np.float64)
    return query.query(Z, np.full(len(Z), np.nan), batch_size=n)
