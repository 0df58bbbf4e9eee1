"""The command line: `mheal COMMAND`. One file per command; each imports what it needs when it runs."""

import os
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from .. import __version__
from .compare import compare
from .datasets import datasets
from .demo import demo
from .embed import embed
from .plan import plan
from .select import select
from .strategies import strategies

HELP = """Which of your unlabelled items should you label?

- Pick the best of a pool: `mheal select pool.csv --budget 200`
- Label them, then pick again: `mheal select pool.csv --budget 200 --labeled labels.csv`

A pool is a .npy, .npz, .csv, .tsv, .parquet, .jsonl or .txt file (one text a line), a folder of images, or a quoted
pattern of such files. `mheal COMMAND --help` explains a command.
"""

app = typer.Typer(
    name="mheal",
    help=HELP,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(select)
app.command()(compare)
app.command()(plan)
app.command()(embed)
app.command()(strategies)
app.add_typer(datasets, name="datasets")
app.command()(demo)


@app.callback(invoke_without_command=True)
def _options(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    if version:
        print(f"mheal {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        ctx.get_help()  # prints
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mheal` and return its exit status: 2 for a user's mistake, 130 for ctrl-C."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args  # wherever it stands: people add it at the end of the line that failed
    try:
        status = app([arg for arg in args if arg != "--debug"], prog_name="mheal", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        status = 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        if not _is_mistake(error):
            raise
        if debug:
            traceback.print_exc()
        print(f"mheal: {_one_line(error)}", file=sys.stderr)
        return 2
    if status == 130:  # ctrl-C, which typer turns into an exit status
        print("mheal: interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0


def _is_mistake(error: Exception) -> bool:
    known = isinstance(error, ValueError | TypeError | OSError | MemoryError) or hasattr(error, "format_message")
    return known or _is_full_device(error)


def _is_full_device(error: Exception) -> bool:
    """Whether torch ran out of a GPU's memory: its error is known by name, since torch may not be here."""
    return type(error).__name__ == "OutOfMemoryError"


def _one_line(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}"
    if isinstance(error, MemoryError):
        return f"not enough memory ({error}): write the pool to a .npy file with `mheal embed`, which is read in place"
    if _is_full_device(error):
        return (
            "the GPU has too little free memory: end what else runs there, or hide it with CUDA_VISIBLE_DEVICES= "
            "to use the CPU"
        )
    text = error.format_message() if hasattr(error, "format_message") else str(error)
    return " ".join(text.split()) or type(error).__name__
