"""The one place where picks become files: tables, Label Studio tasks, or a page that shows them."""

import hashlib
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..exceptions import UserError
from .label_studio import tasks
from .sheet import contact_sheet
from .source import Source

if TYPE_CHECKING:
    import polars

    from ..selection import Selection

FORMATS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".json": "label-studio", ".html": "html"}


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


def render(picks: "Selection", source: Source, form: str) -> bytes:
    """The content of the output file."""
    if form == "html":
        return contact_sheet(picks, source).encode()
    if form == "label-studio":
        return tasks(picks, source)
    return table_bytes(picks_frame(picks, source), form)


def table_bytes(frame: "polars.DataFrame", form: str) -> bytes:
    """A table as the content of a file. Numbers that are not finite are null in JSON, which cannot hold them."""
    buffer = io.BytesIO()
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "jsonl": frame.write_ndjson}[form](buffer)  # type: ignore[operator]
    return buffer.getvalue()


def picks_frame(picks: "Selection", source: Source) -> "polars.DataFrame":
    """The picks as rank, row, id, cluster, gain, radius and, where the pool is texts, text."""
    import polars

    frame = picks.to_frame().with_columns(polars.Series("row", source.numbers(picks.indices)))
    if (ids := source.ids_of(picks.indices)) is not None:
        frame.insert_column(2, polars.Series("id", ids))
    if source.kind == "texts" and source.items is not None:
        frame = frame.with_columns(polars.Series("text", [str(source.items[i]) for i in picks.indices]))
    return frame


def picks_digest(picks: "Selection") -> str:
    """SHA-256 of the picks, whatever the format of their file."""
    columns = (picks.indices, picks.cluster, picks.gain, picks.radius)
    return hashlib.sha256(b"".join(np.ascontiguousarray(column).tobytes() for column in columns)).hexdigest()
