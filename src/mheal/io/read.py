"""Reading a pool: a file, a folder of images or a pattern of shards."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..embed.methods import embed as embed_items
from ..exceptions import UserError
from ..runtime.files import reading
from ..runtime.progress import Progress
from .arrays import read_arrays
from .locate import TABLES, Located, locate
from .source import Source


def read_pool(
    source: str | Path, *, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    id_column: str | None = None, text_column: str | None = None, target: str | None = None, embed: str | None = None,
    seed: int = 0, progress: Progress | None = None,
) -> Source:  # fmt: skip
    """Read a pool. Rows are counted from 0, here and in every message.

    Parameters
    ----------
    source : a .npy, .npz (pool.npz:name for one of several arrays), .csv, .tsv, .parquet, .jsonl or .txt file (one
        text in each line), a folder of images, or a pattern of such files ("shards/*.parquet"), which are read in the
        order of their names
    columns : columns of a table to use as features. By default the embeddings if one column holds lists of numbers,
        else all numbers, truth values and text columns of at most 20 different values
    without : columns of a table that are no features
    id_column : the column that names each row; by default `id`, if its values are all different
    text_column : the column of a table to read as texts; by default its only one, if that is long text
    target : the column of a table that `read_target` reads labels from; it is no feature. It may also be a file
    embed : how items become vectors, a name in `mheal.embed.METHODS`
    seed : of the randomized steps of an embedding
    progress : called with (done, total, what) while items are read
    """
    located, name = locate(source), Path(source).name
    chosen = {"columns": columns, "without": without, "id_column": id_column, "text_column": text_column}
    try:
        read = _not_embedded(located, name, chosen, target)
        made = embed_items(read.X, read.kind, embed, seed=seed, progress=progress)
    except MemoryError as error:
        remedy = "use fewer columns, a simpler embedding, or a memory limit with .npy or .parquet files"
        raise UserError(f"{name} does not fit into memory: {remedy}") from error
    features = ", ".join(filter(None, (read.features, made.description)))
    if read.kind != "images":
        return replace(read, X=made.X, features=features, items=read.X if read.kind == "texts" else None)
    unread = dict(made.skipped)
    files = [file for at, file in enumerate(located.files) if at not in unread]
    ids = [file.relative_to(located.base).as_posix() for file in files]
    skipped = [(located.files[at], reason) for at, reason in made.skipped]
    return Source(made.X, "images", features, files, ids, None, files, skipped)


def _not_embedded(located: Located, name: str, chosen: dict[str, Any], target: str | None) -> Source:
    """What the files hold; `chosen` are the columns of a table, which nothing else has."""
    files = located.files
    if located.form in TABLES:
        from .features import read_features

        return read_features(files, name, **chosen, target=target)
    for option, value in chosen.items():
        if value:
            raise UserError(f"{name} is not a table and has no column names: leave out {option}={value!r}")
    if located.form == "images":
        return Source(files, "images", "", files)
    if located.form == ".txt":
        return Source(read_lines(files), "texts", "", files)
    X, description = read_arrays(files, located.array)
    return Source(X, "vectors", description, files)


def read_lines(files: Sequence[Path]) -> list[str]:
    """Texts, one in each line, so that row i is line i + 1; empty lines at the end of a file are no texts."""
    texts: list[str] = []
    for file in files:
        with reading(file):
            lines = file.read_text(encoding="utf-8-sig").rstrip().split("\n")
        if lines == [""]:
            raise UserError(f"{file.name} is empty: write one text in each line")
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                raise UserError(f"{file.name}: line {number} is empty: delete such lines, each line is a row")
        texts += lines
    return texts
