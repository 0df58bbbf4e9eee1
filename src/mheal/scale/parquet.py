"""Parquet shards as a Dask array: the workers read them, the client only their footers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from dask import array as da
from dask import delayed

from ..pool.locate import locate

PART = 1 << 26  # bytes of float32 that are enough for a partition: smaller row groups of a file are read together


class Part(NamedTuple):
    """Row groups of one file that are read together, and how many rows they have."""

    file: str
    groups: list[int]
    rows: int


def read_parquet(pattern: str | Path, columns: Sequence[str] | None = None, without: Sequence[str] = ()) -> Any:
    """A Dask array (float32) of the shards' rows, in the order of their names; nothing is read before it is needed.

    columns : of numbers or of embeddings (lists of numbers, all of one length). By default the embeddings if there is
        one column of them, else all numbers and truth values
    without : columns that are no features
    """
    files = [str(file) for file in parquet_files(pattern)]
    schema = pq.read_schema(files[0])
    names = _features(schema, Path(files[0]).name, columns, without)
    for file in files[1:]:
        _refuse_other_columns(schema, pq.read_schema(file), names, Path(file).name)
    width = sum(_width(files, schema.field(name)) for name in names)
    parts = [part for file in files for part in _parts(file, width)]
    if not parts:
        raise ValueError(f"{pattern} has no rows")
    read = delayed(_read, pure=True)
    arrays = [
        da.from_delayed(read(part.file, part.groups, names, width), (part.rows, width), np.float32) for part in parts
    ]
    return da.concatenate(arrays)


def parquet_files(pattern: str | Path) -> list[Path]:
    """The shards, in the order of their names."""
    found = locate(pattern)
    if found.form != ".parquet":
        raise ValueError(f"a cluster reads .parquet files, not {found.form}: write the pool as such shards")
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
                raise ValueError(f"{Path(part.file).name} has no column {column!r}")

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
            raise ValueError(f"{file} has no column {name!r}: it has {', '.join(schema.names[:20])}")
    if columns is not None:
        for name in columns:
            if not _is_number(schema.field(name).type) and not _is_vector(schema.field(name).type):
                raise ValueError(f"{file}: column {name!r} holds {schema.field(name).type}: give columns of numbers")
        return list(columns)
    fields = [field for field in schema if field.name not in without]
    vectors = [field.name for field in fields if _is_vector(field.type)]
    if len(vectors) > 1:
        raise ValueError(f"{file} has several columns of embeddings ({', '.join(vectors)}): choose columns")
    names = vectors or [field.name for field in fields if _is_number(field.type)]
    if not names:
        raise ValueError(f"{file} has no column of numbers: it has {', '.join(schema.names[:20])}")
    return names


def _refuse_other_columns(schema: pa.Schema, other: pa.Schema, names: Sequence[str], file: str) -> None:
    for name in names:
        if name not in other.names:
            raise ValueError(f"{file} has no column {name!r}, which the first shard has")
        if _is_vector(other.field(name).type) != _is_vector(schema.field(name).type):
            raise ValueError(f"{file}: column {name!r} holds {other.field(name).type}, unlike the first shard")


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


def _read(file: str, groups: list[int], names: list[str], width: int) -> npt.NDArray[np.float32]:
    """These row groups as an array; missing values become NaN, to be refused by their place."""
    table = pq.ParquetFile(file).read_row_groups(groups, names)
    out = np.empty((table.num_rows, width), np.float32)
    at = 0
    for name in names:
        column = table.column(name)
        if not _is_vector(column.type):
            out[:, at] = column.cast(pa.float32(), safe=False).to_numpy()
            at += 1
            continue
        wide = width - len(names) + 1 if len(names) > 1 else width
        lo = 0
        for chunk in column.chunks:
            flat = chunk.flatten().cast(pa.float32(), safe=False).to_numpy(zero_copy_only=False)
            if len(flat) != len(chunk) * wide:
                raise ValueError(f"{Path(file).name}: column {name!r} has lists of different lengths, not {wide}")
            out[lo : lo + len(chunk), at : at + wide] = flat.reshape(len(chunk), wide)
            lo += len(chunk)
        at += wide
    return out
