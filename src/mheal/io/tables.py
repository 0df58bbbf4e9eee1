"""The one place where tables are read: CSV, TSV, Excel, JSONL and Parquet files, into memory or left on disk."""

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from ..runtime.files import reading
from ..tables.table import Table, refuse_unlike
from .delimited import as_utf8, read_delimited


def on_disk(files: Sequence[Path], name: str) -> Table:
    """Parquet files as a table that stays on disk."""
    return Table(name, [scan(file) for file in files], [file.name for file in files])


def scan(file: Path) -> pl.LazyFrame:
    """The rows of a Parquet file, none of them read yet. Categories become text, and arrays lists."""
    with reading(file):
        frame = pl.scan_parquet(file, glob=False)
        types = frame.collect_schema()
        texts = [name for name, dtype in types.items() if isinstance(dtype, pl.Categorical | pl.Enum)]
        lists = [pl.col(name).arr.to_list() for name, dtype in types.items() if isinstance(dtype, pl.Array)]
        return frame.with_columns(pl.col(texts).cast(pl.String), *lists)


def read_frames(files: Sequence[Path], as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of all shards, which must have the same columns, in any order."""
    frames = [read_frame(file, as_text) for file in files]
    columns = frames[0].columns
    refuse_unlike([file.name for file in files], [frame.schema for frame in frames], columns, whole=True)
    return pl.concat([frame.select(columns) for frame in frames], how="vertical_relaxed")


def read_frame(file: Path, as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of one file. Columns named in `as_text` are not parsed: an id 007 stays 007."""
    suffix = file.suffix.lower()
    with reading(file):
        if suffix == ".parquet":
            return scan(file).collect()
        if suffix == ".xlsx":
            frame = pl.read_excel(file, engine="calamine", raise_if_empty=False)
            return frame.with_columns(pl.col(name).cast(pl.String) for name in as_text if name in frame.columns)
        content = file.read_bytes()
        if suffix == ".jsonl":
            return _read_jsonl(content)
        return read_delimited(as_utf8(content), "\t" if suffix == ".tsv" else ",", as_text)


def _read_jsonl(content: bytes) -> pl.DataFrame:
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        _refuse_line(content)
        raise
    # polars returns the columns in a different order in every process: take the order of the first line.
    first = json.loads(next(line for line in BytesIO(content) if line.strip()))
    return frame.select(*first, *sorted(set(frame.columns) - set(first)))


def _refuse_line(content: bytes) -> None:
    """Raise the error that names the first line that is no JSON object, if there is one."""
    empty = True
    for number, line in enumerate(BytesIO(content), start=1):
        if not line.strip():
            continue
        empty = False
        try:
            if not isinstance(json.loads(line), dict):
                raise ValueError(f"line {number} is not a JSON object: write {{…}} on each line")
        except json.JSONDecodeError as error:
            raise ValueError(f"line {number} is not JSON ({error.msg})") from None
    if empty:
        raise ValueError("it is empty")
