"""`mheal reproduce`: the paper's experiments, our numbers beside the paper's."""

from pathlib import Path
from typing import Annotated

import typer

from mheal.cli._common import Quiet, messages, progress_bar


def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="A name from --list.", show_default=False)] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and what they cost.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Small sizes: to see that it runs, not what it shows.")
    ] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Repetitions. Default: the experiment's own.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated. For tables 3 to 5.")
    ] = None,
    line: Annotated[
        list[str] | None,
        typer.Option(metavar="TITLE", help="Only this line of the table; may be repeated. For tables 3 to 5."),
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of NAME.npz files. Default: $MHEAL_DATA, OpenML.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write to. Default: its place in results.")] = None,
    quiet: Quiet = False,
) -> None:
    """Rerun an experiment of the paper: raw rows, a page of tables and verdicts, pictures.

    What is in the folder already is not done again: a run that was stopped goes on where it was.

    Example: mheal reproduce figure6 --quick --out figure6

    Example: mheal reproduce table3 --dataset mnist --line Random --line MHEAL
    """
    from .paper import EXPERIMENTS, Part, load

    if listed:
        _list()
        return
    if experiment is None:
        raise ValueError(f"which experiment? Name one of {', '.join(EXPERIMENTS)}; --list says what they are")
    run = load(experiment, Part(tuple(dataset or ()), tuple(line or ())))
    if data is not None and not data.is_dir():
        raise ValueError(f"--data {data} is no folder: name the one that holds the NAME.npz files")
    home = EXPERIMENTS[experiment].module.removeprefix(".")  # one folder for a table and its figure
    folder = out or Path("results") / (f"{home}-quick" if quick else home)
    console = messages(quiet)
    with progress_bar(console) as progress:
        page = run(folder, data, seeds, quick, lambda done, total, _: progress(done, total, experiment))
    if not quiet:
        print(page)
    console.print(f"Written: {folder}", markup=False)


def _list() -> None:
    from rich.console import Console
    from rich.table import Table

    from .paper import EXPERIMENTS

    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in ("name", "what", "cost", "datasets"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for name, one in EXPERIMENTS.items():
        table.add_row(name, one.about, one.cost, ", ".join(one.datasets))
    Console(highlight=False).print(table)
