"""Write picks as Label Studio tasks, with instructions to set it up. `labels` reads its exports."""

import json
from collections.abc import Sequence
from pathlib import Path
from shlex import join
from shlex import quote as quoted
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.sax.saxutils import quoteattr

from .labels import OWN_ID
from .sheet import shown
from .source import Source

if TYPE_CHECKING:
    from ..selection import Selection

CLASSES = ("first class", "second class")  # placeholders while there are no labels
TAGS = {"images": '<Image name="item" value="$image"/>', "texts": '<Text name="item" value="$text"/>'}
TABLE, NUMBER = '<Table name="item" value="$cells"/>', '<Text name="item" value="$row"/>'
LOCAL = "LABEL_STUDIO_LOCAL_FILES_"


def tasks(picks: "Selection", source: Source) -> bytes:
    """Tasks in the order of the picks, as JSON. Each holds the fields of its pick and the item, but no label.

    Label Studio's flat exports overwrite `id`, so the id is also stored as `mheal_id`.
    """
    rows, ids = source.numbers(picks.indices).tolist(), source.ids_of(picks.indices)
    records = picks.to_frame().rename({"rank": "pick_rank"}).to_dicts()
    entries = []
    for at, (record, content) in enumerate(zip(records, shown(source, picks.indices), strict=True)):
        data = {**record, "row": rows[at], **({} if ids is None else {"id": ids[at], OWN_ID: ids[at]})}
        if source.kind == "images":
            data["image"] = "/data/local-files/?d=" + quote(f"{_folder(source).name}/{data['id']}")
        elif content:
            data.update(content if source.items else {"cells": content})
        entries.append({"data": data})
    finite = json.loads(json.dumps(entries, default=str), parse_constant=lambda _: None)  # JSON has no NaN
    return json.dumps(finite, ensure_ascii=False, indent=1).encode()


def set_up(source: Source, file: str, again: Sequence[str], classes: Sequence[str] = ()) -> list[str]:
    """Instructions for labelling the file of tasks in Label Studio, one step per line.

    again : the words of the command that picked; the last step repeats it with the labels
    """
    lines = ["To label in Label Studio:"]
    if source.kind == "images":
        folder = _folder(source)
        lines += [
            f"- start it with {LOCAL}SERVING_ENABLED=true {LOCAL}DOCUMENT_ROOT={quoted(str(folder.parent))}",
            f"- in the project's Settings > Cloud Storage, add a source storage of local files: {folder}",
        ]
    yours = "" if classes else ", with your classes"
    lines.append(f"- in Settings > Labeling Interface > Code, paste{yours}: {config(source, classes)}")
    command = join([*again, "--labeled", "EXPORT.json", "--out", "NEXT.json"])
    return [*lines, f"- import {file}, label, export: {command}"]


def config(source: Source, classes: Sequence[str] = ()) -> str:
    """A labelling configuration: one class for each item."""
    choices = "".join(f"<Choice value={quoteattr(name)}/>" for name in classes or CLASSES)
    cells = source.cells is not None or source.files[0].suffix.lower() == ".parquet"
    item = TAGS.get(source.kind, TABLE if cells else NUMBER)
    return f'<View>{item}<Choices name="label" toName="item" choice="single">{choices}</Choices></View>'


def _folder(source: Source) -> Path:
    """The folder of the images, whose parent is Label Studio's document root."""
    file, name = next(zip(source.items or (), source.ids or (), strict=True))
    return Path(str(file)).parents[len(Path(str(name)).parts) - 1].resolve()
