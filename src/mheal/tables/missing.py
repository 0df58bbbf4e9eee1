"""Missing values of a table: filled in, or their rows dropped, or refused; always said, with columns and counts."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError
from .features import feature_array
from .schema import Schema
from .table import Table, first_row, shortened

Missing = Literal["impute", "drop", "refuse"]
OFTEN = 0.05  # a column with a larger share of missing values gets an indicator column
SHOWN = 20  # columns that a message lists


class Features(NamedTuple):
    """Features of the rows that are kept.

    X : (rows, columns), without missing values
    kept : which rows of the table they are; None: all
    notes : what was done about missing values, a line each
    """

    X: npt.NDArray[Any]
    kept: npt.NDArray[np.int64] | None = None
    notes: Sequence[str] = ()


def features(table: Table, schema: Schema, missing: Missing = "impute") -> Features:
    """The features of a table in memory.

    missing : "impute": the median of a column of numbers, the most frequent value of a category, and an indicator
        column where over 5 % are missing; "drop": leave out the rows; "refuse": an error that names them
    """
    if missing not in get_args(Missing):
        raise UserError(f"missing must be one of {', '.join(get_args(Missing))}, got {missing!r}")
    whole = table.frame.select(schema.names).with_columns(pl.selectors.float().fill_nan(None))
    empty = whole.select(pl.all_horizontal(pl.all().is_null())).to_series()
    if not empty.any():
        return _filled(whole, table, schema, missing)
    rows = empty.not_().arg_true().to_numpy().astype(np.int64)
    found = _filled(whole.filter(~empty), table, schema, missing)
    s, listed = "s" * (empty.sum() > 1), shortened([str(row) for row in empty.arg_true()], SHOWN)
    note = f"{empty.sum():,} empty row{s} left out: {listed}"
    return Features(found.X, rows if found.kept is None else rows[found.kept], [note, *found.notes])


def _filled(frame: pl.DataFrame, table: Table, schema: Schema, missing: Missing) -> Features:
    """The same for rows that are not empty."""
    absent = {column.name: column.null_count() for column in frame if column.null_count()}
    if not absent:
        return Features(feature_array(frame, schema, table.name))
    counts = _counts(absent, table)
    if missing == "refuse":
        name = next(iter(absent))
        raise UserError(
            f"{table.name}: row {first_row(frame[name].is_null())}, column {name!r} is empty, and missing values are "
            f"refused ({counts}): fill them in, drop the rows, or leave the columns out"
        )
    lists = [f.name for f in schema.features if f.kind == "embedding" and f.name in absent]
    if missing == "drop":
        kept = frame.select(pl.all_horizontal(pl.all().is_not_null())).to_series().arg_true().to_numpy()
        if not len(kept):
            raise UserError(f"{table.name}: every row has a missing value ({counts}): fill them in instead")
        X = feature_array(frame[kept.tolist()], schema, table.name)
        left = len(frame) - len(kept)
        return Features(X, kept.astype(np.int64), [f"{left:,} rows with missing values are left out ({counts})"])
    if lists:
        raise UserError(
            f"{table.name}: row {first_row(frame[lists[0]].is_null())}, column {lists[0]!r} is empty, and an embedding "
            "cannot be filled in: drop such rows (--missing drop)"
        )
    often = [name for name in absent if absent[name] > OFTEN * len(frame)]
    indicators = [frame[name].is_null().to_numpy() for name in often]
    filled = frame.with_columns(_fill(frame[name]) for name in absent)
    X = feature_array(filled, schema, table.name)
    X = np.column_stack([X, *indicators]).astype(X.dtype) if indicators else X
    added = f", and an indicator column for {shortened(often, SHOWN)}" if often else ""
    note = f"missing values filled in with the median or the most frequent value ({counts}){added}"
    return Features(X, None, [note])


def _counts(absent: Mapping[str, int], table: Table) -> str:
    words = {name: ", ".join(map(repr, others[:3])) for name, others in table.not_numbers.items()}
    shown = [f"{n}: {k:,}" + (f", with {words[n]}" if n in words else "") for n, k in absent.items()]
    return shortened(shown, SHOWN)


def _fill(column: pl.Series) -> pl.Series:
    """Numbers get the median, categories the most frequent value, the first of equally frequent ones."""
    if column.dtype == pl.String:
        return column.fill_null(column.drop_nulls().mode().sort()[0])
    return column.cast(pl.Float64).fill_null(column.median())
