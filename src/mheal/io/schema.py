"""The schema of a table: which columns are features, of what kind, and which column names the rows.

There is one rule for tables in memory, Parquet shards that are streamed, and shards on a Dask cluster: they differ only
in how their values are read. The schema depends on names and types of columns; values are read where types do not tell.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from ..exceptions import UserError
from .tables import SHOWN, Table, first_row, kind_of, refuse_unlike, shortened

MAX_CATEGORIES = 20  # a text column with more different values is not one-hot encoded
LONG_TEXT = 20  # characters, on average, from which a column is text to read rather than a category
ROW_NUMBERS = ("", "Unnamed: 0", "__index_level_0__")  # names under which pandas writes its index
USUAL_ID = "id"  # the column that names rows where the user names none
MISSING = ["", "NA", "N/A", "n/a", "na", "null", "NULL", "None", "nan", "NaN", "?", "-"]
KINDS = ("number", "category", "embedding")
HELD_BY_FLOAT32 = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)
REMEDY = "fill in such cells, drop their rows, or leave the column out"


@dataclass(frozen=True)
class Feature:
    """A column that is a feature, and how many columns of X it becomes: a category one for each of its `values`."""

    name: str
    kind: Literal["number", "category", "embedding"]
    width: int = 1
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are used for.

    features : numbers first, then categories, then embeddings
    id_column : the column that names the rows
    text_column : the column to read as texts, which then are all there is
    left_out : columns that are not used, with the reason
    dtype : the type that holds the numbers of all features
    """

    features: tuple[Feature, ...] = ()
    id_column: str | None = None
    text_column: str | None = None
    left_out: Sequence[str] = ()
    dtype: type[np.floating[Any]] = np.float32

    @property
    def names(self) -> list[str]:
        """Names of the features' columns."""
        return [feature.name for feature in self.features]

    @property
    def width(self) -> int:
        """Columns of X."""
        return sum(feature.width for feature in self.features)

    @property
    def description(self) -> str:
        """What the columns of X are, in a line."""
        if self.text_column is not None:
            return f"column {self.text_column!r}"
        kinds = {kind: [f for f in self.features if f.kind == kind] for kind in KINDS}
        parts = []
        if numbers := kinds["number"]:
            parts.append(f"{len(numbers):,} numeric column{'s' if len(numbers) > 1 else ''}")
        if categories := kinds["category"]:
            widths = [f"{f.name}: {f.width} values" for f in categories]
            parts.append(f"{len(categories)} one-hot encoded ({shortened(widths, 4)})")
        parts += [f"the embeddings in column {f.name!r} ({f.width} numbers a row)" for f in kinds["embedding"]]
        return " + ".join(parts) + (f"; left out: {shortened(self.left_out, 8)}" if self.left_out else "")


def choose(
    table: Table, columns: Sequence[str] | None = None, without: Collection[str] = (), id_column: str | None = None,
    text_column: str | None = None,
) -> Schema:  # fmt: skip
    """The schema of a table.

    columns : the features; by default the embeddings if one column holds lists of numbers, else every number, truth
        value and, in memory, every text column of at most 20 different values
    without : columns that are no features
    id_column : the column that names the rows; by default `id`, if it names each row differently
    text_column : the column to read as texts; by default the only one, if that is long text
    """
    if text_column is not None and columns is not None:
        raise UserError(f"{table.name}: give either the text column or the columns that are features, not both")
    chosen = [text_column] if text_column is not None else list(columns or ())
    kept_out = [*without] if id_column is None else [id_column, *without]
    for name in chosen:
        if name in kept_out:
            raise UserError(f"{table.name}: column {name!r} is kept out of the features, so it cannot be one")
    for name in (*kept_out, *chosen):
        if name not in table.types:
            raise UserError(f"{table.name} has no column {name!r}: it has {shortened([*table.types], SHOWN)}")
    id_column = _id_column(table, id_column, {*chosen, *without})
    others = [name for name in table.types if name != id_column and name not in without]
    if columns is None and text_column is None and len(others) == 1 and _is_long_text(table, others[0]):
        text_column = others[0]
    if text_column is not None:
        return Schema(id_column=id_column, text_column=text_column)
    features, left_out = _usable(table, others) if columns is None else (_chosen(table, columns), [])
    features.sort(key=lambda feature: KINDS.index(feature.kind))
    types = [types[feature.name] for types in table.schemas for feature in features if feature.kind != "category"]
    exact = all(getattr(dtype, "inner", dtype) in HELD_BY_FLOAT32 for dtype in types)
    return Schema(tuple(features), id_column, None, left_out, np.float32 if exact else np.float64)


def _id_column(table: Table, named: str | None, others: Collection[str]) -> str | None:
    """The column that names the rows. By default `id`; in memory only if its values are all different."""
    if named is None and (USUAL_ID not in table.types or USUAL_ID in others):
        return None
    column = named or USUAL_ID
    if not table.in_memory:
        return column
    values = table.column(column)
    repeated = values.is_duplicated()
    if named is None:
        return None if values.null_count() or repeated.any() else column
    if values.null_count():
        raise UserError(f"{table.name}: row {first_row(values.is_null())} has no id in column {column!r}: fill it in")
    if repeated.any():
        value = values[first_row(repeated)]
        one, other = (values == value).arg_true()[:2]
        where = f"in column {column!r} is that of rows {one} and {other}"
        raise UserError(f"{table.name}: the id {value!r} {where}: ids must be unique")
    return column


def _usable(table: Table, names: Sequence[str]) -> tuple[list[Feature], list[str]]:
    """The features where none were chosen, and the columns that are left out, with the reason."""
    embeddings = [name for name in names if kind_of(table.types[name]) == "embeddings"]
    if len(embeddings) > 1:
        raise UserError(f"{table.name} has several columns of embeddings ({', '.join(embeddings)}): choose columns")
    if embeddings:
        return _chosen(table, embeddings), [name for name in names if name not in embeddings]
    found = {name: "row numbers" if _numbers_rows(table, name) else _feature(table, name) for name in names}
    usable = [feature for feature in found.values() if isinstance(feature, Feature)]
    left_out = [f"{name or 'unnamed'} ({reason})" for name, reason in found.items() if isinstance(reason, str)]
    if not usable:
        text = [name for name in names if kind_of(table.types[name]) == "text"]
        remedy = f"; if {text[0]!r} is text to read, name it as the text column" if text else ""
        held = shortened(left_out, 8) or "only ids"
        raise UserError(f"{table.name} has no column of numbers or of few-valued text, but {held}{remedy}")
    return usable, left_out


def _chosen(table: Table, names: Sequence[str]) -> list[Feature]:
    if not names or len(set(names)) < len(names):
        raise UserError(f"columns must name one or more different columns of {table.name}, got {list(names)}")
    features = []
    for name in names:
        feature = _feature(table, name)
        if isinstance(feature, str):
            remedy = "name it as the text column, group its values" if "texts" in feature else "turn it into numbers"
            raise UserError(f"{table.name}: column {name!r} cannot be a feature ({feature}): {remedy}, or leave it out")
        features.append(feature)
    return features


def _feature(table: Table, name: str) -> Feature | str:
    """The feature that a column is, or the reason why it cannot be one."""
    kind = kind_of(table.types[name])
    if kind == "nothing" or (table.in_memory and table.column(name).is_null().all()):
        return "empty"
    if kind in ("dates or times", "other values"):
        return kind if kind == "dates or times" else "neither numbers nor text"
    if kind == "text":
        if not table.in_memory:
            raise UserError(
                f"{table.name}: column {name!r} holds text, which is understood only of a pool that is read into "
                "memory: choose the columns that are features, or leave it out"
            )
        _refuse_almost_numbers(table.column(name), table.name)
        different = table.column(name).n_unique()
        if different > MAX_CATEGORIES:
            return f"{different:,} different texts"
        values = tuple(table.column(name).drop_nulls().unique().sort())
        return Feature(name, "category", len(values), values)
    if table.files:
        refuse_unlike(table.files, table.schemas, [name])
    if kind == "numbers":
        return Feature(name, "number")
    width = table.list_length(name)
    if width == 0:
        raise UserError(f"{table.name}: column {name!r} begins with an empty list: {REMEDY}")
    return Feature(name, "embedding", width)


def _numbers_rows(table: Table, name: str) -> bool:
    """Whether a column is pandas' index, which holds nothing but the number of the row."""
    start = 0
    for part in range(len(table.parts) if name in ROW_NUMBERS else 0):
        values = table.column(name, part)
        if not values.equals(pl.Series(range(start, start + len(values)))):
            return False
        start += len(values)
    return name in ROW_NUMBERS


def _is_long_text(table: Table, name: str) -> bool:
    """Whether a column is text to read: of too many different values, or too long, to be a category."""
    if not table.in_memory or kind_of(table.types[name]) != "text" or table.column(name).is_null().all():
        return False
    values = table.column(name)
    _refuse_almost_numbers(values, table.name)
    length = values.str.len_chars().mean()
    return values.n_unique() > MAX_CATEGORIES or (isinstance(length, float) and length >= LONG_TEXT)


def _refuse_almost_numbers(values: pl.Series, table: str) -> None:
    """One NA or one typing error turns a column of numbers into text: refused rather than left out."""
    written = values.drop_nulls()
    numeric = written.cast(pl.Float64, strict=False).is_finite().fill_null(False)
    others = written.filter(~numeric)
    if len(others) and numeric.any() and (numeric.mean() >= 0.9 or others.is_in(MISSING).all()):  # type: ignore[operator]
        row = first_row(values == others[0])
        raise UserError(f"{table}: column {values.name!r} holds numbers, but row {row} has {others[0]!r}: {REMEDY}")
