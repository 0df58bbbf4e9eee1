"""The values of features as an array: numbers as they are, categories one-hot encoded, lists as embeddings."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError
from ..runtime.threads import spans
from .schema import REMEDY, USUAL_ID, Feature, Schema, choose
from .source import Source
from .tables import Table, first_row, read_frames
from .targets import is_column

Array = npt.NDArray[Any]
BLOCK = 1 << 22  # bytes of rows that are compared together
LOST = 1e-4  # how far float32 may move a number, as a share of its column's standard deviation


def read_features(
    files: Sequence[Path], name: str, columns: Sequence[str] | None = None, without: Sequence[str] = (),
    id_column: str | None = None, text_column: str | None = None, target: str | None = None,
) -> Source:  # fmt: skip
    """A table in memory: the features of its rows, or their texts, their ids, and the values of the target column."""
    id_name, labels = id_column or USUAL_ID, None
    frame = read_frames(files, [id_name, *([] if text_column is None else [text_column])])
    if frame.is_empty():
        raise UserError(f"{name} has no rows")
    if target is not None and is_column(target, frame.columns, name):
        labels, without = frame[target].to_list(), [*without, target]
    if id_name in frame.columns:
        frame = frame.with_columns(_numbers(frame[id_name]))
    schema = choose(Table(name, [frame.lazy()]), columns, without, id_column, text_column)
    ids = None if schema.id_column is None else frame[schema.id_column].to_list()
    if schema.text_column is not None:
        texts = _texts(frame[schema.text_column], name)
        return Source(texts, "texts", schema.description, [*files], ids, schema.id_column, target=labels)
    X = feature_array(frame, schema, name)
    if X.dtype == np.float64 and fits_float32(X):
        with np.errstate(under="ignore"):
            X = X.astype(np.float32)
    return Source(X, "table", schema.description, [*files], ids, schema.id_column, target=labels)


def feature_array(frame: pl.DataFrame, schema: Schema, name: str, start: int = 0, refuse: bool = True) -> Array:
    """The features of a frame's rows, (rows, schema.width), in the schema's type.

    name : what errors call the table or its file
    start : the number of the frame's first row there
    refuse : whether missing and infinite numbers are errors; else they are kept, the missing ones as NaN
    """
    X = np.empty((len(frame), schema.width), schema.dtype)
    kind = pl.Float32 if X.dtype == np.float32 else pl.Float64
    place = f"{name}: row {{}}, column {{!r}}"
    if refuse:
        for feature in schema.features:
            _refuse_missing(frame[feature.name], place, start)
    numbers = [feature.name for feature in schema.features if feature.kind == "number"]
    if numbers:
        X[:, : len(numbers)] = frame.select(pl.col(numbers).cast(kind)).to_numpy()
    at = len(numbers)
    for feature in schema.features[at:]:
        out, column = X[:, at : at + feature.width], frame[feature.name]
        at += feature.width
        if feature.kind == "category":
            for i, value in enumerate(feature.values):
                out[:, i] = (column == value).to_numpy()
        else:
            out[:] = _embeddings(column, feature, kind, place, start)
            if refuse and not np.isfinite(out).all():
                row = start + int((~np.isfinite(out)).any(axis=1).argmax())
                raise UserError(f"{place.format(row, column.name)} holds a missing or infinite number: {REMEDY}")
    return X


def fits_float32(X: Array, between: Callable[[], None] = lambda: None) -> bool:
    """Whether float32 moves no number by more than 1/10,000 of its column's standard deviation.

    Measurements pass, and then take half the memory. Time stamps and other large numbers that differ little do not.

    between : called after each block of rows
    """
    columns = X.shape[1]
    shift = X[0].astype(np.float64)  # keeps the squares small where the mean is far from zero
    error, total, square = (np.zeros(columns) for _ in range(3))
    varies = np.zeros(columns, bool)
    with np.errstate(over="ignore", invalid="ignore"):
        for lo, hi in spans(len(X), max(1, BLOCK // X[:1].nbytes)):
            block = X[lo:hi]
            np.maximum(error, np.abs(block - block.astype(np.float32)).max(axis=0), out=error)
            moved = block - shift
            varies |= (moved != 0).any(axis=0)
            total += moved.sum(axis=0)
            square += np.square(moved).sum(axis=0)
            between()
        deviation = np.sqrt(np.maximum(square / len(X) - (total / len(X)) ** 2, 0))
    return bool((np.isfinite(error) & ((error <= LOST * deviation) | ~varies)).all())


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


def _refuse_missing(column: pl.Series, place: str, start: int) -> None:
    if column.null_count():
        row = start + first_row(column.is_null())
        raise UserError(f"{place.format(row, column.name)} is empty: {REMEDY}")
    if column.dtype.is_float() and not column.is_finite().all():
        at = first_row(~column.is_finite())
        wrong = "NaN" if column[at] != column[at] else "infinite"
        raise UserError(f"{place.format(start + at, column.name)} is {wrong}: {REMEDY}")


def _embeddings(column: pl.Series, feature: Feature, kind: type[pl.DataType], place: str, start: int) -> Array:
    """A column of lists as a matrix; every list must have the width of the feature."""
    lengths = column.list.len().fill_null(0)
    unequal = lengths != feature.width
    if unequal.any():
        row = first_row(unequal)
        here, wrong = place.format(start + row, column.name), f"has {lengths[row]} numbers"
        raise UserError(f"{here} {wrong}, but the first has {feature.width}: embeddings must be of one length")
    return column.explode().cast(kind).to_numpy().reshape(len(column), feature.width)
