"""Ids: the names a table gives its rows."""

from collections.abc import Collection
from typing import Any

import polars as pl

from ..exceptions import UserError
from .frames import first_row

USUAL = "id"  # the column that names rows where the user names none


def split_ids(
    frame: pl.DataFrame, file: str, id_column: str | None, features: Collection[str] = ()
) -> tuple[pl.DataFrame, list[Any] | None, str | None]:
    """The table without its id column, the ids, and that column's name.

    Where none is named, a column `id` is taken, unless it is to be a feature or does not tell rows apart.
    """
    if id_column is None and (USUAL not in frame.columns or USUAL in features):
        return frame.with_columns(_number(column) for column in frame if column.name == USUAL), None, None
    column = _number(frame[id_column or USUAL])
    if id_column is None and (column.null_count() or not column.is_unique().all()):
        return frame.with_columns(column), None, None
    if column.null_count():
        raise UserError(f"{file}: row {first_row(column.is_null())} has no id in column {column.name!r}: fill it in")
    repeated = column.is_duplicated()
    if repeated.any():
        value = column[first_row(repeated)]
        rows = (column == value).arg_true()
        raise UserError(
            f"{file}: the id {value!r} in column {column.name!r} is that of rows {rows[0]} and {rows[1]}: "
            "ids must be unique"
        )
    return frame.drop(column.name), column.to_list(), column.name


def _number(column: pl.Series) -> pl.Series:
    """A column that was read as text, as whole numbers where it holds nothing else: 7 is a number, 007 is a name."""
    if column.dtype != pl.String:
        return column
    numbers = column.cast(pl.Int64, strict=False)
    return numbers if numbers.cast(pl.String).equals(column, null_equal=True) else column
