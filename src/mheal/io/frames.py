"""CSV, TSV, Parquet and JSONL files as polars frames, or one line that says what is wrong with the file."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from ..exceptions import UserError


def read_frames(files: Sequence[Path], as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The shards' rows below one another; they must have the same columns, in any order."""
    frames = [read_frame(file, as_text) for file in files]
    first = frames[0]
    for file, frame in zip(files[1:], frames[1:], strict=True):
        _refuse_other_columns(first, files[0], frame, file)
    return pl.concat([frame.select(first.columns) for frame in frames], how="vertical_relaxed")


def read_frame(file: Path, as_text: Sequence[str] = ()) -> pl.DataFrame:
    """One file's rows. Columns named in `as_text` are not parsed (an id 007 stays 007); categories become text."""
    suffix = file.suffix.lower()
    try:
        if suffix in (".csv", ".tsv"):
            frame = _read_csv(file, "," if suffix == ".csv" else "\t", as_text)
        elif suffix == ".parquet":
            frame = pl.read_parquet(file, glob=False)
        else:
            frame = _read_jsonl(file)
    except pl.exceptions.PolarsError as error:
        fault = {".csv": _csv_fault, ".tsv": _csv_fault, ".jsonl": _jsonl_fault}.get(suffix, lambda _: None)(file)
        raise UserError(f"cannot read {file.name}: {fault or str(error).splitlines()[0]}") from error
    return frame.with_columns(_plain(column) for column in frame)


def first_row(mask: pl.Series) -> int:
    """The first row where the mask is true."""
    return int(mask.arg_true()[0])


def _plain(column: pl.Series) -> pl.Series:
    """The same values in the plainest type: categories as text, arrays as lists."""
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


def _refuse_other_columns(first: pl.DataFrame, first_file: Path, frame: pl.DataFrame, file: Path) -> None:
    for name in first.columns:
        if name not in frame.columns:
            raise UserError(f"{file.name} has no column {name!r}, which {first_file.name} has")
        one, other = _sort(first[name].dtype), _sort(frame[name].dtype)
        if one != other and "empty" not in (one, other):
            raise UserError(f"column {name!r} holds {other} in {file.name}, but {one} in {first_file.name}")
    for name in frame.columns:
        if name not in first.columns:
            raise UserError(f"{file.name} has a column {name!r}, which {first_file.name} has not")


def _sort(dtype: pl.DataType) -> str:
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "numbers"
    if dtype.is_temporal():
        return "dates"
    if dtype == pl.String:
        return "text"
    return "empty" if dtype == pl.Null else "lists"
