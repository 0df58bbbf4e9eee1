"""scikit-activeml: strategies of mheal as query strategies."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from ..api import select
from ..strategy import Strategy
from . import missing

try:
    from skactiveml.base import SingleAnnotatorPoolQueryStrategy, SkactivemlClassifier
    from skactiveml.utils import MISSING_LABEL, check_scalar, check_type, is_labeled
except ImportError as error:
    raise missing("scikit_activeml", "scikit-activeml") from error

Rows = npt.NDArray[np.int64]


class MHEALQueryStrategy(SingleAnnotatorPoolQueryStrategy):
    """A strategy of mheal as a query strategy of scikit-activeml.

    Picks are the same as those of `mheal.select` with the same seed.

    Parameters
    ----------
    strategy : a name from `mheal.strategies.names()`, or an instance such as `mheal.strategies.TypiClust()`
    missing_label : the value of y where a label is missing
    random_state : int, RandomState or None

    Examples
    --------
    >>> import numpy as np
    >>> from mheal.adapters.scikit_activeml import MHEALQueryStrategy
    >>> X = np.random.default_rng(0).normal(size=(100, 4))
    >>> y = np.full(100, np.nan)
    >>> MHEALQueryStrategy("typiclust", random_state=0).query(X, y, batch_size=5).shape
    (5,)
    """

    def __init__(
        self, strategy: str | Strategy = "mheal", missing_label: Any = MISSING_LABEL, random_state: Any = None
    ) -> None:
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.strategy = strategy

    def query(
        self, X: Any, y: Any, candidates: Any = None, batch_size: int = 1, return_utilities: bool = False,
        clf: Any = None, fit_clf: bool = True,
    ) -> Rows | tuple[Rows, npt.NDArray[np.float64]]:  # fmt: skip
        """Pick `batch_size` candidates, best first.

        X : (n_samples, n_features)
        y : (n_samples,) labels; `missing_label` where there is none
        candidates : rows of X that can be picked, by default those without a label; or the candidates themselves,
            (n_candidates, n_features). Rows that are neither candidates nor labelled are ignored
        return_utilities : also return (batch_size, n_samples or n_candidates) utilities. Strategies do not score rows
            that they do not pick, so utilities are ranks: picks have batch_size, …, 2, 1, other candidates 0, labelled
            rows and earlier picks NaN
        clf : a classifier of scikit-activeml whose uncertainty is used. None: as in `mheal.select`, a small classifier
            is fitted where the strategy needs one
        fit_clf : fit a copy of `clf` on X and y; False: `clf` is fitted already
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities
        )
        check_scalar(fit_clf, "fit_clf", bool)
        labeled = np.flatnonzero(is_labeled(y, self.missing_label_))
        if clf is not None:
            check_type(clf, "clf", SkactivemlClassifier)
            clf = clone(clf).fit(X, y) if fit_clf else clf
        features, rows = self._transform_candidates(candidates, X, y)
        if rows is None:  # candidates that are not rows of X are placed after the labelled rows
            pool, known, places = np.concatenate([X[labeled], features]), np.arange(len(labeled)), len(features)
            row_of = np.arange(len(pool)) - len(labeled)
        else:
            labeled, places = np.setdiff1d(labeled, rows), len(X)
            row_of = np.union1d(labeled, rows)
            pool, known = X[row_of], np.searchsorted(row_of, labeled)
        drawn = self.random_state is not None and not isinstance(self.random_state, int | np.integer)
        picked = select(
            pool.reshape(len(pool), -1), batch_size, labeled=known, y=y[labeled], estimator=clf,
            strategy=self.strategy, random_state=self.random_state_ if drawn else self.random_state,
        ).indices  # fmt: skip
        picks = row_of[picked]
        if not return_utilities:
            return picks
        utilities = np.full((len(picks), places), np.nan)
        utilities[:, np.arange(places) if rows is None else rows] = 0.0
        utilities[:, picks] = np.arange(len(picks), 0, -1)
        for step in range(1, len(picks)):
            utilities[step, picks[:step]] = np.nan
        return picks, utilities
