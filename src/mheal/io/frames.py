"""CSV, TSV, Parquet and JSONL files as polars frames; errors name the line that is wrong."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ..exceptions import UserError
from ..runtime.files import reading
from .columns import Table


def read_frames(files: Sequence[Path], as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of all shards, which must have the same columns, in any order."""
    frames = [read_frame(file, as_text) for file in files]
    first, names = frames[0], [file.name for file in files]
    table = Table("", [frame.lazy() for frame in frames], files=names)
    table.refuse_unlike_parts(first.columns)
    for file, types in zip(names, table.schemas, strict=True):
        for name in types:
            if name not in table.types:
                raise UserError(f"{file} has a column {name!r}, which {names[0]} has not")
    return pl.concat([frame.select(first.columns) for frame in frames], how="vertical_relaxed")


def read_frame(file: Path, as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of one file. Columns named in `as_text` are not parsed: an id 007 stays 007. Categories become text."""
    suffix = file.suffix.lower()
    with reading(file):
        try:
            if suffix in (".csv", ".tsv"):
                frame = _read_csv(file, "," if suffix == ".csv" else "\t", as_text)
            elif suffix == ".parquet":
                frame = pl.read_parquet(file, glob=False)
            else:
                frame = _read_jsonl(file)
        except pl.exceptions.PolarsError:
            find_fault = {".csv": _csv_fault, ".tsv": _csv_fault, ".jsonl": _jsonl_fault}.get(suffix)
            if find_fault is not None and (fault := find_fault(file)):
                raise UserError(f"cannot read {file.name}: {fault}") from None
            raise
    return frame.with_columns(_plain(column) for column in frame)


def _plain(column: pl.Series) -> pl.Series:
    """The same values in a simpler type: categories as text, arrays as lists."""
    if isinstance(column.dtype, pl.Categorical | pl.Enum):
        return column.cast(pl.String)
    if isinstance(column.dtype, pl.Array):
        return column.cast(pl.List(column.dtype.inner))
    return column


def _read_csv(file: Path, separator: str, as_text: Sequence[str]) -> pl.DataFrame:
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        first = lines.readline().rstrip("\n")
    for other, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if separator not in first and other in first:
            raise UserError(f"{file.name} is separated by {name}: save a .csv with commas or a .tsv with tabs")
    frame = pl.read_csv(
        file,
        separator=separator,
        has_header=_is_header([cell.strip(' "') for cell in first.split(separator)]),
        infer_schema_length=None,
        try_parse_dates=True,
        schema_overrides=dict.fromkeys(as_text, pl.String),
        glob=False,
    )
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    written = blank.not_().arg_true()  # empty lines at the end of the file are no rows
    return frame.head(int(written[-1]) + 1 if len(written) else 0)


def _read_jsonl(file: Path) -> pl.DataFrame:
    with file.open("rb") as lines:  # a path would be taken for a pattern
        frame = pl.read_ndjson(lines, infer_schema_length=None)
        # polars returns the columns in a different order in every process: take the order of the first line.
        lines.seek(0)
        first = json.loads(next(line for line in lines if line.strip()))
    return frame.select(*first, *sorted(set(frame.columns) - set(first)))


def _is_header(cells: list[str]) -> bool:
    """Whether the first line names the columns. Numbers are data, except 0, 1, 2 … or 1, 2, 3 …, which number them."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return True
    return numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)])


def _csv_fault(file: Path) -> str | None:
    """The first line of a CSV file that is not like its header; None where there is none."""
    try:
        with file.open(encoding="utf-8", newline="") as lines:
            rows = csv.reader(lines, delimiter="," if file.suffix.lower() == ".csv" else "\t")
            header = next(rows, None)
            if header is None:
                return "it is empty"
            for row in rows:
                if len(row) > len(header):
                    return f"line {rows.line_num} has {len(row)} cells, but the first line has {len(header)}"
    except UnicodeDecodeError:
        return "it is not UTF-8 text; save it as UTF-8"
    except csv.Error:
        return None
    return None


def _jsonl_fault(file: Path) -> str | None:
    """The first line that is no JSON object; None where there is none."""
    empty = True
    try:
        with file.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    empty = False
                    if not isinstance(json.loads(line), dict):
                        return f"line {number} is not a JSON object: write {{…}} on each line"
    except UnicodeDecodeError:
        return "it is not UTF-8 text; save it as UTF-8"
    except json.JSONDecodeError as error:
        return f"line {number} is not JSON ({error.msg})"
    return "it is empty" if empty else None
