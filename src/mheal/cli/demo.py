"""`mheal demo`: does it beat random on scikit-learn's digits? A table, two pictures, the raw numbers."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from ._digits import Runs


def demo(
    out: Annotated[Path, typer.Option(help="Folder for curves.png, picks.png and runs.csv.")] = Path("demo"),
    budget: Annotated[int, typer.Option(min=10, help="Labels to buy.")] = 100,
    seeds: Annotated[int, typer.Option(min=1, help="Random splits to average over.")] = 10,
    quiet: Annotated[bool, typer.Option("--quiet", help="Write the files, print nothing.")] = False,
) -> None:
    """Pick digits to label four ways, train the same model on each, and compare.

    Example: mheal demo --out demo --seeds 10
    """
    from rich.console import Console
    from rich.progress import track

    from . import _digits, _pictures

    console = Console(quiet=quiet, emoji=False)
    out.mkdir(parents=True, exist_ok=True)
    steps = track(
        range(seeds),
        "Picking and training",
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
    runs = _digits.run(budget, steps)

    runs.save(out / "runs.csv")
    _pictures.curves(runs, out / "curves.png")
    _pictures.picks(runs.images, out / "picks.png")
    _print(console, runs)
    console.print(f"Written: {out / 'curves.png'}, {out / 'picks.png'}, {out / 'runs.csv'}", soft_wrap=True)


def _print(console: "Console", runs: "Runs") -> None:
    from rich.table import Table

    title = f"Test accuracy on digits, %, mean ± sd of {len(runs.seeds)} splits"
    table = Table(title=title, title_justify="left")
    table.add_column("labels", justify="right")
    for name in runs.strategies:
        table.add_column(name, justify="right")
    for b, budget in enumerate(runs.budgets):
        scores = zip(runs.mean[:, b], runs.sd[:, b], strict=True)
        cells = (f"{100 * mean:.1f} ± {100 * sd:.1f}" for mean, sd in scores)
        table.add_row(str(budget), *cells)
    console.print(table)
    console.print(runs.verdict(), soft_wrap=True)
