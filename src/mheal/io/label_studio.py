"""Label Studio: picks as its tasks, and labels from what it exports."""

import json
from collections.abc import Collection
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

FLAT = "annotation_id"  # a field of flat exports; their `id` is Label Studio's number of the task, not ours
LABEL_NAMES = ("label", "choice", "sentiment", "rating", "number")  # our tag's name, and those in its templates


def tasks(frame: "polars.DataFrame", picks: "Selection", source: Source) -> list[dict[str, Any]]:
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


def read_export(file: Path) -> list[dict[str, Any]]:
    """One record of the item's fields for each annotation, with a field `label`: None where there is none yet.

    Several labels in one annotation are joined by |. A plain list of records is understood too.
    """
    with reading(file):
        tasks = json.loads(file.read_text(encoding="utf-8-sig"))
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError(f"{file.name} is not a Label Studio export: it should be a list of tasks")
    if any(isinstance(task.get("data"), dict) for task in tasks):
        return [record for task in tasks for record in _annotations(task, file.name)]
    label = label_field({field for task in tasks for field in task}, file.name)
    return tasks if label is None else [{**task, "label": _joined(task.get(label), file.name)} for task in tasks]


def label_field(fields: Collection[str], file: str) -> str | None:
    """The field that holds the label: `label`, or what a flat export may call it; None where there is none."""
    if FLAT not in fields:
        return "label" if "label" in fields else None
    found = [name for name in LABEL_NAMES if name in fields]
    if not found:
        raise UserError(f"{file}: the label is in none of {', '.join(LABEL_NAMES)}; it has {', '.join(sorted(fields))}")
    return found[0]


def _annotations(task: dict[str, Any], file: str) -> list[dict[str, Any]]:
    """A record of the task for each annotation that was submitted; one without a label if none was."""
    submitted = [one for one in task.get("annotations") or [] if not one.get("was_cancelled")]
    labels = [_joined([part.get("value") for part in one.get("result") or []], file) for one in submitted]
    return [{**task.get("data", {}), "label": label} for label in labels or [None]]


def _label(value: Any, file: str) -> Any:
    """The label in one result: {"choices": ["cat"]}, {"labels": [...]}, {"rating": 4} and so on, or the bare label."""
    if not isinstance(value, dict):
        return value
    regions = [key for key in value if key.endswith("labels")]  # labels, rectanglelabels, brushlabels …
    for key in ("choices", *regions, "text", "rating", "number"):
        if key in value:
            return _joined(value[key], file)
    raise UserError(f"{file}: an annotation holds {', '.join(value)} but no choices, labels, text, rating or number")


def _joined(results: Any, file: str) -> Any:
    """The one label in these results, or in the only one, or several as one; None where there is none."""
    labels = [_label(value, file) for value in (results if isinstance(results, list) else [results])]
    different = [label for label in dict.fromkeys(labels) if label is not None]
    return different[0] if len(different) == 1 else "|".join(map(str, different)) or None
