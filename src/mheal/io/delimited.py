"""Text files, and tables in them: the encoding and the separator are found out; errors name the line that is wrong."""

import csv
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path

import polars as pl

from ..runtime.files import reading

SEPARATORS = ",;\t|"
SAMPLE = 1 << 16  # bytes from which the separator is found out
ALIKE = 0.9  # share of the lines that must have as many cells as most
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins, which Excel calls Unicode text


def read_text(file: Path) -> str:
    """The text of a file, its lines divided by newlines."""
    with reading(file):
        return as_utf8(file.read_bytes()).decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def as_utf8(content: bytes) -> bytes:
    """Text as UTF-8, from UTF-16 if it says so, else from Windows' Western European, which holds Latin-1."""
    if content.startswith(WIDE):
        return content.decode("utf-16", errors="replace").encode()
    try:
        content.decode()
    except UnicodeDecodeError:
        return content.decode("cp1252", errors="replace").encode()
    return content


def read_delimited(content: bytes, usual: str, as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of CSV or TSV; columns `as_text` are not parsed: an id 007 stays 007.

    usual : the separator where none splits the lines
    """
    sample = content[:SAMPLE].decode("utf-8-sig", errors="replace")
    separator, first = separator_of(sample, usual), sample.partition("\n")[0].rstrip("\r")
    if "\0" in first:
        raise ValueError("it is not text")
    try:
        frame = pl.read_csv(
            content,
            separator=separator,
            has_header=_is_header([cell.strip(' "') for cell in first.split(separator)]),
            infer_schema_length=None,
            schema_overrides=dict.fromkeys(as_text, pl.String),
        )
    except pl.exceptions.PolarsError:
        _refuse_line(content, separator)
        raise
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    written = blank.not_().arg_true()  # empty lines at the end of the file are no rows
    return frame.head(int(written[-1]) + 1 if len(written) else 0)


def separator_of(sample: str, usual: str) -> str:
    """The separator that splits nearly all lines into as many cells, of several the one with the most cells."""
    lines = sample.splitlines()
    lines = lines[:-1] if len(sample) >= SAMPLE else lines  # the last one may be cut
    best, most = usual, 1
    for separator in dict.fromkeys(usual + SEPARATORS):
        try:
            widths = [len(row) for row in csv.reader(lines[:200], delimiter=separator) if row]
        except csv.Error:
            continue
        width, count = max(Counter(widths).items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if width > most and count >= ALIKE * len(widths) and widths[0] == width:
            best, most = separator, width
    return best


def _refuse_line(content: bytes, separator: str) -> None:
    """Raise the error that names the first line with more cells than the header, if there is one."""
    rows = csv.reader(StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator)
    with suppress(csv.Error):
        header = next(rows, None)
        if header is None:
            raise ValueError("it is empty")
        for row in rows:
            if len(row) > len(header):
                raise ValueError(f"line {rows.line_num} has {len(row)} cells, but the first line has {len(header)}")


def _is_header(cells: list[str]) -> bool:
    """Whether the first line names the columns. Numbers are data, except 0, 1, 2 … or 1, 2, 3 …, which number them."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return True
    return numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)])
