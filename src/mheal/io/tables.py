"""Tables that are read into memory: CSV, TSV, JSONL and Parquet."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from ..exceptions import UserError
from .columns import Table, first_row
from .features import feature_array, fits_float32
from .frames import read_frames
from .schema import USUAL_ID, choose
from .source import Contents
from .targets import is_column


def read_table(
    files: Sequence[Path], name: str, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    id_column: str | None = None, text_column: str | None = None, target: str | None = None,
) -> Contents:  # fmt: skip
    """The features of the shards' rows, or their texts, the ids that name them, and the values of the target column."""
    as_text = [id_column or USUAL_ID, *([text_column] if text_column is not None else [])]
    frame = read_frames(files, as_text)
    if frame.is_empty():
        raise UserError(f"{name} has no rows")
    labels = None
    if target is not None and is_column(target, frame.columns, name):
        labels, without = frame[target].to_list(), [*without, target]
    frame = frame.with_columns(_numbers(column) for column in frame if column.name == (id_column or USUAL_ID))
    schema = choose(Table(name, [frame.lazy()]), columns, without, id_column, text_column)
    ids = None if schema.id_column is None else frame[schema.id_column].to_list()
    if schema.text_column is not None:
        texts = _texts(frame[schema.text_column], name)
        return Contents("texts", texts, schema.description, ids, schema.id_column, labels)
    X = feature_array(frame, schema, name)
    if X.dtype == np.float64 and fits_float32(X):
        with np.errstate(under="ignore"):
            X = X.astype(np.float32)
    return Contents("table", X, schema.description, ids, schema.id_column, labels)


def _numbers(column: pl.Series) -> pl.Series:
    """A column that was read as text, as whole numbers where it holds nothing else: 7 is a number, 007 is a name."""
    if column.dtype != pl.String:
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column


def _texts(column: pl.Series, name: str) -> list[str]:
    """The texts in a column; each row must have one."""
    if column.dtype != pl.String:
        raise UserError(f"{name}: column {column.name!r} holds {column.dtype}, not text")
    blank = column.fill_null("").str.strip_chars() == ""
    if blank.any():
        raise UserError(f"{name}: row {first_row(blank)}, column {column.name!r} has no text: drop such rows")
    return column.to_list()
