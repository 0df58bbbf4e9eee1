"""The short way: one call, with the default of everything."""

import warnings
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .algorithm import MHEAL
from .pool.check import as_labeled
from .pool.proba import as_proba
from .selection import Selection
from .solve.worth import ASK_FROM, worth_of


def select(
    X: Any,
    budget: int,
    labeled: Any = None,
    n_classes: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    proba: Any = None,
) -> Selection:
    """`budget` rows of X worth labelling, best first, away from the rows `labeled` already.

    See `MHEAL` for everything that can be changed.

    Parameters
    ----------
    X : array, memory map, SciPy sparse matrix, DataFrame, torch tensor or Dask array
    budget : how many
    labeled : row numbers, or a mask over the rows
    n_classes : if you know it, it sets the number of clusters
    random_state : int, RandomState or None
    proba : the class probabilities that your model gives to every row of X; picks then go where it is in doubt. A
        model that has seen fewer than 64 labels doubts the wrong rows: where `labeled` names fewer, it is not asked.
        Leave `labeled` out if the rows that it learnt from are not in X

    Examples
    --------
    >>> import mheal
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> first = mheal.select(X, budget=100).indices
    >>> model = LogisticRegression(max_iter=1000).fit(X[first], y[first])
    >>> more = mheal.select(X, budget=50, labeled=first, proba=model.predict_proba(X))
    """
    if n_classes is not None and (not isinstance(n_classes, Integral) or n_classes < 1):
        raise ValueError(f"n_classes must be a positive integer or None, got {n_classes!r}")
    clusters: int | Literal["auto"] = "auto" if n_classes is None else n_classes
    worth = None if proba is None else _worth(X, labeled, proba)
    return MHEAL(clusters, random_state=random_state).select(X, budget, labeled, worth=worth)


def _worth(X: Any, labeled: Any, proba: Any) -> npt.NDArray[np.float64] | None:
    """What rows are worth to a model that may be asked."""
    if type(X).__module__.partition(".")[0] == "dask":
        raise ValueError("a Dask array has no use for proba: leave it out, or X.compute()")
    shape = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    n = shape[0] if shape else None  # what has no rows is refused later, as X
    proba = as_proba(proba, n)
    seen = ASK_FROM if labeled is None else len(as_labeled(labeled, len(proba)))
    if seen < ASK_FROM:
        said = f"proba is looked at from {ASK_FROM} labelled rows on, and labeled names {seen}: picking without it"
        warnings.warn(said, stacklevel=3)
        return None
    return worth_of(proba)
