"""The model that strategies ask where the user gives labels, but nothing that has learnt from them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError

if TYPE_CHECKING:
    from rich.console import Console

    from ..strategies import Strategy

ASKING = "mheal-asking"  # the default once there are labels: without a model it is mheal


def own_model(
    strategy: "Strategy", X: Any, rows: npt.NDArray[np.int64], values: npt.NDArray[Any], seed: int, console: "Console"
) -> Any:
    """A classifier of the labels; None for a strategy that asks none, or rather not one that has learnt so little."""
    from ..classes import as_classes, why_not_classes
    from ..estimators import ASKED, fit_on_pool

    if strategy.kind != "adaptive" or not len(values):
        return None
    if strategy.name != ASKING:
        return fit_on_pool("logistic", seed, X, rows, as_classes(values, "labels"))
    if too_few(strategy, len(values), console):
        return None
    try:
        classes = as_classes(values, "labels")
        why = why_not_classes(classes)
    except UserError as error:
        why = f"the labels are no classes ({error})"
    if why is not None:
        console.print(f"{why}: picking without a model", markup=False)
        return None
    console.print(f"asking a model of the {len(values):,} labels: logistic regression and nearest neighbours")
    return fit_on_pool(ASKED, seed, X, rows, classes)


def too_few(strategy: "Strategy", labels: int, console: "Console") -> bool:
    """Whether a model that has learnt from so many labels is better not asked, which is then said."""
    needed = getattr(strategy, "ask_from", 0)
    if labels < needed:
        console.print(f"{labels} labels are too few to ask a model: picking without it below {needed}")
    return labels < needed
