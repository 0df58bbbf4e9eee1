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
    frame = table.frame.select(schema.names).with_columns(pl.selectors.float().fill_nan(None))
    empty = frame.select(pl.all_horizontal(pl.all().is_null())).to_series()
    kept, n_empty, notes = ~empty, int(empty.sum()), []
    if n_empty:
        listed = shortened([str(row) for row in empty.arg_true()], SHOWN)
        notes.append(f"{n_empty:,} empty row{'s' * (n_empty > 1)} left out: {listed}")
    absent = {column.name: n for column in frame if (n := column.null_count() - n_empty)}
    counts = _counts(absent, table)
    if absent and missing == "drop":
        kept = frame.select(pl.all_horizontal(pl.all().is_not_null())).to_series()
        left = len(frame) - n_empty - int(kept.sum())
        if not kept.any():
            raise UserError(f"{table.name}: every row has a missing value ({counts}): fill them in instead")
        notes.append(f"{left:,} rows with missing values are left out ({counts})")
        absent = {}

    lists = [f.name for f in schema.features if f.kind == "embedding" and f.name in absent]
    if refused := [*absent] if missing == "refuse" else lists:
        row = first_row(frame[refused[0]].is_null() & ~empty)
        why = "an embedding cannot be filled in: drop such rows (--missing drop)"
        if missing == "refuse":
            why = f"missing values are refused ({counts}): fill them in, drop the rows, or leave the columns out"
        raise UserError(f"{table.name}: row {row}, column {refused[0]!r} is empty, and {why}")

    rows = None if kept.all() else np.flatnonzero(kept.to_numpy())
    frame = frame if rows is None else frame.filter(kept)
    often = [name for name, n in absent.items() if n > OFTEN * len(frame)]
    X = feature_array(frame.with_columns(_fill(frame[name]) for name in absent), schema, table.name)
    if often:
        X = np.column_stack([X, *(frame[name].is_null().to_numpy() for name in often)]).astype(X.dtype)
    if absent:
        added = f", and an indicator column for {shortened(often, SHOWN)}" if often else ""
        notes.append(f"missing values filled in with the median or the most frequent value ({counts}){added}")
    return Features(X, rows, notes)


def _counts(absent: Mapping[str, int], table: Table) -> str:
    words = {name: ", ".join(map(repr, others[:3])) for name, others in table.not_numbers.items()}
    shown = [f"{n}: {k:,}" + (f", with {words[n]}" if n in words else "") for n, k in absent.items()]
    return shortened(shown, SHOWN)


def _fill(column: pl.Series) -> pl.Series:
    """Numbers get the median, categories the most frequent value, the first of equally frequent ones."""
    if column.dtype == pl.String:
        return column.fill_null(column.drop_nulls().mode().sort()[0])
    return column.cast(pl.Float64).fill_null(column.median())
