"""modAL: strategies of mheal as query strategies.

>>> from functools import partial
>>> from mheal.adapters.modal import strategy
>>> spread = partial(strategy, strategy="coreset")  # ActiveLearner(estimator, query_strategy=spread)
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.pipeline import Pipeline

from ..api import select
from ..strategy import Strategy
from ..uncertainty import is_fitted

Rows = npt.NDArray[np.int64]


def strategy(
    learner: Any, X_pool: Any, n_instances: int = 1, *, strategy: str | Strategy = "mheal", **options: Any
) -> tuple[Rows, Any]:
    """Pick `n_instances` rows of `X_pool`. Returns their numbers, best first, and the rows.

    This is a modAL query strategy: after `learner = ActiveLearner(estimator, query_strategy=strategy)`,
    `learner.query(X_pool, n_instances=20)` calls it. The learner's training data are the labels so far, and the
    uncertainty is that of its estimator.

    learner : an ActiveLearner or a Committee; for a committee, the training data of its first learner are used
    X_pool : (rows, columns) an array, SciPy sparse matrix, pandas frame or list of lists without labelled rows
    n_instances : number of rows to pick
    strategy : a name from `mheal.strategies.names()`, or an instance
    options : other arguments of `mheal.select`, such as `random_state`
    """
    trained = learner.learner_list[0] if hasattr(learner, "learner_list") else learner
    model = getattr(learner, "estimator", learner)  # a committee is a model itself
    X, known, y = X_pool, trained.X_training, trained.y_training
    if learner.on_transformed:
        X = learner.transform_without_estimating(X)
        known = None if known is None else learner.transform_without_estimating(known)
        model = model[-1] if isinstance(model, Pipeline) else None
    labels: dict[str, Any] = {}
    if known is not None:
        X, labels = _stacked(known, X), {"labeled": np.arange(len(y)), "y": np.asarray(y)}
    if model is not None and is_fitted(model):
        labels["estimator"] = model
    picked = select(X, n_instances, strategy=strategy, **labels, **options).indices - (0 if known is None else len(y))
    return picked, _rows(X_pool, picked)


def _stacked(above: Any, below: Any) -> Any:
    if sparse.issparse(below) or sparse.issparse(above):
        return sparse.vstack([above, below]).tocsr()
    if hasattr(below, "iloc"):
        from pandas import concat

        return concat([above, below], ignore_index=True)
    return np.concatenate([np.asarray(above), np.asarray(below)])


def _rows(X: Any, rows: Rows) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]
