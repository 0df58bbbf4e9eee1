"""Reading a pool: a file, a folder of images or a pattern of shards."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..embed.methods import embed as embed_items
from ..exceptions import UserError, shortened
from ..runtime.progress import Progress
from .arrays import read_arrays
from .locate import TABLES, Located, locate
from .source import Source

if TYPE_CHECKING:
    from ..tables.features import Missing


def read_pool(
    source: str | Path, *, columns: Sequence[str] | None = None, without: Sequence[str] = (), also: Sequence[str] = (),
    id_column: str | None = None, text_column: str | None = None, target: str | None = None,
    answers: Sequence[str] = (), missing: "Missing" = "impute", embed: str | None = None, seed: int = 0,
    progress: Progress | None = None,
) -> Source:  # fmt: skip
    """Read a pool. Rows are counted from 0, here and in every message.

    Parameters
    ----------
    source : a .npy, .npz (pool.npz:name for one of several arrays), .csv, .tsv, .xlsx, .parquet, .jsonl or .txt file
        (one text in each line), a folder of images, or a pattern of such files (`shards/*.parquet`), which are read in
        the order of their names
    columns : columns of a table to use as features. By default the embeddings if one column holds lists of numbers;
        else numbers, dates, booleans, and text columns of at most 20 different values. Labels, ids, codes and row
        numbers are left out
    without : columns of a table that are not features
    also : columns of a table to use as features in addition to the default ones
    id_column : the column that names each row; by default one that is named like an id, if its values are all different
    text_column : the column of a table to read as texts; by default its only one, if that is long text
    target : the target of `read_target`; if it is a column of a table, that column is not a feature
    answers : further columns of a table that hold labels; they are not features
    missing : what to do with missing values of a table: "impute", "drop" or "refuse"
    embed : how items become vectors, a name in `mheal.embed.METHODS`
    seed : of the randomized steps of an embedding
    progress : called with (done, total, what) while items are read
    """
    located, name = locate(source), Path(source).name
    chosen = dict(columns=columns, without=without, also=also, id_column=id_column, text_column=text_column)
    try:
        read = _not_embedded(located, name, chosen, target, answers, missing)
        made = embed_items(read.X, read.kind, embed, seed=seed, progress=progress)
    except MemoryError as error:
        remedy = "use fewer columns, a simpler embedding, or a memory limit with .npy or .parquet files"
        raise UserError(f"{name} does not fit into memory: {remedy}") from error
    features = "; ".join(filter(None, (read.features, made.description)))
    if read.kind == "images":
        unread = dict(made.skipped)
        files = [file for at, file in enumerate(located.files) if at not in unread]
        names = [file.relative_to(located.base).as_posix() for file in located.files]
        ids = [name for at, name in enumerate(names) if at not in unread]
        skipped = [(names[at], reason) for at, reason in made.skipped]
        return Source(
            made.X, "images", features, files, ids, None, files, skipped, notes=located.notes, advice=made.advice
        )
    texts = read.X if read.kind == "texts" else None
    notes = [f"{what}: {len(at):,}, row {shortened(read.numbers(np.array(at)))}" for what, at in made.notes]
    return replace(read, X=made.X, features=features, items=texts, notes=[*read.notes, *notes], advice=made.advice)


def _not_embedded(
    located: Located, name: str, chosen: dict[str, Any], target: str | None, answers: Sequence[str], missing: "Missing"
) -> Source:
    """The content of the files, not embedded yet. `chosen` are options about columns, which only tables have."""
    files = located.files
    if located.form in TABLES:
        from .tables import read_table

        return read_table(files, name, **chosen, target=target, answers=answers, missing=missing)
    for option, value in chosen.items():
        if value:
            raise UserError(f"{name} is not a table and has no column names: leave out {option}={value!r}")
    if located.form == "images":
        return Source(files, "images", "", files)
    if located.form == ".txt":
        return _read_lines(files)
    X, description = read_arrays(files, located.array)
    return Source(X, "vectors", description, files)


def _read_lines(files: Sequence[Path]) -> Source:
    """Texts, one per line: row i of a file is its line i + 1. Empty lines at the end of a file are ignored."""
    import polars as pl

    from .tables import not_empty, read_text

    lines: list[str] = []
    for file in files:
        text = read_text(file).rstrip()
        if not text:
            raise UserError(f"{file.name} is empty: write one text in each line")
        lines += text.split("\n")
    texts, kept, notes = not_empty(pl.Series(lines), files[0].name)
    return Source(texts, "texts", "", [*files], rows=kept, n_in_files=len(lines), notes=notes)
