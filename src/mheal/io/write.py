"""Write picks as a table, as Label Studio tasks, or as an HTML page."""

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
from polars.selectors import duration as durations

from ..exceptions import UserError
from .label_studio import tasks
from .sheet import cells_of, contact_sheet
from .source import Source

if TYPE_CHECKING:
    from ..selection import Selection

FORMATS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".json": "label-studio", ".html": "html"}
FORMULA = r"^([=+\-@\t\r])"


def format_of(out: str, given: str | None) -> str:
    """The format of an output file: the one given, else that of its suffix; `-` is CSV."""
    if given is not None:
        if given not in FORMATS.values():
            raise UserError(f"there is no format {given!r}: choose from {', '.join(FORMATS.values())}")
        return given
    suffix = ".csv" if out == "-" else Path(out).suffix.lower()
    if suffix not in FORMATS:
        raise UserError(f"cannot tell the format of {out!r}: end it in {', '.join(FORMATS)}, or give --format")
    return FORMATS[suffix]


def render(picks: "Selection", source: Source, form: str, escape_formulas: bool = False) -> bytes:
    """The content of the output file."""
    if form == "html":
        return contact_sheet(picks, source).encode()
    if form == "label-studio":
        return tasks(picks, source)
    frame = picks_frame(picks, source)
    if form != "parquet":  # text formats cannot hold binary cells, and CSV no lists
        held = [n for n, t in frame.schema.items() if t != pl.Binary and not (form == "csv" and t.is_nested())]
        frame = frame.select(held).with_columns(durations().dt.total_microseconds() / 1e6)  # in seconds
    if escape_formulas and form == "csv":  # cells and column names that a spreadsheet would run as a formula
        frame = frame.with_columns(pl.col(pl.String).str.replace(FORMULA, "'$1"))
        frame = frame.rename(lambda name: re.sub(FORMULA, r"'\1", name))
    return table_bytes(frame, form)


def table_bytes(frame: pl.DataFrame, form: str) -> bytes:
    """A table as the content of a file. Numbers that are not finite are null in JSON, which cannot hold them."""
    buffer = io.BytesIO()
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[form](buffer)  # type: ignore[operator]
    return buffer.getvalue()


def picks_frame(picks: "Selection", source: Source) -> pl.DataFrame:
    """The picks with the cells of their rows or their text, and an empty last column `label` to fill in.

    Labels in the pool are left out. A column of the pool that has the name of one of ours is renamed.
    """
    frame = picks.to_frame().with_columns(pl.Series("row", source.numbers(picks.indices)))
    if (ids := source.ids_of(picks.indices)) is not None:
        frame.insert_column(2, pl.Series("id", ids))
    names, taken = {}, {*frame.columns, "label"}
    cells = cells_of(source, picks.indices)
    if source.id_column == "id":
        cells = cells.drop("id")
    for name in cells.columns:
        new = name
        while new in taken or (new != name and new in cells.columns):
            new = f"{new}_in_pool"
        names[name] = new
        taken.add(new)
    frame = pl.concat([frame, cells.rename(names)], how="horizontal")
    return frame.with_columns(label=pl.lit(None, pl.String))
