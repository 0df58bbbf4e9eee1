"""`mheal strategies`: what each is, when to use it, what it costs."""


def strategies() -> None:
    """List the ways to pick: what each does, what it needs, what it costs.

    Example: mheal strategies
    """
    from rich.console import Console
    from rich.table import Table

    from ..strategies import describe

    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in ("name", "needs", "what it does", "cost (N rows, d columns)"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for one in describe():
        table.add_row(one.name, one.needs, one.summary, one.cost)
    Console(highlight=False).print(table)
