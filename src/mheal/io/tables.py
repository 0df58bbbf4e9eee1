"""Read tables from CSV, TSV, Excel, JSONL and Parquet files: as pools, as frames, or left on disk.

The encoding and the separator of a text file are detected, and errors name the faulty line.
"""

import csv
import json
import re
from codecs import BOM_UTF8
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError, how_many, shortened
from ..runtime.files import reading
from ..runtime.memory import unpacked
from ..tables.features import Missing, features, fits_float32
from ..tables.names import CODE, is_answer, is_id
from ..tables.schema import choose
from ..tables.table import Table, plain, refuse_unlike
from .locate import named_array
from .source import Kind, Source

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "|"}
SAMPLE = 1 << 16  # bytes at the start of a file in which the separator is detected
ALIKE = 0.9  # share of lines with as many cells as the first, or share of texts that are numbers
NUMBERS = r"^[-+0-9.,;|\seE]*\d[-+0-9.,;|\seE]*$|^([-+]?[0-9.]+[,;|\s]\s*){2,}\S*$"  # numbers, perhaps a last word
EXCEL = re.compile(rb"^(\xef\xbb\xbf)?sep=.\r?\n", re.IGNORECASE)  # a first line that tells Excel the separator
ZEROS = re.compile(r"\s*0\d+\s*$")  # codes with leading zeros
WIDE = (b"\xff\xfe", b"\xfe\xff")  # byte order marks of UTF-16, which Excel calls Unicode text


def read_table(
    files: Sequence[Path], name: str, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    also: Sequence[str] = (), id_column: str | None = None, text_column: str | None = None, target: str | None = None,
    answers: Sequence[str] = (), missing: Missing = "impute",
) -> Source:  # fmt: skip
    """A table in memory: the features of its rows, or their texts, their ids, and the values of the target column."""
    separators: list[str] = []
    frame = read_frames(files, [id_column or "id", *([] if text_column is None else [text_column])], separators)
    if frame.is_empty():
        raise UserError(f"{name} has no rows")
    labels = None
    if target in frame.columns:
        if target in (*(columns or ()), *also):
            raise UserError(f"{name}: column {target!r} is the target, so it cannot be a feature")
        labels, answers = frame[target].to_list(), [*answers, target]
    elif target is not None and not named_array(target)[0].is_file():
        close = get_close_matches(target, frame.columns, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shortened(frame.columns)}"
        raise UserError(f"{name} has no column {target!r}, nor is there such a file: {hint}")
    frame = frame.with_columns(_whole_numbers(c) for c in frame if c.name == id_column or is_id(c.name))
    ids_as_text = [column for column in frame.columns if column == id_column or (id_column is None and is_id(column))]
    table = Table.of(frame, name, [*ids_as_text, text_column])
    schema = choose(table, columns, without, also, id_column, text_column, answers)
    kind: Kind = "table" if schema.text_column is None else "texts"
    X: npt.NDArray[Any] | list[str]
    if schema.text_column is None:
        X, kept, notes = features(table, schema, missing)
        if X.dtype == np.float64 and fits_float32(X):
            with np.errstate(under="ignore"):
                X = X.astype(np.float32)
    else:
        X, kept, notes = not_empty(frame[schema.text_column], f"column {schema.text_column!r} of {files[0].name}")
    ids = None if schema.id_column is None else frame[schema.id_column].to_list()
    cells = frame.drop(schema.answers)
    return Source(
        X, kind, schema.description, [*files], ids, schema.id_column, target=labels, rows=kept, n_in_files=len(frame),
        cells=cells if kept is None else cells[kept.tolist()], notes=[*dict.fromkeys(separators), *notes],
    )  # fmt: skip


def not_empty(texts: pl.Series, where: str) -> tuple[list[str], npt.NDArray[np.int64] | None, list[str]]:
    """The texts that are not empty, their rows (None for all), and a note that lists the empty ones.

    Lines of numbers are refused: they are a table, not texts.
    """
    if texts.dtype != pl.String:
        raise UserError(f"{where} holds {texts.dtype}, not text")
    words = texts.drop_nulls().head(1000).str.strip_chars()
    if words.str.contains(NUMBERS).sum() > ALIKE * max(len(words) - 1, 0):  # the first may name columns
        remedy = "save a table of numbers as .csv, separated by commas below a line of names, or as .npy"
        raise UserError(f"{where} holds numbers, not texts: {remedy}")
    blank = (texts.fill_null("").str.strip_chars() == "").to_numpy()
    if blank.all():
        raise UserError(f"{where} holds no text at all")
    if not blank.any():
        return texts.to_list(), None, []
    note = f"{how_many(int(blank.sum()), 'empty text')} left out: row {shortened(np.flatnonzero(blank))}"
    return texts.filter(~blank).to_list(), np.flatnonzero(~blank), [note]


def _whole_numbers(column: pl.Series) -> pl.Series:
    """A text column as whole numbers, if that changes no value: 7 is a number, 007 remains text."""
    if column.dtype != pl.String:
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def on_disk(files: Sequence[Path], name: str) -> Table:
    """Parquet files as a table that stays on disk."""
    return Table(name, [scan(file) for file in files], [file.name for file in files])


def scan(file: Path) -> pl.LazyFrame:
    """The rows of a Parquet file, none of them read yet. Categories become text, and arrays lists."""
    with reading(file):
        if not str(file).isprintable():
            raise ValueError("its name or that of its folder is not UTF-8: rename it")
        return plain(pl.scan_parquet(file, glob=False))


def read_columns(file: Path, names: Sequence[str], start: int = 0, rows: int | None = None) -> pl.DataFrame:
    """Columns of a Parquet file, in all its rows or in some that follow each other."""
    with reading(file):
        return scan(file).select(names).slice(start, rows).collect()


def read_frames(files: Sequence[Path], as_text: Sequence[str] = (), notes: list[str] | None = None) -> pl.DataFrame:
    """The rows of all shards, which must have the same columns, in any order. `read_frame` describes the arguments."""
    frames = [read_frame(file, as_text, notes=notes) for file in files]
    columns = frames[0].columns
    refuse_unlike([file.name for file in files], [frame.schema for frame in frames], columns, whole=True)
    return pl.concat([frame.select(columns) for frame in frames], how="vertical_relaxed")


def read_frame(file: Path, as_text: Sequence[str] = (), most: int = -1, notes: list[str] | None = None) -> pl.DataFrame:
    """The rows of one file. Columns named in `as_text` are not parsed: an id 007 stays 007.

    most : how many bytes of a text file are read; by default all
    notes : a line is added if the separator is not the one that the suffix of the file implies
    """
    suffix = file.suffix.lower()
    with reading(file):
        if suffix == ".parquet":
            return scan(file).collect()
        if suffix == ".xlsx":
            unpacked(file)
            frame = pl.read_excel(file.read_bytes(), engine="calamine", raise_if_empty=False)
            return frame.with_columns(pl.col(name).cast(pl.String) for name in {*as_text} & {*frame.columns})
        with file.open("rb") as opened:
            content = opened.read(most)
        if len(content) == most:  # the last line may be cut
            content = content[: content.rfind(b"\n") + 1]
        if suffix == ".jsonl":
            return _read_jsonl(content.removeprefix(BOM_UTF8))
        return _read_delimited(_as_utf8(content), "\t" if suffix == ".tsv" else ",", as_text, notes)


def _read_jsonl(content: bytes) -> pl.DataFrame:
    try:
        frame = pl.read_ndjson(content, infer_schema_length=None)
    except pl.exceptions.PolarsError:
        if not content.strip():
            raise ValueError("it is empty") from None
        for number, line in enumerate(BytesIO(content), start=1):
            try:
                if line.strip() and not isinstance(json.loads(line), dict):
                    raise ValueError(f"line {number} is not a JSON object: write {{…}} on each line") from None
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number} is not JSON ({error.msg})") from None
        raise
    # polars returns the columns in a different order in every process: take the order of the first line.
    first = json.loads(next(line for line in BytesIO(content) if line.strip()))
    return frame.select(*first, *sorted(set(frame.columns) - set(first)))


def read_text(file: Path) -> str:
    """The text of a file, its lines divided by newlines."""
    with reading(file):
        return _as_utf8(file.read_bytes()).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def _as_utf8(content: bytes) -> bytes:
    """Text converted to UTF-8: from UTF-16 if it has a byte order mark; from Windows-1252 if it is not UTF-8."""
    if content.startswith(WIDE):
        return content.decode("utf-16", errors="replace").encode()
    if (at := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, at) + 1
        raise ValueError(f"line {line} holds a zero byte, so it is not text: save it as CSV")
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace").encode()
    return content


def _read_delimited(content: bytes, usual: str, as_text: Sequence[str], notes: list[str] | None) -> pl.DataFrame:
    """The rows of CSV or TSV. Columns in `as_text` and those of codes and ids stay text: 01234 keeps its zero.

    usual : the separator to assume if none splits the lines
    """
    content = EXCEL.sub(b"", content if b"\n" in content else content.replace(b"\r", b"\n"), count=1)
    sample = content[:SAMPLE].decode("utf-8-sig", errors="replace")
    separator = _separator_of(sample, usual)
    if notes is not None and separator != usual:
        notes.append(f"cells are separated by {SEPARATORS[separator]}")
    lines = list(csv.reader(sample.splitlines()[:200], delimiter=separator))
    zeros = {at for line in lines[1:] for at, cell in enumerate(line) if ZEROS.match(cell)}
    named = {at: name for at, name in enumerate(lines[0]) if not is_answer(name)} if lines else {}
    codes = [name for at, name in named.items() if at in zeros or CODE.search(name.lower()) or is_id(name)]
    types, header = dict.fromkeys([*as_text, *codes], pl.String), _is_header(lines)
    try:
        frame = pl.read_csv(
            content, separator=separator, has_header=header, infer_schema_length=None, schema_overrides=types
        )
    except pl.exceptions.PolarsError:
        _refuse_row(content, separator)
        raise
    if twice := [name for name in frame.columns if name.endswith("_duplicated_0")]:  # what polars calls them
        raise ValueError(f"two columns are called {twice[0].removesuffix('_duplicated_0')!r}: rename one")
    frame = frame.rename(str.strip)
    written = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series().arg_true()
    return frame.head(int(written[-1]) + 1 if len(written) else 0)  # without empty lines at the end of the file


def _separator_of(sample: str, usual: str) -> str:
    """The separator that splits most lines: preferably into equally many cells, and then into the most cells."""
    lines = sample.splitlines()[: -1 if len(sample) >= SAMPLE else None]  # the last one may be cut
    best, most = usual, (False, 1)
    for separator in dict.fromkeys([usual, *SEPARATORS]):
        try:
            widths = [len(row) for row in csv.reader(lines[:200], delimiter=separator) if row] or [1]
        except csv.Error:
            continue
        alike, split = widths.count(widths[0]) >= ALIKE * len(widths), len(widths) - widths.count(1)
        if widths[0] > 1 and 2 * split > len(widths) and (alike, widths[0]) > most:
            best, most = separator, (alike, widths[0])
    return best


def _refuse_row(content: bytes, separator: str) -> None:
    """Raise the error that names the first line with more cells than the header, if there is one."""
    rows = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator)
    with suppress(csv.Error):
        header = next(rows, None)
        if header is None:
            raise ValueError("it is empty")
        for row in rows:
            if len(row) > len(header):
                remedy = "delete lines above the names of the columns, and quote cells that hold a separator"
                wrong = f"line {rows.line_num} has {len(row)} cells, but the first line has {len(header)}"
                raise ValueError(f"{wrong}: {remedy}")


def _is_header(lines: list[list[str]]) -> bool:
    """Whether the first line is a header. Numbers are data, unless they count the columns from 0 or 1.

    A line with fractions and words is data if each word occurs again in its column.
    """
    cells = [cell.strip() for cell in lines[0]] if lines else []
    numbers = pl.Series(cells, dtype=pl.String).cast(pl.Float64, strict=False).to_list()
    if None not in numbers:
        return numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)])
    words = [at for at, number in enumerate(numbers) if number is None]
    again = all(any(line[at : at + 1] == lines[0][at : at + 1] for line in lines[1:]) for at in words)
    return not (again and any(number is not None and number % 1 for number in numbers))
