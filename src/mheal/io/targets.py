"""Targets: the class of every row of a pool, from a column, an array, the folders of images, or a file of labels."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..classes import as_classes, as_column, missing, why_not_classes, with_one_row
from ..exceptions import UserError, UserFileError, shortened
from .arrays import array_of, open_arrays
from .labels import FLAT, label_columns, match
from .locate import TABLES, named_array
from .source import Source
from .tables import read_text

FOLDER = "folder"  # the target of images that are sorted into a folder for each class
FORMS = f".npy, .npz:NAME, .txt (one label in each line), {', '.join(TABLES)} or Label Studio's .json"


def read_target(target: str, pool: str | Path, source: Source) -> tuple[npt.NDArray[np.int64], npt.NDArray[Any], str]:
    """The labelled rows of the pool, ascending; their labels; and a description of where the labels come from.

    target : the column given to `read_pool` as target; an array in the pool's .npz file; "folder": the first folder in
        each image's path; or a file: an array, one label per line, or a table, with or without `row` or id
    """
    values, description = _values(target, Path(pool).name, source)
    if any(isinstance(value, list | dict) for value in values):
        raise UserError(f"{description} holds lists or groups of values: give one label for each row")
    if len(values) != source.n_rows:
        rows_there = f"{source.n_rows:,} rows" + (f" ({len(source.skipped)} skipped)" if source.skipped else "")
        remedy = "give one for each row, or a table with the columns row (or id) and label"
        raise UserError(f"{description} has {len(values):,} labels, but the pool has {rows_there}: {remedy}")
    cells = as_column(values) if source.rows is None else as_column(values)[source.rows]
    rows = np.flatnonzero(~missing(cells))
    if not len(rows):
        remedy = "put the images of each class into a folder of its own" if target == FOLDER else "fill them in"
        raise UserError(f"{description}: there is no label at all: {remedy}, or name another target")
    labels = as_classes(cells[rows], description)
    if why := why_not_classes(labels):
        raise UserError(f"{description}: {why}; name another target")
    if rare := with_one_row(labels):
        raise UserError(f"{description}: {rare}: empty such labels, or merge classes")
    return rows, labels, description


def _values(target: str, pool: str, source: Source) -> tuple[Sequence[Any], str]:
    """The label of each row, if it has one, and a description of where the labels come from."""
    if source.target is not None:
        return source.target, f"{pool}, column {target!r}"
    if source.kind == "images" and target == FOLDER:
        folders = [str(path).rpartition("/")[0].partition("/")[0] for path in source.ids or ()]
        return folders, f"the folders in {pool}"
    file, array = named_array(target)
    if source.kind == "vectors" and source.files[0].suffix.lower() == ".npz":
        without = next((shard for shard in source.files if target not in _names(shard)), None)
        if without is None:
            return [label for shard in source.files for label in _array(shard, target)], f"{pool}, array {target!r}"
        if not file.is_file():
            held = ", ".join(_names(without))
            raise UserError(f"{without.name} has no array {target!r}, nor is there such a file: it has {held}")
    if not file.is_file():
        folders_too = f"{FOLDER!r} if each class has a folder, or " if source.kind == "images" else ""
        raise UserFileError(f"there is no file {str(file)!r}: the target is {folders_too}a file of labels ({FORMS})")
    return _from_file(file, array, source), Path(target).name


def _from_file(file: Path, array: str | None, source: Source) -> Sequence[Any]:
    suffix = file.suffix.lower()
    if suffix in (".npy", ".npz"):
        return _array(file, array)
    if suffix == ".txt":
        return _lines(file)
    if suffix not in (*TABLES, ".json"):
        raise UserError(f"cannot read labels from {file.name}: use {FORMS}")
    columns = label_columns(file, source.id_column)
    if suffix in TABLES and not {"row", "id", FLAT, source.id_column} & columns.keys():
        if "label" not in columns and len(columns) > 1:
            raise UserError(f"{file.name} has no column 'label': it has {shortened([*columns])}")
        return columns["label"] if "label" in columns else next(iter(columns.values()))
    found = match(columns, file.name, source.ids, source.n_rows, source.id_column)
    if found.values is None:
        raise UserError(f"{file.name} has no column 'label'")
    labels = dict(zip(found.rows.tolist(), found.values.tolist(), strict=True))
    return [labels.get(row) for row in range(source.n_rows)]


def _names(file: Path) -> list[str]:
    with open_arrays(file) as arrays:
        return list(arrays)


def _array(file: Path, name: str | None) -> list[Any]:
    """The labels in a .npy file, or in the array of that name in an .npz file, by default the only one or `y`."""
    with open_arrays(file) as arrays:
        name = name or (next(iter(arrays)) if len(arrays) == 1 else "y")
        if name not in arrays:
            raise UserError(f"{file.name} has no array {name!r}: write {file.name}:NAME ({', '.join(arrays)})")
        labels = array_of(arrays, name)
    if labels.ndim != 1:
        raise UserError(f"{file.name} has labels of shape {labels.shape}: give one label for each row (argmax does)")
    return labels.tolist()


def _lines(file: Path) -> list[Any]:
    """One label in each line; numbers, if all lines that are not empty hold one."""
    texts = read_text(file).removesuffix("\n").split("\n")
    lines = pl.Series([text.strip() or None for text in texts], dtype=pl.String)
    numbers = lines.cast(pl.Float64, strict=False)
    return (lines if numbers.null_count() > lines.null_count() else numbers).to_list()
