"""`--proba`: a model of which only the probabilities are known, in a file."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UserError
from ._common import refuse_together

if TYPE_CHECKING:
    from ..io.source import Source
    from ._request import Request

ON_PROBABILITIES = ("mheal-asking", "margin", "entropy", "least-confidence")  # need nothing else of a model


class Predicted:
    """Probabilities by row of the pool; both are matched by their ids where they have some, else by their order."""

    def __init__(self, file: str, pool: "Source") -> None:
        from ..io.read import read_pool
        from ..validation import as_proba

        read = read_pool(file)
        order = slice(None) if pool.ids is None or read.ids is None else _in_order(file, read.ids, pool.ids)
        self.proba = as_proba(read.X[order], len(pool.X))
        self.classes_ = np.arange(self.proba.shape[1])

    def row_proba(self, rows: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """As strategies ask for them."""
        return self.proba[rows]


def refuse_useless_proba(request: "Request") -> None:
    """One line for what has no use for probabilities, or none for them alone."""
    if request.strategy not in ON_PROBABILITIES:
        names = ", ".join(ON_PROBABILITIES)
        raise UserError(f"{request.strategy} has no use for --proba alone: leave it out, or use --strategy {names}")
    refuse_together("--proba", ("max_memory", "scheduler"), request)


def _in_order(file: str, ids: Any, wanted: Any) -> list[int]:
    places = {name: row for row, name in enumerate(ids)}
    missing = [name for name in wanted if name not in places]
    if missing:
        raise UserError(f"{file} says nothing of id {missing[0]!r}, which is in the pool: predict all of its rows")
    return [places[name] for name in wanted]
