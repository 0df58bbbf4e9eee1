"""A table in memory as a pool: the features of its rows, or their texts, and the ids that name them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError
from ..tables.features import Missing, features, fits_float32
from ..tables.names import is_id
from ..tables.schema import choose
from ..tables.table import Table
from .source import Kind, Source, listed
from .tables import read_frames
from .targets import is_column

Texts = tuple[list[str], npt.NDArray[np.int64] | None, list[str]]


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
    frame = frame.with_columns(_whole_numbers(column) for column in frame if column.name in (id_column, "id"))
    ids_as_text = [column for column in frame.columns if column == id_column or (id_column is None and is_id(column))]
    table = Table.of(frame, name, [*ids_as_text, text_column])
    schema = choose(table, columns, without, also, id_column, text_column, answers)
    kind: Kind = "table"
    X: npt.NDArray[Any] | list[str]
    if schema.text_column is None:
        X, kept, notes = features(table, schema, missing)
        if X.dtype == np.float64 and fits_float32(X):
            with np.errstate(under="ignore"):
                X = X.astype(np.float32)
    else:
        kind = "texts"
        X, kept, notes = not_empty(frame[schema.text_column], f"column {schema.text_column!r} of {files[0].name}")
    ids = None if schema.id_column is None else frame[schema.id_column].to_list()
    cells = frame.drop(schema.answers)
    return Source(
        X, kind, schema.description, [*files], ids, schema.id_column, target=labels, rows=kept, n_in_files=len(frame),
        cells=cells if kept is None else cells[kept.tolist()], notes=[*notes],
    )  # fmt: skip


def _whole_numbers(column: pl.Series) -> pl.Series:
    """A column that was read as text, as whole numbers where it holds nothing else: 7 is a number, 007 is a name."""
    if column.dtype != pl.String:
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def not_empty(texts: pl.Series, where: str) -> Texts:
    """The texts that are not empty; the rows they are in, None for all; and a note that lists the other rows.

    "Texts" that are numbers are refused.
    """
    if texts.dtype != pl.String:
        raise UserError(f"{where} holds {texts.dtype}, not text")
    words = texts.drop_nulls().head(1000).str.strip_chars()
    if len(words) and words.str.contains(r"^[-+0-9.,;\seE]+$").all():
        raise UserError(
            f"{where} holds numbers, not texts: save a table of numbers as .csv, with names of columns, or as .npy"
        )
    blank = (texts.fill_null("").str.strip_chars() == "").to_numpy()
    if blank.all():
        raise UserError(f"{where} holds no text at all")
    if not blank.any():
        return texts.to_list(), None, []
    note = f"{blank.sum():,} empty texts are left out: row {listed(np.flatnonzero(blank))}"
    return texts.filter(~blank).to_list(), np.flatnonzero(~blank), [note]
