"""Parquet shards as a Dask array: the workers read the rows, the client only footers and the first embeddings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from dask import array as da
from dask import delayed

from ..exceptions import UserError
from ..runtime.files import reading
from ..tables.features import feature_array
from ..tables.schema import Schema, choose
from .locate import locate
from .shards import unread
from .source import Source
from .tables import on_disk, read_columns

PART = 1 << 26  # bytes of float32 that are enough for a partition: smaller row groups of a file are read together


def read_on_cluster(
    pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    also: Sequence[str] = (), id_column: str | None = None, answers: Sequence[str] = (), part_bytes: int = PART,
) -> Source:  # fmt: skip
    """The shards, in the order of their names, as a pool whose X is a Dask array; rows are read when they are needed.

    X is float32 where that holds every number of its columns' types, else float64. Features are those of `read_pool`,
    but that text is refused.

    part_bytes : bytes of float32 that are enough for a partition
    """
    located = locate(pattern)
    files = located.files
    if located.form != ".parquet":
        raise UserError(f"a cluster reads .parquet files, not {located.form}: write the pool as such shards")
    schema = choose(on_disk(files, Path(pattern).name), columns, without, also, id_column, answers=answers)
    parts = [(file, *part) for file in files for part in _parts(file, schema.width, part_bytes)]
    if not parts:
        raise UserError(f"{pattern} has no rows")
    read, dtype = delayed(_read, pure=True), np.dtype(schema.dtype)
    arrays = [
        da.from_delayed(read(str(file), start, rows, schema), (rows, schema.width), dtype)
        for file, start, rows in parts
    ]
    return unread(files, schema, da.concatenate(arrays), f", in {len(parts):,} parts")


def read_parquet(pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = ()) -> Any:
    """A Dask array of the rows of Parquet shards, in the order of their names; nothing is read before it is needed.

    Parameters
    ----------
    pattern : a file or a pattern such as ``"shards/*.parquet"``
    columns : the features; by default the embeddings if one column holds lists of numbers, else all numbers and truth
        values but those of a column ``id``
    without : columns that are no features
    """
    return read_on_cluster(pattern, columns, without).X


def _parts(file: Path, width: int, part_bytes: int) -> list[tuple[int, int]]:
    """First row and number of rows of each partition: whole row groups of the file, small ones together."""
    with reading(file):
        footer = pq.read_metadata(file)
    parts: list[tuple[int, int]] = []
    end = 0
    for group in range(footer.num_row_groups):
        rows = footer.row_group(group).num_rows
        if parts and (parts[-1][1] + rows) * width * 4 <= part_bytes:
            parts[-1] = (parts[-1][0], parts[-1][1] + rows)
        elif rows:
            parts.append((end, rows))
        end += rows
    return parts


def _read(file: str, start: int, rows: int, schema: Schema) -> npt.NDArray[Any]:
    """These rows as an array. Missing values become NaN, which is refused later by its row in the pool."""
    frame = read_columns(Path(file), schema.names, start, rows)
    return feature_array(frame, schema, Path(file).name, start, refuse=False)
