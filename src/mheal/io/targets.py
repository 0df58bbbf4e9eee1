"""Targets: the class of every row of a pool, from a column, an array, the folders of images, or a file of labels."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..classes import as_classes, is_blank, why_not_classes
from ..exceptions import UserError, UserFileError
from ..runtime.files import reading
from .arrays import array_names, load_array
from .columns import SHOWN, shortened
from .labels import read_labels
from .locate import TABLES
from .source import Source

FOLDER = "folder"  # the target of images that lie in one folder for each class
FORMS = ".npy, .npz:NAME, .txt (one label in each line), .csv, .tsv, .parquet, .jsonl or Label Studio's .json"


@dataclass(frozen=True, eq=False)
class Target:
    """rows : rows of the pool that have a label, ascending; labels : theirs; description : where they are from."""

    rows: npt.NDArray[np.int64]
    labels: npt.NDArray[Any]
    description: str


def is_column(target: str, columns: Sequence[str], table: str) -> bool:
    """Whether a target is a column of the table; refuses one that is neither that nor a file."""
    if target in columns or _file(target)[0].is_file():
        return target in columns
    close = get_close_matches(target, columns, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"its columns are {shortened(columns, SHOWN)}"
    raise UserError(f"{table} has no column {target!r}, nor is there such a file: {hint}")


def read_target(target: str, pool: str | Path, source: Source) -> Target:
    """The labels of the pool's rows; rows without one are left out.

    target : the column that `read_pool` was given as target, an array in the pool's .npz file, "folder" for images
        (their class is the first folder on their path), or a file: an array, a text file with one label in each line,
        or a table, matched by `row` or id where it has such a column and line by line where not
    """
    name = Path(pool).name
    values: Sequence[Any] | None
    if source.target is not None:
        values, description = source.target, f"{name}, column {target!r}"
    elif source.kind == "images" and target == FOLDER:
        values, description = [_folder(str(path)) for path in source.ids or ()], f"the folders in {name}"
    elif (values := _beside(target, source)) is not None:
        description = f"{name}, array {target!r}"
    else:
        values, description = _from_file(target, source), Path(target).name
    if len(values) != len(source.X):
        rows_there = f"{len(source.X):,} rows" + (f" ({len(source.skipped)} skipped)" if source.skipped else "")
        raise UserError(f"{description} has {len(values):,} labels, but the pool has {rows_there}: {_MATCH}")
    rows = np.array([row for row, value in enumerate(values) if not is_blank(value)], np.int64)
    if not len(rows):
        raise UserError(f"{description}: there is no label at all")
    labels = as_classes([values[row] for row in rows], description)
    if why := why_not_classes(labels):
        raise UserError(f"{description}: {why}; name another target")
    classes, counts = np.unique(labels, return_counts=True)
    if counts.min() < 2:
        rare = classes[counts.argmin()].item()
        raise UserError(
            f"{description}: class {rare!r} has 1 row only: empty that label, or merge the class with another"
        )
    return Target(rows, labels, description)


_MATCH = "give one for each row, or a table with the columns row (or id) and label"


def _folder(path: str) -> str | None:
    first, slash, _ = path.partition("/")
    return first if slash else None


def _beside(target: str, source: Source) -> list[Any] | None:
    """The array of that name in the pool's own .npz files; None where there is none, but a file of that name."""
    if source.kind != "vectors" or source.files[0].suffix.lower() != ".npz":
        return None
    parts = []
    for file in source.files:
        names = array_names(file)
        if target not in names:
            if _file(target)[0].is_file():
                return None
            held = ", ".join(names)
            raise UserError(f"{file.name} has no array {target!r}, nor is there such a file: it has {held}")
        parts += _array(file, target)
    return parts


def _file(target: str) -> tuple[Path, str | None]:
    """The file that is meant, and the array in it, where one is named."""
    named = re.fullmatch(r"(.+\.npz):([^/\\:]+)", target, re.IGNORECASE)
    return (Path(named[1]), named[2]) if named else (Path(target), None)


def _from_file(target: str, source: Source) -> Sequence[Any]:
    file, array = _file(target)
    if not file.is_file():
        folders = f"{FOLDER!r} if each class has a folder, or " if source.kind == "images" else ""
        raise UserFileError(f"there is no file {str(file)!r}: the target is {folders}a file of labels ({FORMS})")
    suffix = file.suffix.lower()
    if suffix in (".npy", ".npz"):
        return _array(file, array)
    if suffix == ".txt":
        return _lines(file)
    if suffix == ".json":
        return _matched(file, source)
    if suffix in TABLES:
        return _table(file, source)
    raise UserError(f"cannot read labels from {file.name}: use {FORMS}")


def _array(file: Path, name: str | None) -> list[Any]:
    """The labels in a .npy file, or in the array of that name in an .npz file, by default the only one or `y`."""
    if file.suffix.lower() == ".npz":
        names = array_names(file)
        name = name or (names[0] if len(names) == 1 else "y")
        if name not in names:
            raise UserError(f"{file.name} has no array {name!r}: write {file.name}:NAME ({', '.join(names)})")
    labels = load_array(file, name, " (is it complete, and of numbers or strings only?)")
    if labels.ndim != 1:
        raise UserError(f"{file.name} has labels of shape {labels.shape}: give one label for each row (argmax does)")
    return labels.tolist()


def _lines(file: Path) -> list[Any]:
    import polars as pl

    with reading(file):
        text = file.read_text(encoding="utf-8-sig")
    lines = pl.Series([line.strip() or None for line in text.removesuffix("\n").split("\n")], dtype=pl.String)
    numbers = lines.cast(pl.Float64, strict=False)
    return (lines if numbers.null_count() > lines.null_count() else numbers).to_list()


def _table(file: Path, source: Source) -> Sequence[Any]:
    from .frames import read_frame

    frame = read_frame(file)
    if {"row", "id", source.id_column} & set(frame.columns):
        return _matched(file, source)
    if "label" not in frame.columns and frame.width > 1:
        raise UserError(f"{file.name} has no column 'label': it has {shortened(frame.columns, SHOWN)}")
    return frame["label" if "label" in frame.columns else frame.columns[0]].to_list()


def _matched(file: Path, source: Source) -> list[Any]:
    """Labels brought to their rows by id or row number."""
    found = read_labels(file, source.ids, len(source.X), id_column=source.id_column)
    if found.values is None:
        raise UserError(f"{file.name} has no column 'label'")
    values: list[Any] = [None] * len(source.X)
    for row, value in zip(found.rows.tolist(), found.values.tolist(), strict=True):
        values[row] = value
    return values
