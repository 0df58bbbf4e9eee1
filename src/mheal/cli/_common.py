"""What the commands share: their common options, messages on stderr, progress bars, sizes and sums."""

import hashlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..exceptions import UserError
from ..io.source import Source
from ..runtime.progress import Progress, as_progress

if TYPE_CHECKING:
    from rich.console import Console

POOL_HELP = (
    "A .npy, .npz, .csv, .tsv, .parquet, .jsonl or .txt file, a folder of images, or a quoted pattern of shards."
)

DATA = "What the pool's features are"  # a panel of the help

Columns = Annotated[
    str | None,
    typer.Option(
        metavar="A,B",
        help="Columns that are features. Default: all numbers and categories.",
        rich_help_panel=DATA,
    ),
]
Without = Annotated[str | None, typer.Option(metavar="A,B", help="Columns that are no features.", rich_help_panel=DATA)]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="What names each row. Default: `id`, if there is one.", rich_help_panel=DATA
    ),
]
Text = Annotated[
    str | None,
    typer.Option("--text", metavar="COLUMN", help="Column of a table to read as texts.", rich_help_panel=DATA),
]
Embed = Annotated[
    str | None,
    typer.Option(
        metavar="METHOD",
        help="How items become vectors: shapes, pixels, pca, tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME, "
        "sentence:NAME.",
        rich_help_panel=DATA,
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, metavar="N", help="Same seed, same result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def names(listed: str | None) -> list[str] | None:
    """The names in a comma-separated option."""
    if listed is None:
        return None
    return [name.strip() for name in listed.split(",") if name.strip()]


def whole_numbers(listed: str, option: str) -> list[int]:
    """The whole numbers in a comma-separated option."""
    try:
        return [int(name) for name in names(listed) or []]
    except ValueError:
        raise UserError(f"{option} takes whole numbers separated by commas, got {listed!r}") from None


def messages(quiet: bool) -> "Console":
    """Where messages go: stderr, so that stdout is free for data."""
    from rich.console import Console

    return Console(stderr=True, quiet=quiet, soft_wrap=True, highlight=False, emoji=False)


def results() -> "Console":
    """Where results for people go: stdout, as wide as they need where it is no terminal."""
    from rich.console import Console

    return Console(highlight=False, emoji=False, width=None if sys.stdout.isatty() else 200)


def show_table(console: "Console", title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table of numbers below its title; the first column may be names."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    console.print(title, markup=False, soft_wrap=True)
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for head, *cells in zip(heads, *rows, strict=True):
        table.add_column(head, justify="left" if cells[0][0].isalpha() else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)


def progress_bar(console: "Console") -> AbstractContextManager[Progress]:
    """What to report to with (done, total, what); total 0 says that the end is not known. Gone when it is over."""
    return as_progress(True, console)


def read_source(
    pool: str, console: "Console", *, columns: str | None = None, without: Iterable[str] = (),
    id_column: str | None = None, text: str | None = None, embed: str | None = None, seed: int = 0,
    say: bool = True,
) -> Source:  # fmt: skip
    """The pool, with a bar while items are read; says what it is, unless the caller will once all else is checked."""
    from ..io.read import read_pool

    with progress_bar(console) as progress:
        source = read_pool(
            pool, columns=names(columns), without=list(without), id_column=id_column, text_column=text, embed=embed,
            seed=seed, progress=progress,
        )  # fmt: skip
    if say:
        say_source(pool, source, console)
    return source


def say_source(pool: str, source: Source, console: "Console") -> None:
    """A line that says what the pool's features are, and one for each item that was skipped."""
    console.print(f"{pool}: {len(source.X):,} rows, {source.features}", markup=False)
    for file, reason in source.skipped:
        console.print(f"skipped {file}: {reason}", markup=False)


def usable(X: Any, pool: str) -> Any:
    """X as an array of numbers without gaps and not all the same, or an error that names the pool and the row."""
    from ..backends.cpu.points import Points
    from ..validation import as_pool

    try:
        X = as_pool(X)
        constant = Points.standardized(X).constant()
    except ValueError as error:
        raise UserError(f"{pool}: {error}") from error
    if constant:
        raise UserError(f"{pool}: all rows are equal, so there is nothing to choose between: give other columns")
    return X


def checksum(files: Iterable[Path]) -> str:
    """SHA-256 of all files, by name and content, in their order."""
    total = hashlib.sha256()
    for file in files:
        with file.open("rb") as content:
            total.update(f"{file.name}:{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()


def parse_size(text: str) -> int:
    """Bytes in '4GB', '500MB' or '1.5 GiB'."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    try:
        number = float(match[1]) if match else 0.0
    except ValueError:
        number = 0.0
    if match is None or number <= 0:
        raise UserError(f"cannot read the size {text!r}: write it like 4GB or 500MB")
    return int(number * (1024 if match[3] else 1000) ** (" KMGT".index(match[2].upper() or " ")))


def size(n_bytes: float) -> str:
    """Bytes for people: 1.5 GB, 240 MB."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"


def refuse_together(option: str, others: Sequence[str], request: Any) -> None:
    """One line for an option that does not go together with one of these, by their names in the request."""
    for name in others:
        if getattr(request, name) is not None:
            raise UserError(f"{option} and --{name.replace('_', '-')} do not go together: leave out one of them")


def command_line() -> list[str]:
    """The command as it was typed."""
    return ["mheal", *sys.argv[1:]] if sys.argv and os.path.basename(sys.argv[0]).startswith("mheal") else []
