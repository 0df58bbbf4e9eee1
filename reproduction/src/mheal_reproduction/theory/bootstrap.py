"""Bootstrap IWAL: a small committee of classifiers replaces the version space, for data with many columns."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from mheal.exceptions import UserError

from .hyperplanes import Float32, Hyperplanes, logistic
from .iwal import Trace, query_probability

MEMBERS, LEAST = 10, 0.1


def committee(X: Float32, y: npt.ArrayLike, rng: np.random.Generator, members: int = MEMBERS) -> Hyperplanes:
    """Logistic regressions on bootstrap samples of the rows of X."""
    labels = np.asarray(y)
    if len(np.unique(labels)) < 2:
        raise UserError(f"the {len(labels)} first rows are of one class: the committee needs rows of both")
    weights: list[Any] = []
    biases: list[Any] = []
    while len(weights) < members:
        sample = rng.integers(len(X), size=len(X))
        if len(np.unique(labels[sample])) == 2:
            model: Any = LogisticRegression(max_iter=1000).fit(X[sample], labels[sample])
            weights.append(model.coef_[0])
            biases.append(model.intercept_[0])
    return Hyperplanes(np.array(weights, np.float32), np.array(biases, np.float32))


def bootstrap_iwal(
    X: Float32,
    y: npt.ArrayLike,
    initial: int,
    rng: np.random.Generator,
    *,
    members: int = MEMBERS,
    least: float = LEAST,
) -> Trace:
    """Query the first `initial` labels, then each row with probability least + (1 − least) · disagreement.

    The disagreement is the largest loss difference in the committee over the largest loss. Nothing is pruned;
    `Trace.best` is the member of smallest weighted loss so far.
    """
    if not 1 < initial <= len(X):
        raise UserError(f"initial must lie between 2 and the {len(X)} rows of X, got {initial}")
    hyperplanes = committee(X[:initial], np.asarray(y)[:initial], rng, members)
    margins = hyperplanes.margins(X)
    spread = query_probability(margins.min(axis=1), margins.max(axis=1), hyperplanes.largest_loss(X))
    probability = least + (1 - least) * spread.astype(np.float64)
    probability[:initial] = 1.0
    queried = rng.random(len(X)) < probability
    trace = Trace(np.full(members, len(X) + 1), np.zeros(len(X), np.int64), probability, queried, None)
    signs = np.asarray(y, np.float32)[:, None]
    losses = np.cumsum(trace.weights[:, None] * logistic(margins * signs), axis=0)
    trace.best[:] = losses.argmin(axis=1)
    return trace
