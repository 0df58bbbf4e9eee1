"""The pool as a command reads it, with a line that says what its features are."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.console import Console

from ..backends.cpu.points import Points
from ..exceptions import UserError
from ..io.read import read_pool
from ..io.source import Source
from ..runtime.files import reading
from ..runtime.progress import as_progress
from ..validation import as_array
from .options import PoolOptions


def read(options: PoolOptions, console: Console, seed: int = 0, target: str | None = None) -> Source:
    """The pool; its column `target` is no feature."""
    with as_progress(True, console) as progress:
        return read_pool(
            options.pool, **options.features, text_column=options.text, target=target, embed=options.embed, seed=seed,
            progress=progress,
        )  # fmt: skip


def say_source(pool: str, source: Source, console: Console) -> None:
    """A line that says what the pool's features are, and one for each item that was skipped."""
    console.print(f"{pool}: {len(source.X):,} rows, {source.features}")
    for file, reason in source.skipped:
        console.print(f"skipped {file}: {reason}")


def usable(X: Any, pool: str) -> Any:
    """X as an array of finite numbers that are not all equal, or an error that names the pool and the row."""
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
