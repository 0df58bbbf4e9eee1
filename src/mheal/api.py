"""The short way: one call, with the default of everything."""

import warnings
from importlib import import_module
from numbers import Integral
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .exceptions import UserError
from .probabilities import as_proba
from .runtime.threads import single_threaded_blas
from .selection import Selection
from .selector import MHEAL
from .uncertainty import ASK_FROM, worth_of
from .validation import as_labeled, as_pool


def select(
    X: Any,
    budget: int,
    labeled: Any = None,
    n_classes: int | None = None,
    random_state: int | np.random.RandomState | None = 0,
    proba: Any = None,
    labels: Any = None,
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
    labels : the classes of the rows `labeled`, in the same order, if you have no model yet: from 64 on, picks go where
        one of ours is in doubt, the mean of a logistic regression and the five nearest neighbours

    Examples
    --------
    >>> import mheal
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_digits(return_X_y=True)
    >>> first = mheal.select(X, budget=100).indices
    >>> model = LogisticRegression(max_iter=1000).fit(X[first], y[first])
    >>> more = mheal.select(X, budget=50, labeled=first, proba=model.predict_proba(X))
    >>> more = mheal.select(X, budget=50, labeled=first, labels=y[first])  # without a model of your own
    """
    if n_classes is not None and (not isinstance(n_classes, Integral) or n_classes < 1):
        raise UserError(f"n_classes must be a positive integer or None, got {n_classes!r}")
    clusters: int | Literal["auto"] = "auto" if n_classes is None else n_classes
    if proba is not None and labels is not None:
        raise UserError("proba is what your model says, labels are for a model of ours: give one of them")
    worth = None
    if proba is not None:
        worth = _worth(X, labeled, proba)
    elif labels is not None:
        worth = _worth_to_ours(X, labeled, labels)
    return MHEAL(clusters, random_state=random_state).select(X, budget, labeled, worth=worth)


def _worth(X: Any, labeled: Any, proba: Any) -> npt.NDArray[np.float64] | None:
    """What rows are worth to a model that may be asked."""
    _refuse_dask(X, "proba")
    shape = np.shape(X) if isinstance(X, list | tuple) else getattr(X, "shape", ())
    n = shape[0] if shape else None  # what has no rows is refused later, as X
    proba = as_proba(proba, n)
    seen = ASK_FROM if labeled is None else len(as_labeled(labeled, len(proba)))
    if seen < ASK_FROM:
        said = f"proba is looked at from {ASK_FROM} labelled rows on, and labeled names {seen}: picking without it"
        warnings.warn(said, stacklevel=3)
        return None
    return worth_of(proba)


def _worth_to_ours(X: Any, labeled: Any, labels: Any) -> npt.NDArray[np.float64] | None:
    """What rows are worth to a model that learns from the labels there are; None where it is better not asked."""
    from .classes import as_classes
    from .models import ASKED, fit_on_pool
    from .strategies import Pool
    from .strategies.doubt import Said

    _refuse_dask(X, "labels")
    if labeled is None:
        raise UserError("labels are those of the rows in `labeled`: name these rows, in the same order")
    if hasattr(X, "detach"):
        X = import_module(".backends.torch", __package__).as_pool(X).cpu().numpy()
    pool = as_pool(X)
    rows = as_labeled(labeled, len(pool))
    if np.shape(labels)[:1] != (len(rows),):
        raise UserError(f"labels has shape {np.shape(labels)}, but labeled names {len(rows)} rows: give one for each")
    classes, why = as_classes(labels)
    if len(rows) < ASK_FROM:
        why = f"labels are looked at from {ASK_FROM} on, and there are {len(rows)}"
    if classes is None or why:
        warnings.warn(f"{why}: picking without a model", stacklevel=3)
        return None
    with single_threaded_blas():  # the order of sums, and so of near ties, must not depend on the machine
        return worth_of(Said(Pool(pool, rows, classes, fit_on_pool(ASKED, 0, pool, rows, classes))))


def _refuse_dask(X: Any, what: str) -> None:
    if type(X).__module__.partition(".")[0] == "dask":
        raise UserError(f"a Dask array has no use for {what}: leave it out, or X.compute()")
