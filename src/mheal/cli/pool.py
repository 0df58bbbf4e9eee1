"""The pool as a command reads it, with a line that says what its features are."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ..backends.cpu.points import Points
from ..exceptions import UserError, UserFileError
from ..io.labels import Labels, read_labels
from ..io.read import read_pool
from ..io.source import Source
from ..runtime.files import reading
from ..runtime.progress import as_progress
from ..tables.frames import repeating
from ..validation import as_array
from .options import PoolOptions, names


def read(
    options: PoolOptions, console: Console, seed: int = 0, target: str | None = None, answers: Sequence[str] = ()
) -> Source:
    """The pool; its column `target` and the columns `answers` hold labels, and are no features."""
    missing: Any = options.missing
    with as_progress(True, console) as progress:
        return read_pool(
            options.pool, **options.features, text_column=options.text, target=target, answers=answers,
            missing=missing, embed=options.embed, seed=seed, progress=progress,
        )  # fmt: skip


def read_with_labels(
    options: PoolOptions, labeled: str | None, console: Console, seed: int = 0
) -> tuple[Source, Labels]:
    """The pool and the labels in a file, numbered as the rows of X. Columns that repeat the labels are no features."""
    source = read(options, console, seed)
    labels = labels_in(labeled, source)
    if source.cells is not None and labels.values is not None:
        free = source.cells.select(name for name in source.cells.columns if name not in (names(options.also) or ()))
        if answers := repeating(free, labels.values, labels.rows):
            del source, free  # before it is read again
            source = read(options, console, seed, answers=answers)
    return source, labels


def labels_in(file: str | None, source: Source) -> Labels:
    """The labels in a file, if any, numbered as the rows of X; those of rows that were left out are not there."""
    if file is None:
        return Labels(np.empty(0, np.int64), None)
    labels = read_labels(file, source.ids, source.n_rows, id_column=source.id_column)
    places = source.places(labels.rows)
    kept = places >= 0
    return Labels(places[kept], None if labels.values is None else labels.values[kept])


def say_source(pool: str, source: Source, console: Console) -> None:
    """A line that says what the pool's features are, and one for each item that was skipped."""
    console.print(f"{pool}: {len(source.X):,} rows, {source.features}")
    for note in source.notes:
        console.print(f"{pool}: {note}")
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


def refuse_missing_folders(*files: Path | None) -> None:
    """Refuse to write files to folders that are not there: before an hour of work, not after it."""
    for file in files:
        if file is not None and not os.path.isdir(file.parent):
            raise UserFileError(f"there is no folder {str(file.parent)!r} to write {file.name} to: make it first")


def checksum(files: Iterable[Path]) -> str:
    """SHA-256 of all files, by name and content, in their order."""
    total = hashlib.sha256()
    for file in files:
        with reading(file), file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
            total.update(f"{file.name}:{digest}\n".encode(errors="surrogateescape"))
    return total.hexdigest()
