"""Frames of pandas or Polars as tables."""

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import DataWarning, UserError, UserTypeError
from .features import Features, Missing, features
from .schema import choose
from .table import Table

ENOUGH = 10  # labels, from which a column that repeats them is no coincidence


def frame_features(frame: Any, missing: Missing = "impute", stacklevel: int = 2) -> Features:
    """The features of a frame. Warnings list what was left out, read as numbers or filled in."""
    table = Table.of(as_polars(frame), "X")
    if not table.types or not len(frame):
        raise UserError(f"X is empty, shape {frame.shape}: it needs at least one row and one column")
    schema = choose(table)
    if schema.text_column is not None:
        wrong = f"X has no column that separates its rows but the texts in {schema.text_column!r}"
        raise UserTypeError(f"{wrong}: embed them first (mheal.embed), or group them into categories")
    made = features(table, schema, missing)
    for note in [*([schema.description] if schema.id_column or schema.left_out or schema.written else []), *made.notes]:
        warnings.warn(f"X: {note}", DataWarning, stacklevel=stacklevel)
    return made


def repeating(rows: pl.DataFrame, labels: Any) -> list[str]:
    """The columns that hold the very labels of these rows, if enough rows have labels."""
    given = [_word(value) for value in labels]
    if len(given) < ENOUGH or len(set(given)) < 2:
        return []
    return [column.name for column in rows if [_word(value) for value in column] == given]


def _word(value: Any) -> str:
    """A value as its label is written: 3.0 is the label 3."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def as_polars(frame: Any) -> pl.DataFrame:
    """The columns of a frame as a Polars frame; names become text."""
    if isinstance(frame, pl.DataFrame):
        return frame
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UserTypeError(f"X has two columns called {twice!r}: rename one of them")
    return pl.DataFrame([_series(frame.iloc[:, i], name) for i, name in enumerate(names)])


def _series(column: Any, name: str) -> pl.Series:
    """A column of a pandas frame."""
    values: npt.NDArray[Any] = column.to_numpy()
    if values.dtype.kind in "fiub":
        return pl.Series(name, values)
    if values.dtype.kind == "c":
        raise UserTypeError(f"X: column {name!r} holds complex numbers: give real and imaginary parts as two columns")
    if getattr(column.dtype, "tz", None) is not None:
        values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    if values.dtype.kind in "mM":
        return pl.Series(name, values.astype(f"{values.dtype.kind}8[us]"))
    absent: npt.NDArray[np.bool_] = column.isna().to_numpy()
    cells = [None if gone else value for gone, value in zip(absent, values, strict=True)]
    present = values[~absent]
    if all(isinstance(value, bool | np.bool_) for value in present):
        return pl.Series(name, [None if cell is None else bool(cell) for cell in cells])
    if all(isinstance(value, int | float | np.number) for value in present):
        return pl.Series(name, np.where(absent, np.nan, values).astype(np.float64)).fill_nan(None)
    if isinstance(present[0], list | tuple | np.ndarray):
        return pl.Series(name, [None if cell is None else list(cell) for cell in cells], strict=False)
    if isinstance(present[0], dict | set):
        return pl.Series(name, cells, pl.Object)
    if hasattr(present[0], "isoformat"):
        return pl.Series(name, np.array(cells, "datetime64[us]"))
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells])
