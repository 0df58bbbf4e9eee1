"""CSV and TSV files: the separator and the encoding are found out; errors name the line that is wrong."""

import csv
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import polars as pl

from ..exceptions import UserError

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
SAMPLE = 1 << 16  # bytes from which the separator is found out
ALIKE = 0.9  # share of the lines that must have as many cells as most
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how UTF-16 begins, which Excel calls Unicode text


def read_delimited(file: Path, as_text: Sequence[str] = ()) -> pl.DataFrame:
    """The rows of a CSV or TSV file; columns `as_text` are not parsed: an id 007 stays 007."""
    with file.open("rb") as content:
        start = content.read(SAMPLE)
    encoding = encoding_of(file)
    text = None if encoding == "utf-8-sig" else file.read_bytes().decode(encoding, errors="replace")
    sample = (text or start.decode("utf-8-sig", errors="replace"))[:SAMPLE]
    separator = separator_of(sample, "\t" if file.suffix.lower() == ".tsv" else ",")
    first = sample.partition("\n")[0].rstrip("\r")
    if "\0" in first:
        raise UserError(f"cannot read {file.name}: it is not text")
    frame = pl.read_csv(
        file if text is None else BytesIO(text.encode()),
        separator=separator,
        has_header=_is_header([cell.strip(' "') for cell in first.split(separator)]),
        infer_schema_length=None,
        schema_overrides=dict.fromkeys(as_text, pl.String),
        glob=False,
    )
    blank = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    written = blank.not_().arg_true()  # empty lines at the end of the file are no rows
    return frame.head(int(written[-1]) + 1 if len(written) else 0)


def encoding_of(file: Path) -> str:
    """UTF-8 if the whole file is; UTF-16 if it says so; else Windows' Western European, which holds Latin-1."""
    with file.open("rb") as lines:
        try:
            for number, line in enumerate(lines):
                if number == 0 and line.startswith(WIDE):
                    return "utf-16"
                line.decode("utf-8")
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8-sig"


def separator_of(sample: str, usual: str) -> str:
    """The separator that splits nearly all lines into as many cells, of several the one with the most cells."""
    lines = sample.splitlines()
    lines = lines[:-1] if len(sample) >= SAMPLE else lines  # the last one may be cut
    best, most = usual, 1
    for separator in dict.fromkeys((usual, *SEPARATORS)):
        try:
            widths = Counter(len(row) for row in csv.reader(lines[:200], delimiter=separator) if row)
        except csv.Error:
            continue
        width, count = max(widths.items(), key=lambda item: (item[1], item[0]), default=(1, 0))
        if (
            width > most
            and count >= ALIKE * widths.total()
            and len(next(csv.reader(lines[:1], delimiter=separator))) == width
        ):
            best, most = separator, width
    return best


def fault(file: Path) -> str | None:
    """The first line of a CSV file that is not like its header; None where there is none."""
    try:
        with file.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
            sample = lines.read(SAMPLE)
            lines.seek(0)
            rows = csv.reader(lines, delimiter=separator_of(sample, "\t" if file.suffix.lower() == ".tsv" else ","))
            header = next(rows, None)
            if header is None:
                return "it is empty"
            for row in rows:
                if len(row) > len(header):
                    return f"line {rows.line_num} has {len(row)} cells, but the first line has {len(header)}"
    except csv.Error:
        return None
    return None


def _is_header(cells: list[str]) -> bool:
    """Whether the first line names the columns. Numbers are data, except 0, 1, 2 … or 1, 2, 3 …, which number them."""
    try:
        numbers = [float(cell) for cell in cells]
    except ValueError:
        return True
    return numbers in ([*range(len(cells))], [*range(1, len(cells) + 1)])
