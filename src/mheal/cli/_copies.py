"""`--copies`: whether rows that equal an earlier one count."""

from typing import TYPE_CHECKING

from ..exceptions import UserError
from ._common import refuse_together

if TYPE_CHECKING:
    from ..io.source import Source
    from ..strategies import Strategy
    from ._request import Request

COUNT, ONCE = "count", "once"


def refuse_useless_copies(request: "Request", parameters: list[str]) -> None:
    """One line for what is no way to treat copies, or a strategy that knows none."""
    if request.copies not in (COUNT, ONCE):
        raise UserError(f"--copies is {COUNT} or {ONCE}, got {request.copies!r}")
    if "copies" not in parameters:
        raise UserError(f"{request.strategy} takes no --copies: leave it out, or use mheal or mheal-asking")
    if request.copies == ONCE:
        refuse_together(f"--copies {ONCE}", ("max_memory", "scheduler"), request)


def copies_count_once(request: "Request", strategy: "Strategy", source: "Source") -> bool:
    """Whether they should though nobody said so: images are there twice by mistake, rows of a table by right."""
    unsaid = request.copies is None and request.max_memory is None
    return unsaid and source.kind == "images" and "copies" in strategy.get_params()
