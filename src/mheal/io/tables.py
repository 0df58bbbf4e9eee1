"""A table's columns as features: numbers as they are, few-valued text one-hot encoded, lists as embeddings."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError
from .frames import first_row

MAX_CATEGORIES = 20  # a text column with more different values is not one-hot encoded
LONG_TEXT = 20  # characters, on average, from which a column is something to read rather than a category
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")  # names under which pandas writes its index
MISSING = ["", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "nan", "NaN", "?", "-"]
HELD_BY_FLOAT32 = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)

Array = npt.NDArray[Any]


def table_features(frame: pl.DataFrame, file: str, columns: Sequence[str] | None = None) -> tuple[Array, str]:
    """Features of every row, and one sentence that says what they are.

    Without `columns`: the embeddings where one column holds lists of numbers, else every number, truth value and
    category. Columns that cannot be features are left out, and an error where they were asked for.
    """
    if columns is None:
        columns, left_out = _usable(frame, file)
    else:
        left_out = []
        _refuse_unusable(frame, file, columns)
    numbers = [name for name in columns if _is_number(frame[name])]
    categories = [name for name in columns if frame[name].dtype == pl.String]
    vectors = [name for name in columns if _is_vector(frame[name])]
    blocks, said = [], []
    if numbers:
        blocks.append(_numbers(frame.select(numbers), file))
        said.append(f"{len(numbers):,} numeric column{'s' if len(numbers) > 1 else ''}")
    if categories:
        encoded = [_one_hot(frame[name], file) for name in categories]
        blocks += encoded
        widths = [f"{name}: {block.shape[1]} values" for name, block in zip(categories, encoded, strict=True)]
        said.append(f"{len(categories)} one-hot encoded ({_shortened(widths, 4)})")
    for name in vectors:
        blocks.append(_vectors(frame[name], file))
        said.append(f"the embeddings in column {name!r} ({blocks[-1].shape[1]} numbers a row)")
    X = blocks[0] if len(blocks) == 1 else np.hstack(blocks)
    return X, " + ".join(said) + (f"; left out: {_shortened(left_out, 8)}" if left_out else "")


def is_long_text(column: pl.Series, file: str) -> bool:
    """Whether a column is something to read: text of too many different values, or too long, to be a category."""
    if column.dtype != pl.String or column.null_count() == len(column):
        return False
    _refuse_almost_numbers(column, file)
    length = column.str.len_chars().mean()
    return column.n_unique() > MAX_CATEGORIES or (isinstance(length, float) and length >= LONG_TEXT)


def column_texts(column: pl.Series, file: str) -> list[str]:
    """The texts in a column; each row must have one."""
    if column.dtype != pl.String:
        raise UserError(f"{file}: column {column.name!r} holds {column.dtype}, not text")
    blank = column.fill_null("").str.strip_chars() == ""
    if blank.any():
        raise UserError(f"{file}: row {first_row(blank)}, column {column.name!r} has no text: drop such rows")
    return column.to_list()


def require_columns(frame: pl.DataFrame, file: str, names: Sequence[str]) -> None:
    """Raise the error that names the first column which is not there, and those that are."""
    for name in names:
        if name not in frame.columns:
            raise UserError(f"{file} has no column {name!r}: it has {_shortened(frame.columns, 20)}")


def _usable(frame: pl.DataFrame, file: str) -> tuple[list[str], list[str]]:
    """Columns to use when none were chosen, and those left out with the reason."""
    vectors = [column.name for column in frame if _is_vector(column)]
    if len(vectors) > 1:
        raise UserError(f"{file} has several columns of embeddings ({', '.join(vectors)}): choose columns")
    if vectors:
        return vectors, [name for name in frame.columns if name not in vectors]
    reasons = {column.name: _against(column, file) for column in frame}
    for name in ROW_NUMBERS:
        if name in frame.columns and frame[name].equals(pl.Series(range(len(frame)))):
            reasons[name] = "row numbers"
    usable = [name for name, reason in reasons.items() if reason is None]
    left_out = [f"{name or 'unnamed'} ({reason})" for name, reason in reasons.items() if reason is not None]
    if not usable:
        held = _shortened(left_out, 8) or "only ids"
        text = [column.name for column in frame if column.dtype == pl.String]
        remedy = f"; if {text[0]!r} is text to read, name it as the text column" if text else ""
        raise UserError(f"{file} has no column of numbers or of few-valued text, but {held}{remedy}")
    return usable, left_out


def _refuse_unusable(frame: pl.DataFrame, file: str, columns: Sequence[str]) -> None:
    if not columns or len(set(columns)) < len(columns):
        raise UserError(f"columns must name one or more different columns of {file}, got {list(columns)}")
    for name in columns:
        reason = _against(frame[name], file)
        if reason is not None:
            remedy = "name it as the text column, group its values" if "texts" in reason else "turn it into numbers"
            raise UserError(f"{file}: column {name!r} cannot be a feature ({reason}): {remedy}, or leave it out")


def _against(column: pl.Series, file: str) -> str | None:
    """Why a column cannot be a feature; None where it can."""
    if column.null_count() == len(column):
        return "empty"
    if _is_number(column) or _is_vector(column):
        return None
    if column.dtype.is_temporal():
        return "dates or times"
    if column.dtype != pl.String:
        return "neither numbers nor text"
    _refuse_almost_numbers(column, file)
    different = column.n_unique()
    return f"{different:,} different texts" if different > MAX_CATEGORIES else None


def _is_number(column: pl.Series) -> bool:
    return column.dtype.is_numeric() or column.dtype == pl.Boolean


def _is_vector(column: pl.Series) -> bool:
    return isinstance(column.dtype, pl.List) and column.dtype.inner.is_numeric()


def _refuse_almost_numbers(column: pl.Series, file: str) -> None:
    """One NA or one slip of the pen turns a column of numbers into text: say so rather than leave it out."""
    written = column.drop_nulls()
    numeric = written.cast(pl.Float64, strict=False).is_finite().fill_null(False)
    others = written.filter(~numeric)
    if len(others) and numeric.any() and (numeric.mean() >= 0.9 or others.is_in(MISSING).all()):  # type: ignore[operator]
        row = first_row(column == others[0])
        raise UserError(f"{file}: column {column.name!r} holds numbers, but row {row} has {others[0]!r}: {_REMEDY}")


_REMEDY = "fill in such cells, drop their rows, or leave the column out"


def _refuse_missing(column: pl.Series, file: str) -> None:
    place = f"{file}: row {{}}, column {column.name!r}"
    if column.null_count():
        raise UserError(f"{place.format(first_row(column.is_null()))} is empty: {_REMEDY}")
    if column.dtype.is_float() and not column.is_finite().all():
        row = first_row(~column.is_finite())
        raise UserError(f"{place.format(row)} is {'NaN' if column[row] != column[row] else 'infinite'}: {_REMEDY}")


def _numbers(frame: pl.DataFrame, file: str) -> Array:
    for column in frame:
        _refuse_missing(column, file)
    if all(dtype in HELD_BY_FLOAT32 for dtype in frame.dtypes):
        return np.ascontiguousarray(frame.cast(pl.Float32).to_numpy())
    return _halved(np.ascontiguousarray(frame.cast(pl.Float64).to_numpy()))


def _one_hot(column: pl.Series, file: str) -> Array:
    _refuse_missing(column, file)
    return np.column_stack([(column == value).to_numpy() for value in column.unique().sort()]).astype(np.float32)


def _vectors(column: pl.Series, file: str) -> Array:
    """A column of lists as a matrix; every list must be as long as the first."""
    _refuse_missing(column, file)
    lengths = column.list.len()
    width = int(lengths[0])
    if width == 0:
        raise UserError(f"{file}: row 0, column {column.name!r} is an empty list: {_REMEDY}")
    if (lengths != width).any():
        row = first_row(lengths != width)
        raise UserError(
            f"{file}: row {row}, column {column.name!r} has {lengths[row]} numbers, but row 0 has {width}: "
            "embeddings must be of one length"
        )
    numbers = column.explode().cast(pl.Float32 if column.dtype.inner in HELD_BY_FLOAT32 else pl.Float64)  # type: ignore[attr-defined]
    X = numbers.to_numpy().reshape(len(column), width)  # nulls are NaN by now
    if not np.isfinite(X).all():
        row = int((~np.isfinite(X)).any(axis=1).argmax())
        raise UserError(f"{file}: row {row}, column {column.name!r} holds a missing or infinite number: {_REMEDY}")
    return X if X.dtype == np.float32 else _halved(X)


def _halved(X: Array) -> Array:
    """X in float32 unless that would move a number by more than 1/10,000 of its column's standard deviation.

    Measurements survive, and half the memory is enough. Time stamps and other large numbers that differ little do not.
    """
    with np.errstate(over="ignore"):
        small = X.astype(np.float32)
        for column, rounded in zip(X.T, small.T, strict=True):
            error = np.abs(column - rounded).max()
            constant = column.min() == column.max()
            if not np.isfinite(error) or (error > 1e-4 * column.std() and not constant):
                return X
    return small


def _shortened(names: Sequence[str], n: int) -> str:
    return ", ".join(names[:n]) + (", …" if len(names) > n else "")
