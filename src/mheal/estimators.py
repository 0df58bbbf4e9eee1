"""Classifiers that are fitted on the labels: five with a name, or your own."""

import os
import sys
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin, clone
from threadpoolctl import ThreadpoolController

from .exceptions import UserError, UserTypeError, user_code
from .scaling import comparable
from .validation import as_array

Array = npt.NDArray[Any]


class PoolScaler(TransformerMixin, BaseEstimator):
    """Standardise columns, or multiply rows of unit length by √columns: see `mheal.scaling`.

    offset, scale : of (X − offset)·scale, (n_columns,). None: computed from the rows given to `fit`. `for_pool`
        computes them from the whole pool, because estimates from a few labelled rows are poor.
    """

    def __init__(self, offset: Array | None = None, scale: Array | None = None) -> None:
        self.offset, self.scale = offset, scale

    def fit(self, X: Any, y: Any = None) -> Self:
        """Compute offset and scale unless both are given."""
        points = comparable(as_array(X)) if self.offset is None or self.scale is None else self
        self.offset_, self.scale_ = points.offset, points.scale
        return self

    def transform(self, X: Any) -> Array:
        """The scaled rows, as a new array."""
        scaled: Array = X - self.offset_
        scaled *= self.scale_
        return scaled


_PARTS: dict[str, tuple[str, dict[str, Any]]] = {
    "logistic": ("sklearn.linear_model:LogisticRegression", dict(max_iter=1000)),
    "svm": ("sklearn.svm:SVC", dict(C=10, gamma="scale")),
    "knn": ("sklearn.neighbors:KNeighborsClassifier", dict(n_neighbors=5)),
    "forest": ("sklearn.ensemble:RandomForestClassifier", dict(n_estimators=200)),
}
ESTIMATORS = (*_PARTS, "logistic+knn")  # the last has the mean probabilities of the two
REMEDY = "give it more labels, or choose another estimator, one that takes an array of numbers"


def resolve_estimator(estimator: Any) -> Any:
    """The classifier that a name, a path or an object refers to.

    - a name in `ESTIMATORS`: a pipeline of a `PoolScaler` and that classifier
    - "package.module:attribute": imported, with the current folder first in `sys.path` unless it is in it already
    - a scikit-learn classifier or pipeline: returned unchanged, so columns are not scaled
    - a class, or a function without arguments: the object that it returns
    """
    given = estimator
    if isinstance(estimator, str) and estimator in ESTIMATORS:
        from sklearn.ensemble import VotingClassifier
        from sklearn.pipeline import make_pipeline

        parts = [(name, _attribute(_PARTS[name][0])(**_PARTS[name][1])) for name in estimator.split("+")]
        return make_pipeline(PoolScaler(), parts[0][1] if len(parts) == 1 else VotingClassifier(parts, voting="soft"))
    if isinstance(estimator, str):
        if ":" not in estimator:
            remedy = f"choose from {', '.join(ESTIMATORS)}, or give package.module:attribute"
            raise UserError(f"there is no estimator {estimator!r}: {remedy}")
        if os.getcwd() not in sys.path and "" not in sys.path:
            sys.path.insert(0, os.getcwd())
        with user_code(f"cannot import {given}", "give package.module:attribute, such as sklearn.svm:LinearSVC"):
            estimator = _attribute(given)
    if isinstance(estimator, type) or (callable(estimator) and not hasattr(estimator, "fit")):
        remedy = "give a classifier, or a function that makes one"
        with user_code(f"{given} cannot be called without arguments", remedy):
            estimator = estimator()
    tags = getattr(last_step(estimator), "__sklearn_tags__", None)
    learns_classes = tags is None or tags().estimator_type in ("classifier", None)
    if not (hasattr(estimator, "fit") and hasattr(estimator, "predict") and learns_classes):
        raise UserTypeError(f"{given!r} is no classifier: give an object with fit and predict that learns classes")
    return estimator


def _attribute(path: str) -> Any:
    module, _, attribute = path.partition(":")
    return attrgetter(attribute)(import_module(module))


def errors_of(model: Any, failure: str, remedy: str = REMEDY) -> AbstractContextManager[None]:
    """`user_code` for the user's own model; errors of the estimators in ESTIMATORS are bugs of mheal."""
    return nullcontext() if _is_known(model) else user_code(failure, remedy)


def estimator_name(estimator: Any) -> str:
    """An estimator's name in tables: a name or path as given, else its class, or the classes of a pipeline's steps."""
    if isinstance(estimator, str):
        return estimator
    if hasattr(estimator, "steps"):
        return "+".join(estimator_name(step) for _, step in estimator.steps)
    return getattr(estimator, "__name__", type(estimator).__name__)


def for_pool(estimator: Any, X: Array) -> Any:
    """An unfitted clone for rows of this pool. The `PoolScaler` of a named estimator gets the scaling of all of X."""
    model = clone(resolve_estimator(estimator), safe=False)
    if _is_known(model):
        points = comparable(as_array(X))
        model.set_params(poolscaler__offset=points.offset, poolscaler__scale=points.scale)
    return model


def _is_known(model: Any) -> bool:
    """Whether this is the pipeline of a name in ESTIMATORS."""
    return hasattr(model, "steps") and isinstance(model.steps[0][1], PoolScaler)


def fit_model(estimator: Any, seed: int, X: Array, labels: Array) -> Any:
    """A clone of the estimator, fitted on these labels; a constant classifier if there is only one class.

    A random_state of None becomes the seed. Fits run on one thread: on tiny data, threaded BLAS took 60 times as long
    on busy cores.
    """
    n_classes = len(np.unique(labels))
    if n_classes == 1:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent").fit(X, labels)
    model = clone(resolve_estimator(estimator), safe=False)
    known = _is_known(model)
    failure = f"{estimator_name(model)} cannot be fitted on {len(labels)} labels of {n_classes} classes"
    with single_threaded(model), errors_of(model, failure):
        for path, value in model.get_params().items() if hasattr(model, "get_params") else ():
            name = path.split("__")[-1]
            if name == "random_state" and value is None:
                model.set_params(**{path: seed})
            elif name == "n_neighbors" and known:
                model.set_params(**{path: min(value, len(labels))})
        return model.fit(X, labels)


def fit_on_pool(estimator: Any, seed: int, X: Array, rows: npt.NDArray[np.int64], labels: Array) -> Any:
    """The estimator fitted on these labelled rows of a pool; a named one scales columns by the whole pool."""
    return fit_model(for_pool(estimator, X), seed, X[rows], labels)


def predict(model: Any, X: Array) -> Array:
    """The model's classes for the rows of X, on one thread."""
    with single_threaded(model), errors_of(model, f"{estimator_name(model)} cannot predict"):
        return np.asarray(model.predict(X))


def last_step(model: Any) -> Any:
    """The classifier itself, or the last step of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def single_threaded(model: Any) -> AbstractContextManager[None]:
    """Limit BLAS and OpenMP to one thread."""
    return _threads(type(last_step(model)).__name__).limit(limits=1)


@cache
def _threads(kind: str) -> ThreadpoolController:
    """The thread pools of the libraries that a class of models uses. Cached: finding them takes longer than a fit."""
    return ThreadpoolController()
