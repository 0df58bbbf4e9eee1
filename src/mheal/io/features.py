"""A table in memory as a pool: the features of its rows, or their texts, and the ids that name them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError
from ..tables.features import fits_float32
from ..tables.missing import Missing, features
from ..tables.names import is_id
from ..tables.schema import Schema, choose
from ..tables.table import Table
from .source import Source
from .tables import read_frames
from .targets import is_column

LISTED = 10  # rows that a note lists


def read_features(
    files: Sequence[Path], name: str, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    also: Sequence[str] = (), id_column: str | None = None, text_column: str | None = None, target: str | None = None,
    answers: Sequence[str] = (), missing: Missing = "impute",
) -> Source:  # fmt: skip
    """A table in memory: the features of its rows, or their texts, their ids, and the values of the target column."""
    frame = read_frames(files, as_text=[id_column or "id", *([] if text_column is None else [text_column])])
    if frame.is_empty():
        raise UserError(f"{name} has no rows")
    labels = None
    if target is not None and is_column(target, frame.columns, name):
        if target in (*(columns or ()), *also):
            raise UserError(f"{name}: column {target!r} is the target, so it cannot be a feature")
        labels, answers = frame[target].to_list(), [*answers, target]
    frame = frame.with_columns(whole_numbers(column) for column in frame if column.name in (id_column, "id"))
    ids_as_text = [column for column in frame.columns if column == id_column or (id_column is None and is_id(column))]
    table = Table.of(frame, name, [*ids_as_text, text_column])
    schema = choose(table, columns, without, also, id_column, text_column, answers)
    cells = frame.drop(schema.answers)
    if schema.text_column is not None:
        return _texts(frame, cells, schema, files, labels)
    X, kept, notes = features(table, schema, missing)
    if X.dtype == np.float64 and fits_float32(X):
        with np.errstate(under="ignore"):
            X = X.astype(np.float32)
    return _among(kept, X, "table", frame, cells, schema, files, labels, notes)


def whole_numbers(column: pl.Series) -> pl.Series:
    """A column that was read as text, as whole numbers where it holds nothing else: 7 is a number, 007 is a name."""
    if column.dtype != pl.String:
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def refuse_numbers(texts: pl.Series, where: str) -> None:
    """Raise the error for "texts" that are numbers."""
    words = texts.head(1000).str.strip_chars()
    rows = words.str.contains(r"^[-+0-9.,;\seE]+$")
    if len(words) and rows.mean() == 1:
        raise UserError(
            f"{where} holds numbers, not texts: save a table of numbers as .csv, with names of columns, or as .npy"
        )


def without_blank(texts: pl.Series, where: str) -> tuple[npt.NDArray[np.int64] | None, list[str]]:
    """The rows whose text is not empty, None for all; and a note that lists the others."""
    blank = texts.fill_null("").str.strip_chars() == ""
    if blank.all():
        raise UserError(f"{where} holds no text at all")
    if not blank.any():
        return None, []
    rows = blank.arg_true()
    listed = ", ".join(map(str, rows.head(LISTED))) + (", …" if len(rows) > LISTED else "")
    return blank.not_().arg_true().to_numpy().astype(np.int64), [
        f"{len(rows):,} empty texts are left out: row {listed}"
    ]


def _texts(
    frame: pl.DataFrame, cells: pl.DataFrame, schema: Schema, files: Sequence[Path], labels: list[Any] | None
) -> Source:
    name = str(schema.text_column)
    column = frame[name]
    where = f"column {name!r} of {files[0].name}"
    if column.dtype != pl.String:
        raise UserError(f"{where} holds {column.dtype}, not text")
    refuse_numbers(column.drop_nulls(), where)
    kept, notes = without_blank(column, where)
    texts = column.to_list() if kept is None else column[kept.tolist()].to_list()
    return _among(kept, texts, "texts", frame, cells, schema, files, labels, notes)


def _among(
    kept: npt.NDArray[np.int64] | None, X: Any, kind: Any, frame: pl.DataFrame, cells: pl.DataFrame, schema: Schema,
    files: Sequence[Path], labels: list[Any] | None, notes: Sequence[str],
) -> Source:  # fmt: skip
    """The pool of the rows that are kept."""
    ids = None if schema.id_column is None else frame[schema.id_column].to_list()
    cells = cells if kept is None else cells[kept.tolist()]
    return Source(
        X, kind, schema.description, [*files], ids, schema.id_column, target=labels, rows=kept,
        n_in_files=None if kept is None else len(frame), cells=cells, notes=[*notes],
    )  # fmt: skip
