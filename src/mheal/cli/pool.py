"""The pool as a command reads it, with a line that says what its features are."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..exceptions import UserError
from ..io.source import Source
from ..runtime.files import reading
from ..runtime.progress import as_progress
from .options import names

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """Which pool, and what its features are, as typed."""

    pool: str
    columns: str | None = None
    without: str | None = None
    id: str | None = None
    text: str | None = None
    embed: str | None = None
    seed: int = 0


def read(options: PoolOptions, console: "Console", *, target: str | None = None, say: bool = True) -> Source:
    """The pool; its column `target` is no feature, and say=False leaves the message to the caller."""
    from ..io.read import read_pool

    with as_progress(True, console) as progress:
        source = read_pool(
            options.pool, columns=names(options.columns), without=names(options.without) or (),
            id_column=options.id, text_column=options.text, target=target,
            embed=options.embed, seed=options.seed, progress=progress,
        )  # fmt: skip
    if say:
        say_source(options.pool, source, console)
    return source


def say_source(pool: str, source: Source, console: "Console") -> None:
    """A line that says what the pool's features are, and one for each item that was skipped."""
    console.print(f"{pool}: {len(source.X):,} rows, {source.features}")
    for file, reason in source.skipped:
        console.print(f"skipped {file}: {reason}")


def usable(X: Any, pool: str) -> Any:
    """X as an array of finite numbers that are not all equal, or an error that names the pool and the row."""
    from ..backends.cpu.points import Points
    from ..validation import as_array

    try:
        X = as_array(X)
        constant = Points.standardized(X).constant()
    except UserError as error:
        raise UserError(f"{pool}: {error}") from error
    if constant:
        raise UserError(f"{pool}: all rows are equal, so there is nothing to choose between: give other columns")
    return X


def checksum(files: Iterable[Path]) -> str:
    """SHA-256 of all files, by name and content, in their order."""
    total = hashlib.sha256()
    for file in files:
        with reading(file), file.open("rb") as content:
            total.update(f"{file.name}:{hashlib.file_digest(content, 'sha256').hexdigest()}\n".encode())
    return total.hexdigest()
