"""The command line, `mheal COMMAND`: each file translates the options of a command into calls of the library."""

import os
import shlex
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from textwrap import shorten
from typing import Annotated

import typer

from .._version import __version__
from ..exceptions import UserError
from ..runtime.native import exit_on_native_errors
from .compare import compare
from .console import harmless
from .demo import demo
from .embed import embed
from .label import label
from .lists import datasets, strategies
from .plan import plan
from .select import select

HELP = """Which of your unlabelled items should you label?

- Pick the best of a pool: `mheal select pool.csv --budget 200`
- Label them, then pick again: `mheal select pool.csv --budget 200 --labeled labels.csv`

A pool is a .npy, .npz, .csv, .tsv, .xlsx, .parquet, .jsonl or .txt file (one text per line), a folder of images, or a
quoted pattern of such files. `mheal COMMAND --help` explains a command; `mheal demo --files` writes example files.
"""
MISTAKE, BUG, INTERRUPTED, PIPE_CLOSED = 2, 1, 130, 141  # exit statuses
WIDEST = 200  # characters of a message about options

app = typer.Typer(
    name="mheal",
    help=HELP,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(select)
app.command()(label)
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
        ctx.get_help()  # prints the help
        raise typer.Exit


def main(argv: Sequence[str] | None = None) -> int:
    """Run `mheal` and return its exit status: 2 for a user's mistake, 1 for a bug, 130 for ctrl-C."""
    args = list(sys.argv[1:] if argv is None else argv)
    words = [arg for arg in args if arg != "--debug"]  # anywhere, such as at the end of a command that failed
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # escapes characters that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    try:
        with exit_on_native_errors(MISTAKE):
            status = app(words, prog_name="mheal", standalone_mode=False) or 0
    except KeyboardInterrupt:
        status = INTERRUPTED
    except BrokenPipeError:  # such as in `mheal … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except Exception as raised:
        at_eof = isinstance(raised, typer.Abort)  # Typer replaces any EOFError by this, as if it were ctrl-D
        error = raised.__cause__ or raised if at_eof else raised
        if "--debug" in args:
            traceback.print_exc()
        status, text = _explained(error, words)
        print(f"mheal: {harmless(text)}", file=sys.stderr)
        return status
    if status == INTERRUPTED:
        print("mheal: interrupted", file=sys.stderr)
    return status


def _explained(error: BaseException, words: Sequence[str]) -> tuple[int, str]:
    """The exit status for an error, and what is printed about it."""
    if isinstance(error, UserError):
        return MISTAKE, str(error)
    if hasattr(error, "format_message"):  # typer's own usage errors
        text = shorten(error.format_message(), WIDEST, placeholder=" …")
        return MISTAKE, f"{text}: quote a pattern, as in 'im*.png'" if "unexpected extra" in text else text
    return BUG, (
        f"this is a bug in mheal {__version__}, not a mistake of yours: {type(error).__name__}: {error}\n"
        f"The command was: {shlex.join(['mheal', *words])}\n"
        "Please report it to the maintainers with the command, the version and the traceback that --debug shows."
    )
