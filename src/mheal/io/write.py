"""The one place where picks become files: tables, Label Studio tasks, or a page of thumbnails."""

import hashlib
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from ..exceptions import UserError
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
        entries = _tasks(picks_frame(picks, source), picks, source)
        return json.dumps(entries, ensure_ascii=False, indent=1, default=str).encode()
    return table_bytes(picks_frame(picks, source), form)


def _tasks(frame: "polars.DataFrame", picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """Label Studio tasks in pick order; sort by `pick_rank` there to label the best first."""
    entries = []
    for record, shown in zip(frame.to_dicts(), _shown(picks, source), strict=True):
        for name in ("gain", "radius"):  # JSON cannot hold numbers that are not finite
            record[name] = record[name] if np.isfinite(record[name]) else None
        data = {"pick_rank": record.pop("rank"), **record}
        entries.append({"data": {**data, **shown, **data}})  # the picks' own fields come first
    return entries


def _shown(picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """What is shown of each pick to whoever labels it."""
    rows, ids = picks.indices, source.ids_of(picks.indices)
    if source.kind == "images" and source.items is not None and ids:
        folder = Path(source.items[rows[0]]).parents[len(Path(ids[0]).parts) - 1]
        prefix = "/data/local-files/?d=" + quote(folder.resolve().name)  # its document root is the folder's parent
        return [{"image": f"{prefix}/{quote(name)}"} for name in ids]
    if source.cells is not None:
        return source.cells[rows.tolist()].to_dicts()
    if source.files[0].suffix.lower() == ".parquet":
        from .shards import gather

        return gather(source.files, rows).to_dicts()
    return [{} for _ in rows]


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
