"""small-text: strategies of mheal as query strategies."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..api import select
from ..exceptions import UserError
from ..strategies import get
from ..strategy import Strategy
from . import missing

try:
    from small_text import QueryStrategy
except ImportError as error:
    raise missing("small_text", "small-text") from error


class MHEALQueryStrategy(QueryStrategy):
    """A strategy of mheal for small-text's active learner.

    Parameters
    ----------
    strategy : a name from `mheal.strategies.names()`, or an instance
    embeddings : (texts, columns) a vector for each text of the dataset. None: the dataset's own features if they are a
        matrix, as in `SklearnDataset`, else `clf.embed(dataset)`
    options : other arguments of `mheal.select`, such as `random_state`
    """

    def __init__(self, strategy: str | Strategy = "mheal", embeddings: Any = None, **options: Any) -> None:
        self.strategy = strategy
        self.embeddings = embeddings
        self.options = options

    def query(
        self, clf: Any, dataset: Any, indices_unlabeled: Any, indices_labeled: Any, y: Any, n: int = 10
    ) -> npt.NDArray[np.int64]:
        """Pick n texts of the dataset, best first. Multi-label y is ignored; those texts only count as labelled."""
        self._validate_query_input(indices_unlabeled, n)
        rows = np.union1d(indices_labeled, indices_unlabeled).astype(np.int64)  # without texts that the learner ignores
        known = np.searchsorted(rows, indices_labeled)
        kind = get(self.strategy) if isinstance(self.strategy, str) else self.strategy
        arguments: dict[str, Any] = {}
        if not sparse.issparse(y):
            arguments["y"] = np.asarray(y)
            if clf is not None and kind.uses_proba and len(known) >= kind.min_labels:
                arguments["proba"] = np.asarray(clf.predict_proba(dataset))[rows]
        X = self._features(clf, dataset)[rows]
        return rows[select(X, n, labeled=known, strategy=self.strategy, **arguments, **self.options).indices]

    def _features(self, clf: Any, dataset: Any) -> Any:
        X = dataset.x if self.embeddings is None else self.embeddings
        if not hasattr(X, "shape"):
            if not hasattr(clf, "embed"):
                raise UserError("the texts have no vectors: give embeddings, a row for each text of the dataset")
            X = clf.embed(dataset)
        if X.shape[0] != len(dataset):
            raise UserError(f"there are {X.shape[0]} embeddings for {len(dataset)} texts: give a row for each text")
        return X.tocsr() if sparse.issparse(X) else np.asarray(X)

    def __str__(self) -> str:
        return f"MHEALQueryStrategy({self.strategy!r})"
