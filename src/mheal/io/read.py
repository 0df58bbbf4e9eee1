"""The door for data: a file, a folder of images or a pattern of shards becomes a pool."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..embed.methods import embed as embed_items
from ..exceptions import UserError
from ..runtime.progress import Progress
from .locate import TABLES, Found, locate
from .source import Kind, Source


def read_pool(
    source: str | Path,
    *,
    columns: Sequence[str] | None = None,
    without: Sequence[str] = (),
    id_column: str | None = None,
    text_column: str | None = None,
    embed: str | None = None,
    seed: int = 0,
    progress: Progress | None = None,
) -> Source:
    """Read a pool. Rows are counted from 0, here and in every message.

    source : a .npy, .npz (pool.npz:name for one of several arrays), .csv, .tsv, .parquet, .jsonl or .txt file (one
        text a line), a folder of images, or a pattern of such files ("shards/*.parquet"), read in the order of names
    columns : columns of a table to use as features; by default its embeddings if it has one column of them, else all
        numbers, truth values and text columns of at most 20 different values
    without : columns of a table that are no features: a target, say
    id_column : the column that names each row; by default `id`, where there is one and it is unique
    text_column : the column of a table to read as texts; by default its only one, if that is long text
    embed : how items become vectors, a name from `mheal.embed.methods.METHODS`
    seed : of the randomized steps of an embedding
    progress : called with (done, total, what) while items are read
    """
    found = locate(source)
    name = Path(source).name
    if found.form in TABLES:
        read = _read_table(found, name, columns, without, id_column, text_column)
    else:
        given = {"columns": columns, "without": without, "id_column": id_column, "text_column": text_column}
        for option, value in given.items():
            if value:
                raise UserError(f"{name} is not a table and has no column names: leave out {option}={value!r}")
        read = _read_others(found)
    made = embed_items(read.items, read.kind, embed, seed=seed, progress=progress)
    features = ", ".join(filter(None, (read.said, made.said)))
    if read.kind != "images":
        items = read.items if read.kind == "texts" else None
        return Source(made.X, read.kind, features, found.files, read.ids, read.id_column, items)
    unread = dict(made.skipped)
    files = [file for at, file in enumerate(found.files) if at not in unread]
    ids = [file.relative_to(found.base).as_posix() for file in files]
    skipped = [(found.files[at], reason) for at, reason in made.skipped]
    return Source(made.X, "images", features, files, ids, None, files, skipped)


@dataclass(frozen=True)
class _Read:
    """What the files held, before it is embedded: an array, image files or texts."""

    kind: Kind
    items: Any
    said: str = ""
    ids: list[Any] | None = None
    id_column: str | None = None


def _read_others(found: Found) -> _Read:
    if found.form == "images":
        return _Read("images", found.files)
    if found.form == ".txt":
        from ..embed.texts import read_lines

        return _Read("texts", read_lines(found.files))
    from .arrays import read_arrays

    return _Read("vectors", *read_arrays(found.files, found.array))


def _read_table(
    found: Found,
    name: str,
    columns: Sequence[str] | None,
    without: Sequence[str],
    id_column: str | None,
    text_column: str | None,
) -> _Read:
    from .frames import read_frames
    from .ids import USUAL, split_ids
    from .tables import column_texts, is_long_text, require_columns, table_features

    if text_column is not None and columns is not None:
        raise UserError(f"{name}: give either the text column or the columns that are features, not both")
    features = [text_column] if text_column is not None else columns or []
    kept_out = [*([id_column] if id_column is not None else []), *without]
    for column in features:
        if column in kept_out:
            raise UserError(f"{name}: column {column!r} is kept out of the features, so it cannot be one")
    frame = read_frames(found.files, as_text=[id_column or USUAL, *([text_column] if text_column is not None else [])])
    if frame.is_empty():
        raise UserError(f"{name} has no rows")
    require_columns(frame, name, [*kept_out, *features])
    frame, ids, id_column = split_ids(frame.drop(set(without) - {id_column}), name, id_column, features)
    if text_column is None and columns is None and frame.width == 1 and is_long_text(frame.to_series(), name):
        text_column = frame.columns[0]
    if text_column is not None:
        return _Read("texts", column_texts(frame[text_column], name), f"column {text_column!r}", ids, id_column)
    return _Read("table", *table_features(frame, name, columns), ids, id_column)
