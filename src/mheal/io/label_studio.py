"""Label Studio's exports: JSON, which has tasks with annotations, and the flat JSON-MIN, CSV and TSV."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..exceptions import UserError
from ..runtime.files import reading

FLAT = "annotation_id"  # a field of flat exports; their `id` is Label Studio's number of the task, not ours
LABEL_NAMES = ("label", "choice", "sentiment", "rating", "number")  # our tag's name, and those in its templates


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
