"""Baal: a heuristic for its active learning loop that uses features of the items as well as predictions."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..api import select
from ..exceptions import UserError
from ..strategies import get
from ..strategy import Strategy
from . import missing

try:
    from baal.active.heuristics import AbstractHeuristic
    from baal.utils.array_utils import to_prob
except ImportError as error:
    raise missing("baal", "baal") from error

Scores = npt.NDArray[np.float64]


class MHEALHeuristic(AbstractHeuristic):
    """Rank the pool of a Baal dataset by a strategy of mheal.

    Parameters
    ----------
    dataset : the `ActiveLearningDataset` of the loop; it knows which items are labelled
    features : (items, columns) a vector for each item of the whole dataset
    query_size : number of picks; use that of the loop. The other items follow in the order of the pool
    strategy : a name from `mheal.strategies.names()` that needs no labels, or an instance
    options : other arguments of `mheal.select`, such as `random_state`
    """

    def __init__(
        self, dataset: Any, features: Any, query_size: int = 1, strategy: str | Strategy = "mheal", **options: Any
    ) -> None:
        super().__init__(reverse=True)
        self.dataset = dataset
        self.features = np.asarray(features)
        self.query_size = query_size
        self.strategy = strategy
        self.options = options

    def compute_score(self, predictions: Any, target_predictions: Any = None) -> Scores:
        """A score for each item of the pool: query_size, …, 2, 1 for the picks, 0 for the others.

        predictions : (items of the pool, classes) or (…, iterations) probabilities or logits. If there are enough
            labels, the uncertainty of their mean over the iterations is used
        """
        labeled = np.flatnonzero(self.dataset.labelled)
        pool = np.flatnonzero(~np.asarray(self.dataset.labelled, bool))
        if len(predictions) != len(pool):
            raise UserError(f"there are {len(predictions)} predictions for a pool of {len(pool)}: leave out max_sample")
        kind = get(self.strategy) if isinstance(self.strategy, str) else self.strategy
        proba = None
        if kind.uses_proba and len(labeled) >= kind.min_labels:
            found = to_prob(np.asarray(predictions, float))
            proba = np.zeros((len(self.features), found.shape[1]))
            proba[labeled, 0] = 1.0  # a labelled item is certain
            proba[pool] = found.mean(axis=-1) if found.ndim > 2 else found
        n = min(self.query_size, len(pool))
        picks = select(self.features, n, labeled=labeled, proba=proba, strategy=self.strategy, **self.options)
        scores = np.zeros(len(pool))
        scores[np.searchsorted(pool, picks.indices)] = np.arange(n, 0, -1)
        return scores

    def reorder_indices(self, scores: Scores) -> npt.NDArray[np.int64]:
        """The positions of the items in the pool, picks first."""
        return np.argsort(-np.asarray(scores), kind="stable")
