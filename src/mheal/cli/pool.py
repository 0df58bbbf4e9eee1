"""Reading the pool and the labels for a command, and printing what was read."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from ..backends.cpu.points import Points
from ..exceptions import UserError, shortened
from ..io.labels import Labels, joined, read_labels
from ..io.locate import locate
from ..io.read import read_pool
from ..io.source import Source
from ..runtime.progress import as_progress
from ..validation import as_array
from .options import PoolOptions, names, paths

SHOWN = 10  # classes that are listed
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def read(
    options: PoolOptions, console: Console, seed: int = 0, target: str | None = None, answers: Sequence[str] = ()
) -> Source:
    """The pool. Its column `target` and the columns `answers` hold labels and are not features."""
    missing: Any = options.missing
    with as_progress(True, console) as progress:
        return read_pool(
            options.pool, **options.features, text_column=options.text, target=target, answers=answers,
            missing=missing, embed=options.embed, seed=seed, progress=progress,
        )  # fmt: skip


def read_with_labels(
    read: Callable[..., Source], options: PoolOptions, labeled: list[str] | None, console: Console
) -> tuple[Source, Labels]:
    """The pool and the labels, numbered as the rows of X. Columns that equal the labels are not features.

    read : returns the pool; its argument `answers` names columns that hold labels
    """
    source = read()
    labels = labels_in(labeled, source, console)
    if answers := answers_in(options, source, labels.values, labels.rows):
        del source  # frees its memory before it is read again
        source = read(answers=answers)
    return source, labels


def answers_in(options: PoolOptions, source: Source, labels: Any, rows: Any) -> list[str]:
    """The columns that equal the labels of these rows of X, except those chosen by --with."""
    if labels is None or not len(labels):
        return []
    from ..io.sheet import cells_of
    from ..tables.table import repeating

    chosen = names(options.also) or ()
    return [name for name in repeating(cells_of(source, rows), labels) if name not in chosen]


def labels_in(
    files: str | list[str] | None, source: Source, console: Console | None = None, only_labelled: bool = True
) -> Labels:
    """The labels in files, if any, numbered as the rows of X. Rows that X leaves out are dropped.

    only_labelled : ignore items without a label, and require a label; False: take all items, and refuse labels
    """
    if not (files := paths(files)):
        return Labels(np.empty(0, np.int64), None)
    from ..io.fingerprint import missing_files_of_labels, refuse_moved

    found: dict[str, Labels] = {}
    for file in files:
        labels = read_labels(file, source.ids, source.n_rows, id_column=source.id_column, only_labelled=only_labelled)
        if labels.values is not None and not len(labels.values) and not labels.notes:
            remedy = "annotate its tasks" if file.lower().endswith(".json") else "fill in its column label"
            later = "to keep picks that are not labelled yet, use mheal select --keep"
            raise UserError(f"{file} has no label yet: {remedy}; {later}")
        places = source.places(labels.rows)
        refuse_moved(file, source, places[places >= 0])
        found[file] = labels
    both = joined(found)
    if console is not None:
        for note in [*both.notes, *missing_files_of_labels([*found])]:
            console.print(note)
    places = source.places(both.rows)
    kept = places >= 0
    return Labels(places[kept], None if both.values is None else both.values[kept])


def print_source(pool: str, source: Source, console: Console) -> None:
    """Print the number of rows, the features, notes, skipped images, and how to get better features."""
    n = source.n_rows if source.rows is None else len(source.rows)
    console.print(f"{pool}: {n:,} row{'s' * (n != 1)}, {source.features}")
    for note in source.notes:
        console.print(f"{pool}: {note}")
    if skipped := [f"{file} ({reason})" for file, reason in source.skipped]:
        images = f"{len(skipped):,} image{'s' * (len(skipped) != 1)}"
        console.print(f"skipped {images} that cannot be read: {shortened(skipped)}")
    if source.advice:
        console.print(source.advice)


def print_labels(files: str | list[str] | None, labels: Any, console: Console) -> None:
    """Print the number of labels of each class, rare classes, and classes that may be one in two spellings."""
    where = ", ".join(paths(files))
    if where and labels is None:
        unknown = "its rows are not picked, but their labels are unknown; rename the column that holds them"
        console.print(f"{where} has no column 'label': {unknown}")
    if labels is None or not len(labels):
        return
    counts = Counter(f"{label:g}" if isinstance(label, float) else str(label) for label in labels)
    n, alike = counts.total(), dict[str, list[str]]()
    console.print(f"{where}: {n:,} labels of {len(counts):,} classes: {counted(dict(counts.most_common()))}")
    rare = {name: many for name, many in counts.items() if many == 1 or 10 * many * len(counts) < n}
    if rare and 2 * len(counts) <= n:  # else the labels are no classes
        remedy = "a model learns little about them: label more, or merge them"
        console.print(f"{where}: rare classes: {counted(rare)}: {remedy}")
    for name in counts:
        plain = name.strip().casefold().replace("_", " ").replace("-", " ")
        alike.setdefault(str(WORDS.index(plain)) if plain in WORDS else plain.removesuffix(".0"), []).append(name)
    for same in alike.values():
        if len(same) > 1:
            console.print(f"{where}: {' and '.join(map(repr, same))} may be one class: spell them the same")


def counted(counts: dict[str, int]) -> str:
    """The first ten classes, each with its number of labels, as text."""
    return shortened([f"{name} {many:,}" for name, many in counts.items()], SHOWN)


def inputs(**typed: str | list[str] | None) -> dict[str, list[Path]]:
    """The input files of a command, by option."""
    named = {name: paths(files) for name, files in typed.items() if files}
    pools = ("pool", "proba")  # options that accept the same files as a pool
    return {name: locate(one[0]).files if name in pools else [*map(Path, one)] for name, one in named.items()}


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
