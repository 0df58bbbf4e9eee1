"""imbalanced-learn: under-sample classes by a strategy of mheal."""

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import _safe_indexing

from ..api import select
from ..strategy import Strategy
from . import missing

try:
    from imblearn.under_sampling.base import BaseUnderSampler
except ImportError as error:
    raise missing("imbalanced_learn", "imbalanced-learn") from error


class MHEALUnderSampler(BaseUnderSampler):
    """Under-sampling by a strategy of mheal, which picks the rows to keep of each class that has too many.

    Parameters
    ----------
    sampling_strategy : how many rows each class keeps, as in imbalanced-learn; "auto": as many as the smallest class
    strategy : a name from `mheal.strategies.names()` that needs no labels, or an instance
    random_state : int, RandomState or None

    Attributes
    ----------
    sample_indices_ : (n_kept,) rows of X that are kept, class by class, in each class best first

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from mheal.adapters.imbalanced_learn import MHEALUnderSampler
    >>> X, y = make_classification(500, weights=[0.9], random_state=0)
    >>> X_kept, y_kept = MHEALUnderSampler(random_state=0).fit_resample(X, y)
    >>> bool((y_kept == 0).sum() == (y_kept == 1).sum())
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **BaseUnderSampler._parameter_constraints,
        "strategy": [str, Strategy],
        "random_state": ["random_state"],
    }

    def __init__(
        self, *, sampling_strategy: Any = "auto", strategy: str | Strategy = "mheal", random_state: Any = None
    ) -> None:
        super().__init__(sampling_strategy=sampling_strategy)
        self.strategy = strategy
        self.random_state = random_state

    def _fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        kept = []
        for name in np.unique(y):
            rows = np.flatnonzero(y == name)
            n = self.sampling_strategy_.get(name, len(rows))
            if n < len(rows):
                picks = select(_safe_indexing(X, rows), n, strategy=self.strategy, random_state=self.random_state)
                rows = rows[picks.indices]
            kept.append(rows)
        self.sample_indices_ = np.concatenate(kept)
        return _safe_indexing(X, self.sample_indices_), _safe_indexing(y, self.sample_indices_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.sampler_tags.sample_indices = True
        return tags
