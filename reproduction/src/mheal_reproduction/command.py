"""The command line: `python -m mheal_reproduction table3` reruns Table 3."""

import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mheal.exceptions import UserError
from mheal.runtime.files import Lock
from mheal.runtime.progress import as_progress

from .experiments import EXPERIMENTS, Part, load
from .summary.page import write as write_summary

HOME = Path(__file__).parents[2]  # reproduction/ in a checkout

app = typer.Typer(pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"]})


@app.command()
def reproduce(
    experiment: Annotated[str | None, typer.Argument(help="A name from --list.", show_default=False)] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and what they cost.")] = False,
    summary: Annotated[
        bool, typer.Option("--summary", help="Run nothing: write the page of all results from the rows.")
    ] = False,
    page: Annotated[bool, typer.Option("--page", help="Run nothing: write page and pictures from the rows.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: shows that it runs, and nothing else.")] = False,
    seeds: Annotated[int | None, typer.Option(min=1, help="Repetitions. Default: the experiment's own.")] = None,
    dataset: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this dataset; repeatable. For tables 3 to 5.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="TITLE", help="Only this method; repeatable. For tables 3 to 5.")
    ] = None,
    data: Annotated[Path | None, typer.Option(help="Folder of NAME.npz files. Default: $MHEAL_DATA, OpenML.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder to write to. Default: results/NAME.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Rerun an experiment of the paper: raw rows, a page with tables and verdicts, pictures.

    Rows that are in the folder already are kept, so an interrupted run resumes.

    Example: python -m mheal_reproduction figure6 --quick --out figure6

    Example: python -m mheal_reproduction table3 --dataset mnist --method Random --method MHEAL
    """
    if listed:
        _list()
        return
    if summary:
        text = write_summary(out or results(""))
        if not quiet:
            print(text)
        return
    if experiment is None:
        raise UserError(f"which experiment? Name one of {', '.join(EXPERIMENTS)}; --list describes them")
    chosen = load(experiment, Part(tuple(dataset or ()), tuple(method or ())))
    if data is not None and not data.is_dir():
        raise UserError(f"--data {data} is no folder: name the one that holds the NAME.npz files")
    folder = out or results(f"{chosen.folder}-quick" if quick else chosen.folder)
    console = Console(stderr=True, quiet=quiet, soft_wrap=True, highlight=False, emoji=False)
    with Lock(folder), as_progress(True, console) as progress:
        if page:
            text = chosen.write(folder, seeds, quick)
        else:
            text = chosen.run(folder, data, seeds, quick, lambda done, total, _: progress(done, total, experiment))
    if not quiet:
        print(text)
    console.print(f"Written: {folder}", markup=False)


def results(name: str, home: Path = HOME) -> Path:
    """Folder for the results of this name: beside the code in a checkout, else below the working directory."""
    return home / "results" / name if (home / "pyproject.toml").exists() else Path("results", name)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 2 for a user's mistake, 130 for ctrl-C."""
    args = list(sys.argv[1:] if argv is None else argv)
    try:
        status = app(args, prog_name="python -m mheal_reproduction", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except Exception as error:
        if not isinstance(error, UserError) and not hasattr(error, "format_message"):
            raise
        if "--debug" in args:
            traceback.print_exc()
        text = error.format_message() if hasattr(error, "format_message") else str(error)
        print(f"mheal_reproduction: {' '.join(text.split())}", file=sys.stderr)
        return 2
    return status if isinstance(status, int) else 0


def _list() -> None:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_edge=False)
    for heading in ("name", "what", "cost", "datasets"):
        table.add_column(heading, overflow="fold", no_wrap=heading == "name")
    for name, one in EXPERIMENTS.items():
        table.add_row(name, one.about, one.cost, ", ".join(one.datasets))
    Console(highlight=False).print(table)
