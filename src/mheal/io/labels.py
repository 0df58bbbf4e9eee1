"""Read labels from tables and from Label Studio's exports."""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..classes import is_blank
from ..exceptions import UserError, UserFileError, how_many, shortened
from ..runtime.files import MISTYPED, reading
from .locate import TABLES

FLAT = "annotation_id"  # a field of Label Studio's flat exports, which have an entry for each annotation
TASK = "task_id"  # a field that we add when we flatten its other exports
OWN_ID = "mheal_id"  # the id in tasks that we wrote
EXPORT = "it should be a list of tasks"
PICKS = ("row", "cluster", "gain", "radius")  # columns of picks
LABEL_NAMES = ("label", "choice", "sentiment", "rating", "number")  # our name, and those in its templates


@dataclass(frozen=True, eq=False)
class Labels:
    """Labelled rows of the pool, in the order of the file, and their labels (None if the file only names rows).

    notes : how disagreements between annotators were resolved, one line each
    """

    rows: npt.NDArray[np.int64]
    values: npt.NDArray[Any] | None
    notes: Sequence[str] = ()


def read_labels(
    path: str | Path, ids: Iterable[Any] | None, n_rows: int, *, id_column: str | None = None,
    only_labelled: bool = True,
) -> Labels:  # fmt: skip
    """Read a CSV, TSV, JSONL or Parquet file, or a Label Studio export (JSON, JSON-MIN, CSV).

    Items are matched by ids in `id_column` (or `id`) if pool and file have some, else by row numbers in `row`. Ids are
    compared as text. Items with an empty label are ignored; without a column `label`, every item counts as labelled.
    Several labels in one annotation are joined by `|`. Where annotators differ, the most frequent label is used.

    ids : the pool's ids, row by row, or None
    only_labelled : ignore items without a label; False: take every item, and refuse a file that has labels
    """
    file = Path(path)
    if not file.is_file():
        raise UserFileError(f"there is no file {str(path)!r} to read labels from")
    columns = label_columns(file, id_column)
    if not only_labelled and not all(map(is_blank, columns.pop("label", ()))):
        raise UserError(f"{file.name} has labels already: give it as labels, not as picks to keep")
    return match(columns, file.name, ids, n_rows, id_column)


def joined(found: Mapping[str, Labels]) -> Labels:
    """The labels of several files together. A row may be in several files if it has the same label in all."""
    lacking = [file for file, labels in found.items() if labels.values is None]
    if lacking and len(lacking) < len(found):
        raise UserError(f"{lacking[0]} has no column 'label', but other files of labels have one: add it")
    rows = np.concatenate([labels.rows for labels in found.values()])
    notes = [note for labels in found.values() for note in labels.notes]
    _, first, at = np.unique(rows, return_index=True, return_inverse=True)
    once = np.sort(first)
    if lacking:
        return Labels(rows[once], None, notes)
    values = np.concatenate([labels.values for labels in found.values()])
    if len(differ := np.flatnonzero(values != values[first[at]])):
        files = np.repeat([*found], [len(labels.rows) for labels in found.values()])
        one, other = (f"{values.tolist()[i]!r} in {files[i]}" for i in (first[at[differ[0]]], differ[0]))
        raise UserError(f"row {rows[differ[0]]} is labelled {one} and {other}: keep one")
    return Labels(rows[once], values[once], notes)


def match(
    columns: Mapping[str, Sequence[Any]], file: str, ids: Iterable[Any] | None, n_rows: int, id_column: str | None
) -> Labels:
    """The rows of the pool that the entries of a file name, and their labels."""
    if not columns:  # an export without tasks
        return Labels(np.empty(0, np.int64), np.empty(0, object))
    key, by_id = _key(columns, ids is not None, id_column, file)
    row_of_id = None if ids is None or not by_id else {str(value): row for row, value in enumerate(ids)}
    labels = columns.get("label")
    numbers = columns.get("row", ()) if by_id and key != "row" else ()
    given: dict[int, Counter[Any]] = {}
    stated: dict[int, Any] = {}
    names: dict[int, Any] = {}
    for at, name in enumerate(columns[key]):
        label = None if labels is None else labels[at]
        if labels is not None and is_blank(label):
            continue
        if is_blank(name):
            raise UserError(f"{file}: entry {at + 1} has no {key!r}: fill it in")
        if isinstance(label, list) and len(label) == 1:
            label = label[0]
        if isinstance(label, list | dict):
            raise UserError(f"{file}: the label of entry {at + 1} is {label}: give one word or number")
        row = _row(name, row_of_id, n_rows, file)
        given.setdefault(row, Counter())[label] += 1
        names[row] = name
        if at < len(numbers) and not is_blank(numbers[at]):
            with suppress(UserError):  # a column of the pool may be called row
                stated[row] = _row(numbers[at], None, sys.maxsize, file)
    # Picks of ours may be of a pool that has grown since; then their rows are others, not the same in another order.
    ours = {*PICKS} <= columns.keys() or FLAT in columns
    if apart := [row for row, said in stated.items() if row != said and not (ours and {*stated} != {*stated.values()})]:
        wrong = f"{file}: row {stated[apart[0]]} has the {key} {names[apart[0]]!r}, which is that of row {apart[0]}"
        raise UserError(f"{wrong}: correct the file, or delete the column that is wrong")
    labelled, ties, outvoted = {}, [], 0
    for row, votes in given.items():
        (first, most), *others = votes.most_common()
        if others and FLAT not in columns:
            raise UserError(f"{file}: row {row} is labelled {first!r} and {others[0][0]!r}: keep one")
        if others and others[0][1] == most:
            ties.append(f"{names[row]} ({' or '.join(map(str, votes))})")
        else:
            labelled[row] = first
            outvoted += bool(others)
    differ = f"{file}: annotators differ on {how_many(outvoted, 'item')}: the most frequent label is used"
    notes = [differ] if outvoted else []
    if ties:
        what = f"annotators are tied on {how_many(len(ties), 'item')}, so there is no label"
        notes.append(f"{file}: {what}: {shortened(ties)}")
    rows = np.fromiter(labelled, np.int64, len(labelled))
    return Labels(rows, None if labels is None else np.array([*labelled.values()], None if labelled else object), notes)


def label_columns(file: Path, id_column: str | None) -> dict[str, list[Any]]:
    """The columns of a file by name. Labels are in the column `label`; Label Studio's own ids are dropped."""
    suffix = file.suffix.lower()
    columns: dict[str, list[Any]]
    if suffix == ".json":
        with reading(file, f": {EXPORT}", MISTYPED):
            records = _records(json.loads(file.read_text(encoding="utf-8-sig")), file.name)
        fields = dict.fromkeys(field for record in records for field in record)
        columns = {field: [record.get(field) for record in records] for field in fields}
    elif suffix in TABLES:
        from .tables import read_frame

        columns = read_frame(file, as_text=[id_column or "id", "id", OWN_ID]).to_dict(as_series=False)
    else:
        raise UserError(f"cannot read labels from {file.name}: use {', '.join(TABLES)} or Label Studio's .json")
    for own in ("label", "row", "id"):
        if own not in columns and len(alike := [name for name in columns if name.strip().lower() == own]) == 1:
            columns[own] = columns[alike[0]]
    if FLAT in columns:
        found = next((name for name in LABEL_NAMES if name in columns), None)
        if found is None:
            names, held = ", ".join(LABEL_NAMES), ", ".join(sorted(columns))
            raise UserError(f"{file.name}: the label is in none of {names}; it has {held}")
        columns["label"] = columns[found] if suffix == ".json" else [_parsed(cell) for cell in columns[found]]
        if TASK not in columns:  # a flat export, whose `id` may be Label Studio's number of the task
            columns.pop("id", None)
        if OWN_ID in columns:
            columns[id_column or "id"] = columns[OWN_ID]
    if "label" in columns and (FLAT in columns or suffix == ".json"):
        with reading(file, f": {EXPORT}", MISTYPED):
            columns["label"] = [_joined(value, file.name) for value in columns["label"]]
    return columns


def _records(tasks: Any, file: str) -> list[dict[str, Any]]:
    """A record for each item of a JSON file; for a Label Studio task, one for each annotation, with the task's data."""
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise UserError(f"{file} is not a Label Studio export: {EXPORT}")
    if not any(isinstance(task.get("data"), dict) for task in tasks):
        return tasks
    records = []
    for task in tasks:
        submitted = [one for one in task.get("annotations") or [] if not one.get("was_cancelled")]
        for one in submitted or [{}]:
            results = one.get("result") or []
            ours = [part for part in results if part.get("from_name") == "label"] or results
            label = [part.get("value") for part in ours]
            records.append({**task.get("data", {}), "label": label, FLAT: one.get("id"), TASK: task.get("id")})
    return records


def _label(value: Any, file: str) -> Any:
    """The label in one result: {"choices": ["cat"]}, {"labels": [...]}, {"rating": 4} and so on, or the bare label."""
    if not isinstance(value, dict):
        return "/".join(map(str, value)) if isinstance(value, list) else value  # a path in a taxonomy
    regions = [key for key in value if key.endswith("labels")]  # labels, rectanglelabels, brushlabels …
    for key in ("choices", *regions, "text", "rating", "number", "taxonomy"):
        if key in value:
            return _joined(value[key], file)
    raise UserError(f"{file}: an annotation holds {', '.join(value)} but no choices, labels, text, rating or number")


def _parsed(cell: Any) -> Any:
    """The content of a table's cell: several labels are written as JSON, a single one as plain text."""
    with suppress(ValueError, RecursionError):
        return json.loads(cell) if isinstance(cell, str) and cell[:1] in ("[", "{") else cell
    return cell


def _joined(results: Any, file: str) -> Any:
    """The label in the results of an annotation; different labels are joined by |; None if there is none."""
    labels = {_label(value, file) for value in (results if isinstance(results, list) else [results])} - {None}
    return labels.pop() if len(labels) == 1 else "|".join(sorted(map(str, labels))) or None


def _key(columns: Mapping[str, Any], pool_has_ids: bool, id_column: str | None, file: str) -> tuple[str, bool]:
    """The column that identifies the items, and whether it holds ids (else row numbers)."""
    named = id_column or "id"
    if pool_has_ids and {"id", *PICKS} <= columns.keys():  # our own picks always have ids in `id`
        return "id", True
    # Ids come first: they stay valid when the pool grows. But `row` precedes an `id` that is not the pool's id column.
    for name in (named, "row", "id"):
        if name in columns and (pool_has_ids or name == "row"):
            return name, pool_has_ids and (name != "row" or name == named)
    if found := [name for name in (named, "id") if name in columns]:
        remedy = "name the pool's id column, or give row numbers in a column 'row'"
        raise UserError(f"{file} names items by {found[0]!r}, but the pool was read without ids: {remedy}")
    wanted = f"'row' or {named!r}" if pool_has_ids else "'row'"
    remedy = f"add one that names each item{'' if pool_has_ids else ' by its number, from 0'}"
    raise UserError(f"{file} has no column {wanted}: it has {shortened([*columns])}; {remedy}")


def _row(name: Any, row_of_id: Mapping[str, int] | None, n_rows: int, file: str) -> int:
    if row_of_id is not None:
        given, first = str(name), next(iter(row_of_id))
        # --escape-formulas puts ' before some ids, and spreadsheets turn 0012 into 12.
        also = (given.removeprefix("'"), given.zfill(len(first)))
        row = next((row_of_id[one] for one in (given, *also) if one in row_of_id), -1)
        if row < 0:
            raise UserError(f"{file}: no row of the pool has the id {name!r}: the pool's first id is {first!r:.60}")
        return row
    try:
        row = int(name)
        if isinstance(name, float) and row != name:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise UserError(f"{file}: {name!r} is not a row number") from None
    if not 0 <= row < n_rows:
        raise UserError(f"{file}: there is no row {row}: rows of the pool go from 0 to {n_rows - 1}")
    return row
