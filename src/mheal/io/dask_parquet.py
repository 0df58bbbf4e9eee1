"""Parquet shards as a Dask array: the workers read them, the client only their footers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from dask import array as da
from dask import delayed

from ..exceptions import UserError
from .ids import USUAL
from .locate import locate

PART = 1 << 26  # bytes of float32 that are enough for a partition: smaller row groups of a file are read together


PANDAS_INDEX = "__index_level_0__"


class Part(NamedTuple):
    """Row groups of one file that are read together, and how many rows they have."""

    file: str
    groups: list[int]
    rows: int


def read_parquet(pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = ()) -> Any:
    """A Dask array of the shards' rows, in the order of their names; nothing is read before it is needed.

    It is float32 where that holds every number of its columns' types, else float64. Columns of text are refused.

    columns : of numbers or of embeddings (lists of numbers, all of one length). By default the embeddings if there is
        one column of them, else all numbers and truth values but for a column `id`
    without : columns that are no features
    """
    files = [str(file) for file in parquet_files(pattern)]
    schema = pq.read_schema(files[0])
    names = _features(schema, Path(files[0]).name, columns, without)
    for file in files[1:]:
        _refuse_other_columns(schema, pq.read_schema(file), names, Path(file).name)
    widths = [_width(files, schema.field(name)) for name in names]
    width, dtype = sum(widths), _type(schema, names)
    parts = [part for file in files for part in _parts(file, width)]
    if not parts:
        raise UserError(f"{pattern} has no rows")
    read = delayed(_read, pure=True)
    arrays = [
        da.from_delayed(read(part.file, part.groups, names, widths, dtype), (part.rows, width), dtype) for part in parts
    ]
    return da.concatenate(arrays)


def parquet_files(pattern: str | Path) -> list[Path]:
    """The shards, in the order of their names."""
    found = locate(pattern)
    if found.form != ".parquet":
        raise UserError(f"a cluster reads .parquet files, not {found.form}: write the pool as such shards")
    return found.files


def column_names(pattern: str | Path) -> list[str]:
    """The columns of the first shard."""
    return list(pq.read_schema(parquet_files(pattern)[0]).names)


class Ids:
    """The values of a column of the shards, read in turn when they are asked for."""

    def __init__(self, pattern: str | Path, column: str) -> None:
        self.column = column
        self.parts = [part for file in parquet_files(pattern) for part in _parts(str(file), 1)]
        for part in self.parts:
            if column not in pq.read_schema(part.file).names:
                raise UserError(f"{Path(part.file).name} has no column {column!r}")

    def __len__(self) -> int:
        return sum(part.rows for part in self.parts)

    def __iter__(self) -> Any:
        for part in self.parts:
            yield from self._values(part)

    def _values(self, part: Part) -> list[Any]:
        return pq.ParquetFile(part.file).read_row_groups(part.groups, [self.column]).column(0).to_pylist()


def _parts(file: str, width: int) -> list[Part]:
    """The file's row groups, small ones together."""
    footer = pq.read_metadata(file)
    parts: list[Part] = []
    for group in range(footer.num_row_groups):
        rows = footer.row_group(group).num_rows
        if parts and (parts[-1].rows + rows) * width * 4 <= PART:
            parts[-1] = Part(file, [*parts[-1].groups, group], parts[-1].rows + rows)
        elif rows:
            parts.append(Part(file, [group], rows))
    return parts


def _features(schema: pa.Schema, file: str, columns: Sequence[str] | None, without: Sequence[str]) -> list[str]:
    for name in [*(columns or []), *without]:
        if name not in schema.names:
            raise UserError(f"{file} has no column {name!r}: it has {', '.join(schema.names[:20])}")
    if columns is not None:
        for name in columns:
            if not _is_number(schema.field(name).type) and not _is_vector(schema.field(name).type):
                raise UserError(f"{file}: column {name!r} holds {schema.field(name).type}: give columns of numbers")
        return list(columns)
    fields = [field for field in schema if field.name not in without]
    vectors = [field.name for field in fields if _is_vector(field.type)]
    if len(vectors) > 1:
        raise UserError(f"{file} has several columns of embeddings ({', '.join(vectors)}): choose columns")
    names = vectors or [field.name for field in fields if field.name not in (USUAL, PANDAS_INDEX)]
    for name in names:
        if not _is_number(schema.field(name).type) and not _is_vector(schema.field(name).type):
            raise UserError(
                f"{file}: column {name!r} holds {schema.field(name).type}, which is understood only in memory: choose "
                "the columns that are features, or leave it out"
            )
    if not names:
        raise UserError(f"{file} has no column of numbers: it has {', '.join(schema.names[:20])}")
    return names


def _refuse_other_columns(schema: pa.Schema, other: pa.Schema, names: Sequence[str], file: str) -> None:
    for name in names:
        if name not in other.names:
            raise UserError(f"{file} has no column {name!r}, which the first shard has")
        if _is_vector(other.field(name).type) != _is_vector(schema.field(name).type):
            raise UserError(f"{file}: column {name!r} holds {other.field(name).type}, unlike the first shard")


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)


def _is_vector(kind: pa.DataType) -> bool:
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return lists and _is_number(kind.value_type)


def _width(files: Sequence[str], field: pa.Field) -> int:
    """Numbers that a column gives a row; the first row says how long its lists are."""
    if not _is_vector(field.type):
        return 1
    if pa.types.is_fixed_size_list(field.type):
        return int(field.type.list_size)
    for file in files:
        for batch in pq.ParquetFile(file).iter_batches(1, columns=[field.name]):
            return len(batch.column(0)[0])
    return 1


def _type(schema: pa.Schema, names: Sequence[str]) -> np.dtype[Any]:
    """The type that holds the numbers of these columns."""
    kinds = [schema.field(name).type for name in names]
    numbers = [kind.value_type if _is_vector(kind) else kind for kind in kinds]
    small = all(pa.types.is_boolean(kind) or kind == pa.float32() or kind.bit_width <= 16 for kind in numbers)
    return np.dtype(np.float32 if small else np.float64)


def _read(file: str, groups: list[int], names: list[str], widths: list[int], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """These row groups as an array; missing values become NaN, to be refused by their place."""
    table = pq.ParquetFile(file).read_row_groups(groups, names)
    out, kind = np.empty((table.num_rows, sum(widths)), dtype), pa.from_numpy_dtype(dtype)
    at = 0
    for name, wide in zip(names, widths, strict=True):
        column = table.column(name)
        if not _is_vector(column.type):
            out[:, at] = column.cast(kind, safe=False).to_numpy()
            at += wide
            continue
        if not pc.all(pc.equal(pc.fill_null(pc.list_value_length(column), -1), wide)).as_py():
            raise UserError(f"{Path(file).name}: column {name!r} has lists of different lengths, not {wide} each")
        lo = 0
        for chunk in column.chunks:
            flat = chunk.flatten().cast(kind, safe=False).to_numpy(zero_copy_only=False)
            out[lo : lo + len(chunk), at : at + wide] = flat.reshape(len(chunk), wide)
            lo += len(chunk)
        at += wide
    return out
