"""The classifiers that learn from the labels bought."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

from .exceptions import UserError
from .scaling import comparable
from .validation import as_pool


def _logistic(seed: int, n_labels: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _svm(seed: int, n_labels: int) -> Any:
    from sklearn.svm import SVC

    return SVC(C=10, gamma="scale")


def _knn(seed: int, n_labels: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(min(5, n_labels))


def _forest(seed: int, n_labels: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(200, random_state=seed)


def _both(seed: int, n_labels: int) -> Any:
    from sklearn.ensemble import VotingClassifier

    models = [(name, MODELS[name](seed, n_labels)) for name in ("logistic", "knn")]
    return VotingClassifier(models, voting="soft")


MODELS: dict[str, Callable[[int, int], Any]] = {
    "logistic": _logistic,
    "svm": _svm,
    "knn": _knn,
    "forest": _forest,
    "logistic+knn": _both,  # the mean of what the two say
}
ASKED = "logistic+knn"  # by mheal-asking, for whoever has labels but no model: results/asking says why


def make_model(name: str, seed: int, labels: npt.NDArray[Any]) -> Any:
    """An unfitted classifier fit for these labels: a constant one where they are all of one class."""
    if name not in MODELS:
        raise UserError(f"there is no model {name!r}: choose from {', '.join(MODELS)}")
    if len(np.unique(labels)) == 1:
        from sklearn.dummy import DummyClassifier

        return DummyClassifier(strategy="most_frequent")
    return MODELS[name](seed, len(labels))


@cache
def _threads(kind: str) -> ThreadpoolController:
    """The thread pools of all libraries that a kind of model has loaded: to look for them takes longer than to fit."""
    return ThreadpoolController()


def fit_model(name: str, seed: int, X: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Any:
    """The classifier fitted on one thread: on tiny data threaded BLAS only waits, 60 times as long on busy cores."""
    model = make_model(name, seed, labels)
    with _threads(type(model).__name__).limit(limits=1):
        return model.fit(X, labels)


def fit_on_pool(
    name: str, seed: int, X: npt.NDArray[Any], rows: npt.NDArray[np.int64], labels: npt.NDArray[Any]
) -> Any:
    """The classifier fitted on these rows of a pool; it takes columns in their own units, and standardises them."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    points = comparable(as_pool(X))
    scaled = FunctionTransformer(_scaled, kw_args={"offset": points.offset, "scale": points.scale})
    model = make_pipeline(scaled, make_model(name, seed, labels))
    with _threads(type(model[-1]).__name__).limit(limits=1):
        return model.fit(X[rows], labels)


def _scaled(X: npt.NDArray[Any], offset: npt.NDArray[Any], scale: npt.NDArray[Any]) -> npt.NDArray[Any]:
    scaled: npt.NDArray[Any] = X - offset
    scaled *= scale
    return scaled


def predict(model: Any, X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The model's classes for the rows of X, on one thread for the same reason."""
    with _threads(type(model).__name__).limit(limits=1):
        return np.asarray(model.predict(X))
