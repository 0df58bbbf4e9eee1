"""Contact sheets: the picks as one self-contained HTML page."""

import io
from base64 import b64encode
from functools import partial
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import polars

from ..exceptions import UserError, how_many
from .source import Source

if TYPE_CHECKING:
    from ..selection import Selection

SIDE = 128  # pixels of a thumbnail's longer side
SMALL = 32  # smaller images are enlarged without smoothing, so that their pixels can be seen
LONG = 1000  # characters of a text that are shown at once


def contact_sheet(picks: "Selection", source: Source) -> str:
    """An HTML page with the image, text or cells of each pick, its rank, its name, and why it was picked.

    Each pick has a heading, for navigation by screen reader. The rest of a long text opens by mouse or keyboard.
    """
    contents: list[Any] = shown(source, picks.indices)
    if not any(contents):
        raise UserError("this pool has no images, texts or cells to show on a page: use csv, parquet or jsonl")
    kind = source.kind if source.items else "rows"
    if kind == "images":
        from ..embed.pixels import in_chunks, opened

        contents = in_chunks(partial(opened, work=_thumbnail), [one["image"] for one in contents], "", None)
    rows, items = source.numbers(picks.indices).tolist(), []
    names = source.ids_of(picks.indices) or [f"row {row}" for row in rows]
    for at, (name, content) in enumerate(zip(map(str, names), contents, strict=True)):
        if kind == "texts":
            first, rest = escape(content["text"][:LONG]), escape(content["text"][LONG:])
            body = first + (f"<details><summary>the rest of the text</summary>{rest}</details>" if rest else "")
            body = f'<div class="text" dir="auto">{body}</div>'
        elif kind == "rows":
            cells = (f"<dt>{escape(str(key))}</dt><dd>{escape(str(value))}</dd>" for key, value in content.items())
            body = f"<dl>{''.join(cells)}</dl>"
        else:  # a thumbnail, or why there is none
            png = isinstance(content, bytes) and b64encode(content).decode()
            body = f'<img alt="{escape(name)}" src="data:image/png;base64,{png}">' if png else escape(content)
        gain = f", gain {picks.gain[at]:.3g}" if np.isfinite(picks.gain[at]) else ""
        why = f"Row {rows[at]}, cluster {picks.cluster[at]}{gain}. {picks.reason[at]}"
        items.append(f"<li><h2>{at + 1}. {escape(name)}</h2>{body}<p>{escape(why)}</p></li>")
    page = Template(files(__package__).joinpath("sheet.html").read_text(encoding="utf-8"))
    return page.substitute(title=f"{how_many(len(picks), kind[:-1])} to label", items="\n".join(items))


def shown(source: Source, rows: npt.NDArray[np.int64]) -> list[dict[str, Any]]:
    """What an annotator sees of these rows of X: an image file, a text or cells, without labels."""
    if source.items is not None:
        return [{source.kind.removesuffix("s"): source.items[row]} for row in rows.tolist()]
    return cells_of(source, rows).to_dicts() or [{} for _ in rows]


def cells_of(source: Source, rows: npt.NDArray[np.int64]) -> polars.DataFrame:
    """The cells of these rows of X, or their texts, without labels; a frame without columns for images and arrays."""
    if source.cells is not None:
        return source.cells[rows.tolist()]
    if source.kind == "texts" and source.items is not None:
        return polars.DataFrame({"text": [source.items[row] for row in rows.tolist()]})
    if source.files[0].suffix.lower() != ".parquet":
        return polars.DataFrame()
    from .shards import gather

    return gather(source.files, source.numbers(rows)).drop(source.answers, strict=False)


def _thumbnail(image: Any) -> bytes:
    from ..embed.pixels import upright_rgb

    small = upright_rgb(image, SIDE)
    if max(small.size) < SMALL:
        factor = SIDE // max(small.size)
        small = small.resize((small.width * factor, small.height * factor), 0)  # NEAREST
    small.thumbnail((SIDE, SIDE))
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return buffer.getvalue()
