"""The one place where tables are read: CSV, TSV, JSONL and Parquet files, into memory or left on disk."""

import csv
import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl

from ..exceptions import UserError
from ..runtime.files import reading

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SHOWN = 20  # names that an error lists


@dataclass(frozen=True)
class Table:
    """Columns of a table, in memory or in files.

    name : what errors call it
    parts : its rows, in order: one part in memory, or one for each file, which is read only where values are needed
    files : names of the parts that are left on disk; their values may not be counted, as ids and texts must be
    """

    name: str
    parts: Sequence[pl.LazyFrame]
    files: Sequence[str] = ()

    @classmethod
    def scan(cls, files: Sequence[Path], name: str) -> "Table":
        """Parquet files as a table that stays on disk."""
        return cls(name, [scan(file) for file in files], [file.name for file in files])

    @cached_property
    def schemas(self) -> list[Mapping[str, pl.DataType]]:
        """Names and types of the columns of each part."""
        return [part.collect_schema() for part in self.parts]

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Names and types of the columns of the first part."""
        return self.schemas[0]

    @property
    def in_memory(self) -> bool:
        """Whether values may be counted: distinct texts, repeated ids."""
        return not self.files

    def column(self, name: str, part: int = 0) -> pl.Series:
        """The values of a column in one part."""
        return self.parts[part].select(name).collect().to_series()

    def list_length(self, name: str) -> int:
        """How many numbers the first list in a column has that is not missing; 0 if there is none."""
        for part in self.parts:
            first = part.select(pl.col(name).drop_nulls()).head(1).collect().to_series()
            if len(first):
                return len(first[0])
        return 0


def kind_of(dtype: pl.DataType) -> str:
    """What a column of this type holds, in a word."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "numbers"
    if dtype.is_temporal():
        return "dates or times"
    if dtype == pl.String:
        return "text"
    if dtype == pl.Null:
        return "nothing"
    return "embeddings" if isinstance(dtype, pl.List) and dtype.inner.is_numeric() else "other values"


def first_row(mask: pl.Series) -> int:
    """The first row where the mask is true."""
    return int(mask.arg_true()[0])


def shortened(names: Sequence[str], n: int) -> str:
    """The first n of some names."""
    return ", ".join(names[:n]) + (", …" if len(names) > n else "")


def refuse_unlike(
    files: Sequence[str], schemas: Sequence[Mapping[str, pl.DataType]], names: Sequence[str], whole: bool = False
) -> None:
    """Raise the error that names the first file whose columns hold other things than those of the first file.

    whole : whether the names are all columns of the first, and others are refused; an empty column is like any other
    """
    for file, types in zip(files, schemas, strict=True):
        for name in names:
            if name not in types:
                raise UserError(f"{file} has no column {name!r}, which {files[0]} has")
            one, other = kind_of(schemas[0][name]), kind_of(types[name])
            if one != other and not (whole and "nothing" in (one, other)):
                raise UserError(f"column {name!r} holds {other} in {file}, but {one} in {files[0]}")
        for name in types if whole else ():
            if name not in schemas[0]:
                raise UserError(f"{file} has a column {name!r}, which {files[0]} has not")


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
    separator = SEPARATORS.get(file.suffix.lower())
    with reading(file):
        if file.suffix.lower() == ".parquet":
            return scan(file).collect()
        try:
            return _read_jsonl(file) if separator is None else _read_csv(file, separator, as_text)
        except pl.exceptions.PolarsError:
            if fault := _jsonl_fault(file) if separator is None else _csv_fault(file, separator):
                raise UserError(f"cannot read {file.name}: {fault}") from None
            raise


def _read_csv(file: Path, separator: str, as_text: Sequence[str]) -> pl.DataFrame:
    with file.open(encoding="utf-8-sig", errors="replace") as lines:
        first = lines.readline().rstrip("\n")
    for other, name in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if separator not in first and other in first:
            raise UserError(f"{file.name} is separated by {name}: save a .csv with commas or a .tsv with tabs")
    frame = pl.read_csv(
        file, separator=separator, has_header=_is_header([cell.strip(' "') for cell in first.split(separator)]),
        infer_schema_length=None, try_parse_dates=True, schema_overrides=dict.fromkeys(as_text, pl.String), glob=False,
    )  # fmt: skip
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    written = blank.not_().arg_true()  # empty lines at the end of the file are no rows
    return frame.head(int(written[-1]) + 1 if len(written) else 0)


def _is_header(cells: list[str]) -> bool:
    """Whether the first line names the columns. Numbers are data, except 0, 1, 2 … or 1, 2, 3 …, which number them."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return True
    return numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)])


def _csv_fault(file: Path, separator: str) -> str | None:
    """The first line of a CSV file that is not like its header; None where there is none."""
    with file.open(encoding="utf-8", newline="") as lines, suppress(csv.Error):
        rows = csv.reader(lines, delimiter=separator)
        header = next(rows, None)
        if header is None:
            return "it is empty"
        for row in rows:
            if len(row) > len(header):
                return f"line {rows.line_num} has {len(row)} cells, but the first line has {len(header)}"
    return None


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
