"""Picks as files: tables, Label Studio tasks, or a page of thumbnails."""

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args
from urllib.parse import quote

import numpy as np

from ..exceptions import UserError
from .source import Source

if TYPE_CHECKING:
    import polars

    from ..selection import Selection

Format = Literal["csv", "parquet", "jsonl", "label-studio", "html"]
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv",
    ".parquet": "parquet",
    ".jsonl": "jsonl",
    ".json": "label-studio",
    ".html": "html",
}


def format_of(out: str, given: str | None) -> Format:
    """The format of an output file: the one given, else that of its suffix; `-` is CSV."""
    if given is not None:
        if given not in get_args(Format):
            raise UserError(f"there is no format {given!r}: choose from {', '.join(get_args(Format))}")
        return given  # type: ignore[return-value]
    suffix = ".csv" if out == "-" else Path(out).suffix.lower()
    if suffix not in _SUFFIXES:
        raise UserError(f"cannot tell the format of {out!r}: end it in {', '.join(_SUFFIXES)}, or give --format")
    return _SUFFIXES[suffix]


def picks_frame(picks: "Selection", source: Source) -> "polars.DataFrame":
    """The picks as rank, row, id, cluster, gain, radius and, where the pool is texts, text."""
    import polars

    frame = picks.to_frame()
    if (ids := source.ids_of(picks.indices)) is not None:
        frame.insert_column(2, polars.Series("id", ids))
    if source.kind == "texts" and source.items is not None:
        frame = frame.with_columns(polars.Series("text", [str(source.items[i]) for i in picks.indices]))
    return frame


def render(picks: "Selection", source: Source, form: Format) -> bytes:
    """The content of the output file."""
    if form == "html":
        from .sheet import contact_sheet

        return contact_sheet(picks, source).encode()
    if form == "label-studio":
        return json.dumps(tasks(picks, source), ensure_ascii=False, indent=1, default=str).encode()
    frame = picks_frame(picks, source)
    buffer = io.BytesIO()
    if form == "csv":
        frame.write_csv(buffer)
    elif form == "parquet":
        frame.write_parquet(buffer)
    else:
        finite_or_null(frame).write_ndjson(buffer)
    return buffer.getvalue()


def finite_or_null(frame: "polars.DataFrame") -> "polars.DataFrame":
    """The same, with null for distances that are not finite, which JSON cannot hold."""
    import polars

    distances = polars.col("gain", "radius")
    return frame.with_columns(polars.when(distances.is_finite()).then(distances).otherwise(None).name.keep())


def tasks(picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """Label Studio tasks in pick order; sort by `pick_rank` there to label the best first.

    A picture is named as Label Studio serves local files: its document root is the folder's parent.
    """
    shown = _shown(picks, source)
    listed = []
    for record, item in zip(finite_or_null(picks_frame(picks, source)).to_dicts(), shown, strict=True):
        data = {"pick_rank": record.pop("rank"), **record}
        listed.append({"data": {**data, **{name: value for name, value in item.items() if name not in data}}})
    return listed


def _shown(picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """What is shown of each pick to whoever labels it."""
    rows, ids = picks.indices, source.ids_of(picks.indices)
    if source.kind == "images" and source.items is not None and ids:
        folder = Path(source.items[rows[0]])
        for _ in Path(ids[0]).parts:
            folder = folder.parent
        prefix = "/data/local-files/?d=" + quote(folder.resolve().name)
        return [{"image": f"{prefix}/{quote(name)}"} for name in ids]
    if source.files[0].suffix.lower() == ".parquet":
        from .parquet import gather

        return gather(source.files, rows).to_dicts()
    if source.kind == "table":
        from .frames import read_frames

        return read_frames(source.files)[rows.tolist()].to_dicts()
    return [{} for _ in rows]


def picks_digest(picks: "Selection") -> str:
    """SHA-256 of the picks, whatever the format of their file."""
    import hashlib

    columns = (picks.indices, picks.cluster, picks.gain, picks.radius)
    return hashlib.sha256(b"".join(np.ascontiguousarray(column).tobytes() for column in columns)).hexdigest()
