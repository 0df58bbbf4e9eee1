"""The features of a table as an array: categories one-hot encoded, lists as embeddings, missing values filled in.

Missing values can also be dropped with their rows, or refused. Notes say what was done, with columns and counts.
"""

import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import DataWarning, UserError, UserTypeError, how_many, shortened
from ..runtime.threads import spans
from .schema import Feature, Schema, choose
from .table import Table, as_polars, first_row
from .words import days

Array = npt.NDArray[Any]
Missing = Literal["impute", "drop", "refuse"]
OFTEN = 0.05  # a column with a larger share of missing values gets an indicator column
BLOCK = 1 << 22  # bytes of rows that are compared together
LOST = 1e-4  # largest rounding error of float32, as a share of the column's standard deviation
OPTIONS = re.compile(r" \(--[^)]*\)|; --with [^)]*")  # parts of messages that are for the command line only
REMEDY = "fill in such cells, drop their rows, or leave the column out"


class Features(NamedTuple):
    """Features X of the rows `kept` (None: all), without missing values; notes say how these were handled."""

    X: npt.NDArray[Any]
    kept: npt.NDArray[np.int64] | None = None
    notes: Sequence[str] = ()


def frame_features(frame: Any, missing: Missing = "impute", stacklevel: int = 2) -> Features:
    """The features of a frame. Warnings list columns left out, text read as numbers, and values filled in."""
    table = Table.of(as_polars(frame), "X")
    if not table.types or not len(frame):
        raise UserError(f"X is empty, shape {frame.shape}: it needs at least one row and one column")
    try:
        schema = choose(table)
        if schema.text_column is not None:
            wrong = f"X has no column that separates its rows but the texts in {schema.text_column!r}"
            raise UserTypeError(f"{wrong}: embed them first (mheal.embed), or group them into categories")
        made = features(table, schema, missing)
    except UserError as error:
        raise type(error)(OPTIONS.sub("", error.args[0])) from error
    for note in [*([schema.description] if schema.id_column or schema.left_out or schema.written else []), *made.notes]:
        warnings.warn(f"X: {OPTIONS.sub('', note)}", DataWarning, stacklevel=stacklevel)
    return made


def features(table: Table, schema: Schema, missing: Missing = "impute") -> Features:
    """The features of a table in memory.

    missing : "impute": fill in the median of a column of numbers and the most frequent value of a category, and add an
        indicator column if over 5 % are missing; "drop": leave out the rows; "refuse": raise an error that names one
    """
    if missing not in get_args(Missing):
        raise UserError(f"missing must be one of {', '.join(get_args(Missing))}, got {missing!r}")
    frame = table.frame.select(schema.names).with_columns(pl.selectors.float().fill_nan(None))
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    kept, n_empty, notes = ~empty, int(empty.sum()), []
    if n_empty:
        notes.append(f"{how_many(n_empty, 'empty row')} left out: {shortened(empty.arg_true())}")
    absent = {column.name: n for column in frame if (n := column.null_count() - n_empty)}
    others = {name: ", ".join(map(repr, found.others[:3])) for name, found in table.converted.items()}
    shown = [f"{name}: {n:,}" + (f", with {others[name]}" if others.get(name) else "") for name, n in absent.items()]
    counts, few = ", ".join(shown), shortened(shown, 5)
    if absent and missing == "drop":
        kept = frame.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        left = len(frame) - n_empty - int(kept.sum())
        if not kept.any():
            raise UserError(f"{table.name}: every row has a missing value ({few}): fill them in instead")
        notes.append(f"{how_many(left, 'row')} with missing values left out ({counts})")
        absent = {}

    lists = [f.name for f in schema.features if f.kind == "embedding" and f.name in absent]
    if refused := [*absent] if missing == "refuse" else lists:
        row = first_row(frame[refused[0]].is_null() & ~empty)
        why = "an embedding cannot be filled in: drop such rows (--missing drop)"
        if missing == "refuse":
            why = f"missing values are refused ({few}): fill them in, drop the rows, or leave the columns out"
        raise UserError(f"{table.name}: row {row}, column {refused[0]!r} is empty, and {why}")

    rows = None if kept.all() else np.flatnonzero(kept.to_numpy())
    frame = frame if rows is None else frame.filter(kept)
    often = [name for name, n in absent.items() if n > OFTEN * len(frame)]
    X = feature_array(frame.with_columns(_fill(frame[name]) for name in absent), schema, table.name)
    if often:
        X = np.column_stack([X, *(frame[name].is_null().to_numpy() for name in often)]).astype(X.dtype)
    if absent:
        added = f", and an indicator column for {shortened(often)}" if often else ""
        notes.append(f"missing values filled in with the median or the most frequent value ({counts}){added}")
    return Features(X, rows, notes)


def _fill(column: pl.Series) -> pl.Series:
    """Fill in the median of numbers, or the most frequent category (on a tie, the first in sorted order)."""
    if column.dtype == pl.String:
        return column.fill_null(column.drop_nulls().mode().sort()[0])
    return column.cast(pl.Float64).fill_null(column.median())


def feature_array(frame: pl.DataFrame, schema: Schema, name: str, start: int = 0, refuse: bool = True) -> Array:
    """The features of a frame's rows, (rows, schema.width), in the schema's type.

    name, start : for errors, the name of the table or file, and the number of the frame's first row in it
    refuse : raise an error for missing and infinite numbers; False: keep them, missing ones as NaN
    """
    X = np.empty((len(frame), schema.width), schema.dtype)
    kind = pl.Float32 if X.dtype == np.float32 else pl.Float64
    place = f"{name}: row {{}}, column {{!r}}"
    numbers = [feature.name for feature in schema.features if feature.kind == "number"]
    if numbers:
        frame = frame.with_columns(days(frame[name]) for name in numbers if frame[name].dtype.is_temporal())
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
    if refuse and (wrong := ~np.isfinite(X).all(axis=1)).any():
        row = int(wrong.argmax())
        at = int(np.isfinite(X[row]).argmin())
        name = [feature.name for feature in schema.features for _ in range(feature.width)][at]
        held = "is empty" if frame[name][row] is None else f"is {'NaN' if np.isnan(X[row, at]) else 'infinite'}"
        held = "holds a missing or infinite number" if frame[name].dtype.is_nested() else held
        raise UserError(f"{place.format(start + row, name)} {held}: {REMEDY}")
    return X


def fits_float32(X: Array, between: Callable[[], None] = lambda: None) -> bool:
    """Whether float32 changes no number by more than 1/10,000 of its column's standard deviation.

    Typical measurements pass; typical time stamps do not. `between` is called after each block of rows.
    """
    error, total, square, varies = (np.zeros(X.shape[1], kind) for kind in (float, float, float, bool))
    with np.errstate(over="ignore", invalid="ignore"):
        for lo, hi in spans(len(X), max(1, BLOCK // X[:1].nbytes)):
            np.maximum(error, np.abs(X[lo:hi] - X[lo:hi].astype(np.float32)).max(axis=0), out=error)
            moved = X[lo:hi] - X[0].astype(np.float64)  # keeps the squares small where the mean is far from zero
            varies |= (moved != 0).any(axis=0)
            total += moved.sum(axis=0)
            square += np.square(moved).sum(axis=0)
            between()
        deviation = np.sqrt(np.maximum(square / len(X) - (total / len(X)) ** 2, 0))
    return bool((np.isfinite(error) & ((error <= LOST * deviation) | ~varies)).all())


def _embeddings(column: pl.Series, feature: Feature, kind: type[pl.DataType], place: str, start: int) -> Array:
    """A column of lists as a matrix; every list must have the width of the feature."""
    lengths = column.list.len().fill_null(0)
    unequal = lengths != feature.width
    if unequal.any():
        row = first_row(unequal)
        wrong = f"has {lengths[row]} numbers, but the first has {feature.width}: embeddings must be of one length"
        wrong = f"is empty: {REMEDY}" if column[row] is None else wrong
        raise UserError(f"{place.format(start + row, column.name)} {wrong}")
    return column.explode().cast(kind).to_numpy().reshape(len(column), feature.width)
