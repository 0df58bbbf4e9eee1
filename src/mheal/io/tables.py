"""The one place where tables are read: CSV, TSV, Excel, JSONL and Parquet files, into memory or left on disk."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from ..exceptions import UserError
from ..runtime.files import reading
from ..tables.table import Table, refuse_unlike
from .delimited import fault as delimited_fault
from .delimited import read_delimited


def on_disk(files: Sequence[Path], name: str) -> Table:
    """Parquet files as a table that stays on disk."""
    return Table(name, [scan(file) for file in files], [file.name for file in files])


def scan(file: Path) -> pl.LazyFrame:
    """The rows of a Parquet file, none of them read yet. Categories become text, and arrays lists."""
    simpler: Any = {}
    with reading(file):
        frame = pl.scan_parquet(file, glob=False)
        for name, dtype in frame.collect_schema().items():
            if isinstance(dtype, pl.Categorical | pl.Enum):
                simpler[name] = pl.String
            elif isinstance(dtype, pl.Array):
                simpler[name] = pl.List(dtype.inner)
        return frame.cast(simpler) if simpler else frame


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
            return _read_sheet(file, as_text)
        try:
            return _read_jsonl(file) if suffix == ".jsonl" else read_delimited(file, as_text)
        except pl.exceptions.PolarsError:
            if fault := _jsonl_fault(file) if suffix == ".jsonl" else delimited_fault(file):
                raise UserError(f"cannot read {file.name}: {fault}") from None
            raise


def _read_sheet(file: Path, as_text: Sequence[str]) -> pl.DataFrame:
    """The first sheet of an Excel file."""
    frame = pl.read_excel(file, engine="calamine", raise_if_empty=False)
    return frame.with_columns(pl.col(name).cast(pl.String) for name in as_text if name in frame.columns)


def _read_jsonl(file: Path) -> pl.DataFrame:
    with file.open("rb") as lines:  # a path would be taken for a pattern
        frame = pl.read_ndjson(lines, infer_schema_length=None)
        # polars returns the columns in a different order in every process: take the order of the first line.
        lines.seek(0)
        first = json.loads(next(line for line in lines if line.strip()))
    return frame.select(*first, *sorted(set(frame.columns) - set(first)))


def _jsonl_fault(file: Path) -> str | None:
    """The first line that is no JSON object; None where there is none."""
    empty = True
    with file.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                empty = False
                try:
                    if not isinstance(json.loads(line), dict):
                        return f"line {number} is not a JSON object: write {{…}} on each line"
                except json.JSONDecodeError as error:
                    return f"line {number} is not JSON ({error.msg})"
    return "it is empty" if empty else None
