"""Contact sheets: a page that shows the picks, as one HTML file that needs no other."""

import io
from base64 import b64encode
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from ..exceptions import UserError
from ..runtime.files import reading
from .source import Source

if TYPE_CHECKING:
    from ..selection import Selection

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


def contact_sheet(picks: "Selection", source: Source) -> str:
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

    from ..embed.images import shown

    with reading(file), Image.open(file) as image:
        small = shown(image)
    if max(small.size) < SMALL:
        factor = SIDE // max(small.size)
        small = small.resize((small.width * factor, small.height * factor), Image.Resampling.NEAREST)
    small.thumbnail((SIDE, SIDE))
    buffer = io.BytesIO()
    small.save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + b64encode(buffer.getvalue()).decode()
