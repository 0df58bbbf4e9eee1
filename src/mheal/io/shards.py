"""Parquet shards that stay on disk: streamed into one array, or read by a Dask cluster, part by part.

Their ids and cells are read when they are needed.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError, how_many
from ..runtime.checkpoint import NullCheckpoint, file_mark
from ..runtime.files import reading
from ..runtime.threads import spans
from ..tables.features import feature_array, fits_float32
from ..tables.schema import Schema, choose
from ..tables.table import kind_of
from .locate import locate
from .source import Source
from .tables import on_disk, read_columns, scan

SLICE = 1 << 26  # bytes of rows that are read at a time
PART = 1 << 26  # bytes of float32 in a partition: smaller row groups of a file are merged up to this size
TEXT = 8  # a short text takes as much memory as this many numbers


def unread(files: Sequence[Path], schema: Schema, X: Any = None, where: str = "") -> Source:
    """The shards as a pool whose ids and cells are read when they are needed. X may be set later."""
    ids = None if schema.id_column is None else ShardIds(files, schema.id_column)
    rows = sum(map(row_count, files)) if X is None else len(X)
    features = f"{schema.description}{where}"
    return Source(X, "table", features, [*files], ids, schema.id_column, n_in_files=rows, answers=schema.answers)


def stream_shards(
    files: Sequence[Path], name: str, checkpoint: NullCheckpoint, *, columns: Sequence[str] | None = None,
    without: Sequence[str] = (), also: Sequence[str] = (), id_column: str | None = None, answers: Sequence[str] = (),
    check: Callable[[tuple[int, int], np.dtype[Any]], None] | None = None, slice_bytes: int = SLICE,
) -> Source:  # fmt: skip
    """Copy the shards into one array in the checkpoint's folder. An interrupted run resumes with the next shard.

    Features are chosen as by `read_pool`, but text columns are refused, since encoding needs all their values first.
    Ids are not checked and may repeat.

    check : called with the shape and type of the array before it is written; it may raise. float64 may become float32
    """
    schema = choose(on_disk(files, name), columns, without, also, id_column, answers=answers)
    starts = [0, *accumulate(map(row_count, files))]
    shape, dtype = (starts[-1], schema.width), np.dtype(schema.dtype)
    if check is not None:
        check(shape, dtype)
    checkpoint.begin({"files": [file_mark(file) for file in files], "features": schema.names})
    A = checkpoint.scratch("pool", shape, dtype)
    step = max(1, slice_bytes // max(1, A[:1].nbytes))

    def copy(at: int) -> None:
        rows, file = A[starts[at] : starts[at + 1]], files[at]
        for lo, hi in spans(len(rows), step):
            rows[lo:hi] = feature_array(read_columns(file, schema.names, lo, hi - lo), schema, file.name, lo)
            checkpoint.yield_point()

    def halve() -> None:
        for lo, hi in spans(len(A), step):
            small[lo:hi] = A[lo:hi]
            checkpoint.yield_point()

    for at, stop in enumerate(starts[1:]):
        checkpoint.stage(f"shard {at}", partial(copy, at), part=True)
        checkpoint.report(stop, shape[0], "reading shards")
    X = A
    fits = partial(fits_float32, A, checkpoint.yield_point)
    if dtype == np.float64 and checkpoint.stage("precision", lambda: {"fits": np.array(fits())})["fits"]:
        X = small = checkpoint.scratch("pool-float32", shape, np.float32)
        checkpoint.stage("halved", halve)
    if isinstance(X, np.memmap):
        X.flush()
        X = np.lib.format.open_memmap(X.filename, "r")  # type: ignore[arg-type]
    return unread(files, schema, X, f", from {how_many(len(files), 'shard')}")


def read_on_cluster(
    pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    also: Sequence[str] = (), id_column: str | None = None, answers: Sequence[str] = (), part_bytes: int = PART,
) -> Source:  # fmt: skip
    """The shards, in the order of their names, as a pool whose X is a Dask array; rows are read when they are needed.

    X is float32 if that type holds all values of the columns' types exactly, else float64. Features are chosen as by
    `read_pool`, but text columns are refused.
    """
    from dask import array as da
    from dask import delayed

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
    return unread(files, schema, da.concatenate(arrays), f", in {how_many(len(parts), 'part')}")


def read_parquet(pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = ()) -> Any:
    """A Dask array of the rows of ``"shards/*.parquet"``, read when needed. Columns are chosen as by ``read_pool``."""
    return read_on_cluster(pattern, columns, without).X


def _parts(file: Path, width: int, part_bytes: int) -> list[tuple[int, int]]:
    """First row and number of rows of each partition: whole row groups of the file; small ones are merged."""
    from pyarrow.parquet import read_metadata

    with reading(file):
        footer = read_metadata(file)
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
    """These rows as an array. Missing values become NaN; a later check refuses NaN and names the row in the pool."""
    frame = read_columns(Path(file), schema.names, start, rows)
    return feature_array(frame, schema, Path(file).name, start, refuse=False)


def row_count(file: Path) -> int:
    """How many rows a file has, from its footer."""
    with reading(file):
        return int(scan(file).select(pl.len()).collect().item())


def expected_shape(files: Sequence[Path]) -> tuple[int, int]:
    """How many rows the shards have, and about how many numbers of 8 bytes a row takes if all columns are read."""
    table, columns = on_disk(files, "the pool"), 0
    for name, dtype in table.types.items():
        columns += table.list_length(name) if dtype.is_nested() else 1 if kind_of(dtype) == "numbers" else TEXT
    return sum(map(row_count, files)), max(1, columns)


class ShardIds:
    """The values of a column of the shards, read when they are needed."""

    def __init__(self, files: Sequence[Path], column: str) -> None:
        self.files, self.column = files, column

    def __iter__(self) -> Iterator[Any]:
        for file in self.files:
            yield from read_columns(file, [self.column]).to_series()

    def of(self, rows: npt.NDArray[np.int64]) -> list[Any]:
        """The values in these rows of the pool."""
        return gather(self.files, rows, [self.column]).to_series().to_list()


def gather(files: Sequence[Path], rows: npt.NDArray[np.int64], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """These rows of the shards, in the order given; all columns by default."""
    wanted, found, starts = np.unique(rows), [], [0, *accumulate(map(row_count, files))]
    for file, (start, stop) in zip(files, pairwise(starts), strict=True):
        here = wanted[(wanted >= start) & (wanted < stop)] - start
        with reading(file):
            found.append(scan(file).select(pl.col(columns or "*").gather(here.tolist())).collect())
    return pl.concat(found, how="diagonal_relaxed")[np.searchsorted(wanted, rows)]
