"""The one place where picks become files: tables, Label Studio tasks, or a page of thumbnails."""

import io
import json
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import numpy as np

from ..exceptions import UserError
from ..runtime.files import reading
from .source import Source

if TYPE_CHECKING:
    import polars

    from ..selection import Selection

FORMATS = {".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".json": "label-studio", ".html": "html"}
SIDE = 128  # pixels of a thumbnail's longer side
SMALL = 32  # smaller images are enlarged without smoothing, so that their pixels can be seen

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
:root {{ color-scheme: light dark; }}
body {{ font: 14px/1.4 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; }}
h1 {{ font-size: 1.3rem; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); gap: 1rem; }}
figure {{ margin: 0; }}
img {{ width: 100%; aspect-ratio: 1; object-fit: contain; background: #8882; border-radius: 4px; }}
figcaption {{ overflow-wrap: anywhere; font-size: 12px; }}
</style></head><body><h1>{title}</h1><p>Best first. Hover for the row, the cluster and the gain.</p><main>
{figures}
</main></body></html>
"""


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
        return _contact_sheet(picks, source).encode()
    if form == "label-studio":
        return json.dumps(_tasks(picks, source), ensure_ascii=False, indent=1, default=str).encode()
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
    import hashlib

    columns = (picks.indices, picks.cluster, picks.gain, picks.radius)
    return hashlib.sha256(b"".join(np.ascontiguousarray(column).tobytes() for column in columns)).hexdigest()


def _tasks(picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """Label Studio tasks in pick order; sort by `pick_rank` there to label the best first."""
    tasks = []
    for record, shown in zip(picks_frame(picks, source).to_dicts(), _shown(picks, source), strict=True):
        for name in ("gain", "radius"):  # JSON cannot hold numbers that are not finite
            record[name] = record[name] if np.isfinite(record[name]) else None
        data = {"pick_rank": record.pop("rank"), **record}
        tasks.append({"data": {**data, **shown, **data}})  # the picks' own fields come first
    return tasks


def _shown(picks: "Selection", source: Source) -> list[dict[str, Any]]:
    """What is shown of each pick to whoever labels it."""
    rows, ids = picks.indices, source.ids_of(picks.indices)
    if source.kind == "images" and source.items is not None and ids:
        folder = Path(source.items[rows[0]]).parents[len(Path(ids[0]).parts) - 1]
        prefix = "/data/local-files/?d=" + quote(folder.resolve().name)  # its document root is the folder's parent
        return [{"image": f"{prefix}/{quote(name)}"} for name in ids]
    if source.files[0].suffix.lower() == ".parquet":
        from .shards import gather

        return gather(source.files, rows).to_dicts()
    if source.kind == "table":
        from .tables import read_frames

        return read_frames(source.files)[rows.tolist()].to_dicts()
    return [{} for _ in rows]


def _contact_sheet(picks: "Selection", source: Source) -> str:
    """An HTML page with a thumbnail of each pick, its rank and its file; it needs no other file."""
    ids = source.ids_of(picks.indices)
    if source.kind != "images" or source.items is None or ids is None:
        raise UserError("a contact sheet shows images, and this pool has none: use csv, parquet, jsonl or label-studio")
    figures = []
    for rank, row in enumerate(picks.indices.tolist(), start=1):
        details = f"row {row}, cluster {picks.cluster[rank - 1]}, gain {picks.gain[rank - 1]:.3g}"
        figures.append(
            f'<figure title="{escape(details)}"><img alt="" src="{_thumbnail(Path(source.items[row]))}">'
            f"<figcaption>{rank}. {escape(str(ids[rank - 1]))}</figcaption></figure>"
        )
    return _PAGE.format(title=f"{len(picks)} images to label", figures="\n".join(figures))


def _thumbnail(file: Path) -> str:
    from PIL import Image

    from ..embed.images import upright

    with reading(file), Image.open(file) as image:
        small = upright(image).convert("RGB")
    if max(small.size) < SMALL:
        factor = SIDE // max(small.size)
        small = small.resize((small.width * factor, small.height * factor), Image.Resampling.NEAREST)
    small.thumbnail((SIDE, SIDE))
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode()
