"""How well a classifier does on the test set: accuracy, balanced accuracy, or any scikit-learn scorer."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..estimators import estimator_name, predict, single_threaded, user_code
from ..exceptions import UserError, UserTypeError

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
            near = get_close_matches(metric, get_scorer_names(), 3) or [*ALWAYS, "f1_macro"]
            raise UserError(f"there is no metric {metric!r}: give the name of a scikit-learn scorer, such as {near[0]}")
        return Metric(metric, get_scorer(metric))
    if not callable(metric):
        raise UserTypeError(f"metric must be a scorer's name or a callable scorer(estimator, X, y), got {metric!r}")
    function = getattr(metric, "_score_func", metric)  # of a scorer that make_scorer made
    return Metric(getattr(function, "__name__", "score"), metric)


def scores(model: Any, X: npt.NDArray[Any], y: npt.NDArray[Any], metric: Metric) -> dict[str, float]:
    """Accuracy, its mean over the classes of y (balanced accuracy), and the metric, by name."""
    correct = predict(model, X) == y
    classes, codes = np.unique(y, return_inverse=True)
    recall = np.bincount(codes, weights=correct, minlength=len(classes)) / np.bincount(codes)
    found = dict(accuracy=float(correct.mean()), balanced_accuracy=float(recall.mean()))
    if metric.scorer is not None:
        failure = f"metric {metric.name} cannot score {estimator_name(model)}"
        with single_threaded(model), user_code(failure, "choose another metric, or larger budgets"):
            value = float(metric.scorer(model, X, y))
        if not np.isfinite(value):
            raise UserError(f"{failure}, it gives {value}: choose another metric, or larger budgets")
        found[metric.name] = value
    return found
