"""A committee: logistic regressions on resamples of the labels, each a draw of what they leave open."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression

from .base import Pool, Rows


def committee(pool: Pool, rows: Rows, members: int) -> Iterator[npt.NDArray[np.float64]]:
    """The class probabilities of these rows, (rows, classes), as each member sees them.

    Every resample keeps one row of each class, so that every member knows all classes. Where the labels are all of
    one class, members agree on it.
    """
    classes, y = np.unique(pool.labels, return_inverse=True)
    for _ in range(members):
        if len(classes) == 1:
            yield np.ones((len(rows), 1))
            continue
        drawn = _resample(y, pool.rng)
        member = LogisticRegression(max_iter=300).fit(pool.Z[pool.labeled[drawn]], y[drawn])
        yield member.predict_proba(pool.Z[rows])


def _resample(y: Rows, rng: np.random.Generator) -> Rows:
    order = rng.permutation(len(y))
    _, one_each = np.unique(y[order], return_index=True)
    return np.concatenate([order[one_each], rng.integers(len(y), size=max(0, len(y) - len(one_each)))])
