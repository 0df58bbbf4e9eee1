"""Parquet shards larger than memory: their rows are streamed into one array on disk, which kernels read in place."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..backends.cpu.points import moments, passes
from ..exceptions import UserError
from ..runtime.checkpoint import NullCheckpoint
from .ids import USUAL
from .source import Source
from .tables import HELD_BY_FLOAT32, ROW_NUMBERS

TEXT = 8  # numbers in whose place a short text stands in memory
SLICE = 1 << 26  # bytes of rows that are read at a time
READING = "reading shards"
REMEDY = "fill in such cells, drop their rows, or leave the column out"


def expected_shape(files: Sequence[Path]) -> tuple[int, int]:
    """How many rows the shards have, and about how many numbers of 8 bytes each would take if all were read."""
    schema = _scan(files[0]).collect_schema()
    columns = [_length(files, c) if kind.is_nested() else 1 if _is_number(kind) else TEXT for c, kind in schema.items()]
    return sum(_rows(file) for file in files), max(1, sum(columns))


class ShardIds:
    """The values of a column of the shards, read in turn when they are asked for."""

    def __init__(self, files: Sequence[Path], column: str) -> None:
        self.files, self.column = files, column

    def __iter__(self) -> Iterator[Any]:
        for file in self.files:
            yield from _scan(file).select(self.column).collect().to_series()


def stream_shards(
    files: Sequence[Path],
    name: str,
    stages: NullCheckpoint,
    *,
    columns: Sequence[str] | None = None,
    without: Sequence[str] = (),
    id_column: str | None = None,
    check: Callable[[tuple[int, int], np.dtype[Any]], None] | None = None,
) -> Source:
    """The shards as a pool in the workspace, which a run that was stopped goes on filling shard by shard.

    Features are those of `read_pool`: the embeddings if one column holds them, else all numbers and truth values. Text
    would have to be counted before it could be encoded, and is refused. Ids are read when they are asked for, those of
    picks alone with `ids_of`; that they do not repeat is not checked.

    check : called with the pool's shape and type before anything is written, to refuse it; float64 may become float32
    """
    schema = _scan(files[0]).collect_schema()
    for column in [*(columns or ()), *without, *([id_column] if id_column else [])]:
        if column not in schema:
            raise UserError(f"{name} has no column {column!r}: it has {', '.join(schema.names()[:20])}")
    if id_column is None and USUAL in schema and USUAL not in [*(columns or ()), *without]:
        id_column = USUAL
    features = _features(files, schema, name, columns, {*without, id_column})
    counts = [_rows(file) for file in files]
    starts, total = np.append(0, np.cumsum(counts)), sum(counts)
    vectors = schema[features[0]].is_nested()
    inner = [getattr(schema[f], "inner", schema[f]) for f in features]
    dtype = np.dtype(np.float32 if all(kind in HELD_BY_FLOAT32 for kind in inner) else np.float64)
    width = _length(files, features[0]) if vectors else len(features)
    if check is not None:
        check((total, width), dtype)
    stages.begin({"files": [_mark(file) for file in files], "features": features})
    A = stages.scratch("pool", (total, width), dtype)
    for at, file in enumerate(files):
        part = A[starts[at] : starts[at + 1]]
        stages.stage(f"shard {at}", lambda file=file, part=part: _copy(file, features, part), part=True)  # type: ignore[misc]
        stages.report(int(starts[at + 1]), total, READING)
    if dtype == np.float64 and stages.stage("precision", lambda: {"halve": np.array(_fits_float32(A))})["halve"]:
        A = _halved(A, stages)
    said = f"the embeddings in column {features[0]!r} ({width} numbers a row)"
    if not vectors:
        said = f"{width:,} numeric column{'s' if width > 1 else ''}"
    ids: Any = None if id_column is None else ShardIds(files, id_column)
    return Source(_read_only(A), "table", f"{said}, from {len(files):,} shards", list(files), ids, id_column)


def ids_of(files: Sequence[Path], column: str, rows: npt.NDArray[np.int64]) -> Mapping[int, Any]:
    """What names each of these rows of the pool."""
    found: dict[int, Any] = {}
    start = 0
    for file in files:
        stop = start + _rows(file)
        wanted = np.unique(rows[(rows >= start) & (rows < stop)])
        if len(wanted):
            values = _scan(file).select(pl.col(column).gather((wanted - start).tolist())).collect().to_series()
            found |= zip(wanted.tolist(), values.to_list(), strict=True)
        start = stop
    return found


def _scan(file: Path) -> pl.LazyFrame:
    try:
        frame = pl.scan_parquet(file, glob=False)
        frame.collect_schema()
        return frame
    except pl.exceptions.PolarsError as error:
        raise UserError(f"cannot read {file.name}: {str(error).splitlines()[0]}") from error


def _rows(file: Path) -> int:
    return int(_scan(file).select(pl.len()).collect().item())


def _length(files: Sequence[Path], column: str) -> int:
    """How many numbers the first row has in a column of embeddings."""
    for file in files:
        first = _scan(file).select(pl.col(column).drop_nulls()).head(1).collect().to_series()
        if len(first):
            return len(first[0])
    return 1


def _mark(file: Path) -> dict[str, Any]:
    at = file.stat()
    return {"file": file.name, "bytes": at.st_size, "changed": at.st_mtime_ns}


def _is_vector(dtype: pl.DataType) -> bool:
    return isinstance(dtype, pl.List | pl.Array) and dtype.inner.is_numeric()


def _is_number(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype == pl.Boolean


def _features(
    files: Sequence[Path], schema: pl.Schema, name: str, columns: Sequence[str] | None, kept_out: set[str | None]
) -> list[str]:
    """The columns that are features: one of embeddings, or numbers."""
    chosen = [c for c in (columns or schema.names()) if c not in kept_out]
    vectors = [c for c in chosen if _is_vector(schema[c])]
    if len(vectors) > 1 or (columns and vectors and len(chosen) > 1):
        raise UserError(f"{name}: of several columns {vectors[0]!r} holds embeddings: choose that one or others")
    features = vectors or [c for c in chosen if not (columns is None and c in ROW_NUMBERS and _counts(files, c))]
    for column in features:
        if not (_is_vector(schema[column]) or _is_number(schema[column])):
            raise UserError(
                f"{name}: column {column!r} holds {schema[column]}, which is understood only in memory: choose the "
                "columns that are features, leave it out, or allow more memory"
            )
    if not features:
        raise UserError(f"{name} has no column of numbers")
    for file in files[1:]:
        other = _scan(file).collect_schema()
        for column in features:
            if other.get(column) != schema[column]:
                raise UserError(
                    f"column {column!r} holds {other.get(column, 'nothing')} in {file.name}, but {schema[column]} in "
                    f"{files[0].name}"
                )
    return features


def _counts(files: Sequence[Path], column: str) -> bool:
    """Whether a column is only the number of the row."""
    start = 0
    for file in files:
        values = _scan(file).select(column).collect().to_series()
        if not values.equals(pl.Series(range(start, start + len(values)))):
            return False
        start += len(values)
    return True


def _copy(file: Path, features: list[str], out: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Write a shard's rows to their place."""
    frame = _scan(file).select(features)
    step = max(1, SLICE // out[:1].nbytes) if len(out) else 1
    for lo in range(0, len(out), step):
        hi = min(len(out), lo + step)
        block = _numbers(frame.slice(lo, step).collect(), file, lo, out.shape[1])
        if not np.isfinite(block).all():
            row, column = np.argwhere(~np.isfinite(block))[0]
            where = features[column] if len(features) > 1 else features[0]
            raise UserError(f"{file.name}: row {lo + row}, column {where!r} is empty or not finite: {REMEDY}")
        out[lo:hi] = block
    return {"rows": np.array(len(out))}


def _numbers(frame: pl.DataFrame, file: Path, start: int, width: int) -> npt.NDArray[Any]:
    if not _is_vector(frame.dtypes[0]):
        return frame.cast(pl.Float32 if all(d in HELD_BY_FLOAT32 for d in frame.dtypes) else pl.Float64).to_numpy()
    column = frame.to_series()
    column = column.cast(pl.List(column.dtype.inner))  # type: ignore[attr-defined]
    lengths = column.list.len().fill_null(0)
    if (lengths != width).any():
        row = int((lengths != width).arg_true()[0])
        raise UserError(
            f"{file.name}: row {start + row}, column {column.name!r} has {lengths[row]} numbers, but the first row has "
            f"{width}: embeddings must be of one length"
        )
    kind = pl.Float32 if column.dtype.inner in HELD_BY_FLOAT32 else pl.Float64  # type: ignore[attr-defined]
    return column.explode().cast(kind).to_numpy().reshape(len(column), width)


def _fits_float32(A: npt.NDArray[Any]) -> bool:
    """As in tables: whether float32 moves no number by more than 1/10,000 of its column's standard deviation."""
    error, low, high = np.zeros(A.shape[1]), np.full(A.shape[1], np.inf), np.full(A.shape[1], -np.inf)
    with np.errstate(over="ignore"):
        for lo, hi in passes(A):
            block = A[lo:hi]
            np.maximum(error, np.abs(block - block.astype(np.float32)).max(axis=0), out=error)
            np.minimum(low, block.min(axis=0), out=low)
            np.maximum(high, block.max(axis=0), out=high)
    return bool((np.isfinite(error) & ((error <= 1e-4 * moments(A)[1]) | (low == high))).all())


def _halved(A: npt.NDArray[Any], stages: NullCheckpoint) -> npt.NDArray[Any]:
    small = stages.scratch("pool-float32", A.shape, np.float32)

    def write() -> dict[str, npt.NDArray[Any]]:
        for lo, hi in passes(A):
            small[lo:hi] = A[lo:hi]
        return {}

    stages.stage("halved", write)
    return small


def _read_only(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not isinstance(A, np.memmap):
        return A
    A.flush()
    return np.lib.format.open_memmap(A.filename, "r")  # type: ignore[arg-type]
