"""The command line, `mheal COMMAND`: each file translates the words of one command into arguments of the library."""

import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from typing import Annotated

import typer

from .._version import __version__
from ..exceptions import UserError
from .compare import compare
from .demo import demo
from .embed import embed
from .lists import datasets, strategies
from .plan import plan
from .select import select

HELP = """Which of your unlabelled items should you label?

- Pick the best of a pool: `mheal select pool.csv --budget 200`
- Label them, then pick again: `mheal select pool.csv --budget 200 --labeled labels.csv`

A pool is a .npy, .npz, .csv, .tsv, .parquet, .jsonl or .txt file (one text a line), a folder of images, or a quoted
pattern of such files. `mheal COMMAND --help` explains a command; `mheal demo --files` writes files to try them on.
"""
MISTAKE, BUG, INTERRUPTED, PIPE_CLOSED = 2, 1, 130, 141  # exit statuses

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
    """Run `mheal` and return its exit status: 2 for a user's mistake, 1 for a bug, 130 for ctrl-C."""
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args  # wherever it stands: people add it at the end of the line that failed
    words = [arg for arg in args if arg != "--debug"]
    try:
        status = _run(words)
    except (KeyboardInterrupt, typer.Abort):
        status = INTERRUPTED
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as error:
        if debug:
            traceback.print_exc()
        if not isinstance(error, UserError) and not hasattr(error, "format_message"):  # typer's own usage errors
            print(_bug(error, words), file=sys.stderr)
            return BUG
        text = str(error) if isinstance(error, UserError) else error.format_message()
        print(f"mheal: {' '.join(text.split())}", file=sys.stderr)
        return MISTAKE
    if status == INTERRUPTED:
        print("mheal: interrupted", file=sys.stderr)
    return status if isinstance(status, int) else 0


def _run(words: Sequence[str]) -> object:
    """The status that a command returns; a reader's EOFError, which Typer takes for ctrl-D, is raised as what it is."""
    try:
        return app(words, prog_name="mheal", standalone_mode=False)
    except typer.Abort as abort:
        if isinstance(abort.__cause__, EOFError):
            raise abort.__cause__ from None
        raise


def _bug(error: Exception, words: Sequence[str]) -> str:
    return (
        f"mheal: this is a bug in mheal {__version__}, not a mistake of yours: {type(error).__name__}: {error}\n"
        f"The command was: {shlex.join(['mheal', *words])}\n"
        "Please report it to the maintainers with the command, the version and the traceback that --debug shows."
    )
