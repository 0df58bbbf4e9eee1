"""`mheal strategies`: what each does, what it needs, what it costs."""

from .console import show_list


def strategies() -> None:
    """List the ways to pick: what each does, what it needs, what it costs.

    Example: mheal strategies
    """
    from ..strategies import describe

    heads = ("name", "needs", "what it does", "cost (N rows, d columns)")
    show_list(heads, [(one.name, one.needs, one.summary, one.cost) for one in describe()])
