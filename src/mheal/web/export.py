"""Labels as files: a table with the cells of each row, or Label Studio's tasks with annotations; and back."""

import json
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl

from ..exceptions import UserError
from ..io.label_studio import tasks
from ..io.labels import read_labels
from ..io.write import FORMULA, picks_frame, table_bytes
from ..selection import Selection
from .pool import Pool
from .project import Project
from .store import Entries

FORMATS = {"csv": ".csv", "jsonl": ".jsonl", "parquet": ".parquet", "label-studio": ".json"}
TYPES = {"csv": "text/csv", "jsonl": "application/x-ndjson", "parquet": "application/vnd.apache.parquet"}
ABOUT_PICKS = ("rank", "cluster", "gain", "radius", "reason")
MOST = 50_000_000  # bytes of a file of labels


def exported(project: Project, pool: Pool, form: str, escape_formulas: bool = False) -> bytes:
    """The labelled rows in the order in which they were labelled, with who labelled them and when."""
    labels = {row: label for row, label in project.labels.items() if len(pool.at([row]))}
    last = {row: max(at for at, _ in project.votes[row].labels.values()) for row in labels}
    rows = sorted(labels, key=lambda row: last[row])
    picks = Selection.of(pool.at(rows), [project.picks[row].reason if row in project.picks else "" for row in rows])
    if form == "label-studio":
        made = json.loads(tasks(picks, pool.source))
        for row, task in zip(rows, made, strict=True):
            task["annotations"] = [{"result": [_choice(label)]} for _, label in project.votes[row].labels.values()]
        return json.dumps(made, ensure_ascii=False, indent=1).encode()
    people = [", ".join(sorted(filter(None, project.votes[row].labels))) for row in rows]
    times = [project.actions[last[row]].at for row in rows]
    frame = picks_frame(picks, pool.source).drop(ABOUT_PICKS)
    frame = frame.with_columns(
        label=pl.Series([labels[row] for row in rows], dtype=pl.String),
        labelled_by=pl.Series(people, dtype=pl.String),
        labelled_at=pl.Series((np.array(times) * 1000).astype("datetime64[ms]")).dt.strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    if form == "csv":
        frame = frame.select(name for name, kind in frame.schema.items() if not kind.is_nested() and kind != pl.Binary)
        if escape_formulas:
            frame = frame.with_columns(pl.col(pl.String).str.replace(FORMULA, "'$1"))
            frame = frame.rename(lambda name: re.sub(FORMULA, r"'\1", name))
    return table_bytes(frame, form)


def imported(content: bytes, name: str, pool: Pool) -> tuple[Entries, list[str]]:
    """Rows and labels in a file that somebody chose on the page, and notes on what was left out."""
    suffix = Path(name).suffix.lower()
    if len(content) > MOST:
        raise UserError(f"{Path(name).name} has more than {MOST // 1_000_000} MB: split it")
    with TemporaryDirectory(prefix="mheal-") as folder:
        file = Path(folder) / f"labels{suffix if suffix.isascii() and suffix[1:].isalnum() else ''}"
        file.write_bytes(content)
        source = pool.source
        labels = read_labels(file, source.ids, source.n_rows, id_column=source.id_column)
    if labels.values is None or not len(labels.values):
        raise UserError(f"{Path(name).name} has no labels: it needs a column 'label', and 'id' or 'row'")
    names = [f"{value:g}" if isinstance(value, float) else str(value) for value in labels.values.tolist()]
    known = source.places(labels.rows) >= 0
    entries = [
        (int(row), " ".join(label.split())) for row, label, ok in zip(labels.rows, names, known, strict=True) if ok
    ]
    return list(dict(entries).items()), [*labels.notes]


def _choice(label: str) -> dict[str, Any]:
    return {"from_name": "label", "to_name": "item", "type": "choices", "value": {"choices": [label]}}
