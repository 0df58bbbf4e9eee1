"""The schema of a table in memory or on disk: which columns are features, of which kind, and which holds the ids.

It is decided by the names and types of the columns, and by their values where these are not enough.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import polars as pl

from ..exceptions import UserError, how_many, shortened
from .names import IDS, INDEXES, NUMBERED, RARE, TOPICS, code, is_answer, is_id, plain
from .table import Table, first_row, kind_of, refuse_unlike

MAX_CATEGORIES = 20  # text columns with more different values are not one-hot encoded
LONG_TEXT = 20  # mean number of characters from which a column holds texts rather than categories
KINDS = ("number", "category", "embedding")
LISTED = 10  # at most this many columns are listed in a description
HELD_BY_FLOAT32 = (pl.Float32, pl.Int8, pl.Int16, pl.UInt8, pl.UInt16, pl.Boolean)


@dataclass(frozen=True)
class Feature:
    """A column used as a feature. It becomes `width` columns of X: for a category, one for each of its `values`."""

    name: str
    kind: Literal["number", "category", "embedding"]
    width: int = 1
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schema:
    """What the columns of a table are used for.

    features : numbers first, then categories, then embeddings; none if `text_column` is read as texts
    left_out : columns that are not used, each with its reason
    answers : columns that hold labels; they are not shown to annotators
    dtype : the type that holds the numbers of all features
    written : numeric features that were stored as text, and in which form
    """

    features: tuple[Feature, ...] = ()
    id_column: str | None = None
    text_column: str | None = None
    left_out: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()
    dtype: type[np.floating[Any]] = np.float32
    written: Mapping[str, str] = field(default_factory=dict)

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
        """What the columns of X are, and which are not used. Numbers that were stored as text are listed first."""
        parts = [] if self.text_column is None else [f"column {self.text_column!r}"]
        kinds = {kind: [feature for feature in self.features if feature.kind == kind] for kind in KINDS}
        if numbers := [f.name for f in kinds["number"]]:
            if len(numbers) > LISTED:
                numbers.sort(key=lambda name: name not in self.written)
            hows = [f"{name} [{self.written[name]}]" if name in self.written else name for name in numbers]
            parts.append(f"{how_many(len(numbers), 'numeric column')} ({shortened(hows, LISTED)})")
        if categories := [f"{f.name}: {how_many(f.width, 'value')}" for f in kinds["category"]]:
            parts.append(f"{len(categories)} one-hot encoded ({shortened(categories, LISTED)})")
        parts += [f"the embeddings in column {f.name!r} ({f.width} numbers a row)" for f in kinds["embedding"]]
        reasons = [f"{name or 'unnamed'} ({reason})" for name, reason in self.left_out.items()]
        ids = [] if self.id_column is None else [f"; ids: {self.id_column or 'unnamed'}"]
        return "".join([" + ".join(parts), *ids, f"; left out: {shortened(reasons, LISTED)}" if reasons else ""])


def choose(
    table: Table, columns: Sequence[str] | None = None, without: Collection[str] = (), also: Collection[str] = (),
    id_column: str | None = None, text_column: str | None = None, answers: Collection[str] = (),
) -> Schema:  # fmt: skip
    """The schema of a table. `read_pool` describes the parameters; `answers` are columns of labels, of any name.

    Text columns become categories only in tables in memory, whose values can be counted.
    """
    if text_column is not None and columns is not None:
        raise UserError(f"{table.name}: give either the text column or the columns that are features, not both")
    chosen = [text_column] if text_column is not None else [*(columns or ()), *also]
    kept_out = [*([id_column] if id_column is not None else []), *without]
    for name in chosen:
        if name in kept_out:
            raise UserError(f"{table.name}: column {name!r} is kept out of the features and also chosen: name it once")
    for name in (*kept_out, *chosen):
        if name not in table.types:
            raise UserError(f"{table.name} has no column {name!r}: it has {shortened([*table.types])}")
    named = [n for n in table.types if n not in (*chosen, *answers, id_column) and is_answer(n) and not _axis(table, n)]
    labels = tuple(name for name in table.types if name in named or (name in answers and name not in chosen))
    id_column = _id_column(table, id_column, {*chosen, *without, *labels})
    others = [name for name in table.types if name != id_column and name not in without]
    like = {name: f"named like labels; --with {name} uses it" for name in named}
    left_out = {name: like.get(name, "holds labels") for name in labels if name in others}
    readable = [name for name in others if name not in labels]
    names = [*dict.fromkeys(chosen)]

    if columns is not None:
        if not columns or len(set(columns)) < len(columns):
            raise UserError(f"columns must name one or more different columns of {table.name}, got {list(columns)}")
        _refuse_unusable(table, names)
        left_out = {}
    elif not chosen and len(readable) == 1 and _is_text(table, readable[0], alone=True):
        text_column = readable[0]
    elif text_column is None:
        names, reasons = _usable(table, readable, names)
        left_out |= reasons
        texts = [] if chosen else [n for n, why in reasons.items() if "texts" in why and _is_text(table, n)]
        # Next to texts, columns such as a topic or a rating are not used as features: they separate few rows.
        coarse = not names or bool(texts and 2 * table.frame.select(names).n_unique() <= len(table.frame))
        if coarse and len(texts) == 1:
            text_column = texts[0]
        elif coarse:
            held = shortened([f"{name or 'unnamed'} ({reason})" for name, reason in left_out.items()], 8)
            held = held or ("only ids" if id_column is not None else "all are left out")
            texts = texts or [name for name, reason in left_out.items() if "texts" in reason]
            remedy = f"; if {texts[0]!r} is text to read, name it as the text column (--text)" if texts else ""
            wrong = f"{table.name} has no column that separates its rows, but {held}"
            raise UserError(f"{wrong}: choose columns (--columns, --with){remedy}")
    if text_column is not None:
        left_out.pop(text_column, None)
        topics = [name for name in readable if plain(name) in TOPICS and name not in (text_column, *also)]
        left_out |= {name: f"named like labels; --text {text_column} --with {name} shows it" for name in topics}
        left_out |= {name: "not the text" for name in readable if name != text_column and name not in left_out}
        labels += tuple(topics)
        return Schema((), id_column, text_column, left_out, labels)
    if table.files:
        refuse_unlike(table.files, table.schemas, names)
    features = sorted((_feature(table, name) for name in names), key=lambda feature: KINDS.index(feature.kind))
    written = {name: found.written for name, found in table.converted.items() if name in names and found.written}
    return Schema(tuple(features), id_column, None, left_out, labels, _dtype(table, names), written)


def _axis(table: Table, name: str) -> bool:
    """Whether a column y holds coordinates: fractions, beside a column x."""
    beside = name.lower() == "y" and {"x", "X"} & table.types.keys() and table.types[name].is_float()
    return bool(beside) and bool((table.head(name).drop_nulls() % 1 != 0).any())


def _id_column(table: Table, named: str | None, others: Collection[str]) -> str | None:
    """The column of ids: named `id`, or similar and with values that hardly repeat. Refuses repeated ids."""
    if named is None:
        likely = [name for name in table.types if name not in others and name.lower() in ("id", "uuid")]
        if likely or not table.in_memory:
            named = likely[0] if likely else None
        else:
            unnamed = [name for name in list(table.types)[:1] if name in INDEXES]
            likely = [n for n, kind in table.types.items() if kind == pl.String or NUMBERED.search(plain(n))]
            uuids = [name for name in likely if code(name, table.head(name)) == IDS]
            alike = [name for name in (*filter(is_id, table.types), *unnamed, *uuids) if name not in others]
            named = next((name for share in (1, RARE) for name in alike if _names_rows(table, name, share)), None)
    if named is None or not table.in_memory:
        return named
    values = table.frame[named]
    remedy = "or leave the column out (--without), or name another one (--id)"
    if values.dtype.is_nested():
        raise UserError(f"{table.name}: column {named!r} holds lists or groups of values, not ids: change it, {remedy}")
    if values.null_count():
        row = first_row(values.is_null())
        raise UserError(f"{table.name}: row {row} has no id in column {named!r}: fill it in, {remedy}")
    repeated = values.is_duplicated()
    if repeated.any():
        value = values[first_row(repeated)]
        one, other = (values == value).arg_true()[:2]
        wrong = f"rows {one} and {other} have the same id {value!r} in column {named!r}"
        raise UserError(f"{table.name}: {wrong}: make ids unique, {remedy}")
    return named


def _names_rows(table: Table, name: str, share: float) -> bool:
    """Whether a column holds text or whole numbers, and at least this share of its values are different."""
    values, kind = table.frame[name], kind_of(table.types[name])
    names = kind == "text" or (kind == "numbers" and bool((values.cast(pl.Float64) % 1 == 0).all()))
    return names and values.drop_nulls().n_unique() >= share * len(values)


def _usable(table: Table, names: Sequence[str], also: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """The default features, with those in `also`, and the reason why each other column is left out."""
    embeddings = [name for name in names if kind_of(table.types[name]) == "embeddings"]
    if len(embeddings) > 1:
        raise UserError(f"{table.name} has several columns of embeddings ({', '.join(embeddings)}): choose columns")
    if embeddings:
        usable = [*dict.fromkeys([*embeddings, *also])]
        return usable, {name: "not the embeddings" for name in names if name not in usable}
    _refuse_unusable(table, also)
    left_out = {name: reason for name in names if name not in also and (reason := _why_left_out(table, name))}
    return [name for name in names if name not in left_out], left_out


def _refuse_unusable(table: Table, names: Sequence[str]) -> None:
    for name in names:
        if reason := _why_unusable(table, name):
            text = "name it as the text column (--text), group its values"
            remedy = text if "texts" in reason else "turn it into numbers"
            raise UserError(f"{table.name}: column {name!r} cannot be a feature ({reason}): {remedy}, or leave it out")


def _why_left_out(table: Table, name: str) -> str | None:
    """Why a column is not a feature by default; None if it is."""
    kind = kind_of(table.types[name])
    if name in INDEXES and not table.in_memory:
        return "row numbers"
    if kind in ("numbers", "text") and is_id(name):
        return "an id"
    counted = kind == "text" and table.in_memory
    if (counted or kind == "numbers") and (reason := code(name, table.head(name))):
        return reason
    if counted and table.frame[name].drop_nulls().n_unique() == 1:
        return "one value"
    return _why_unusable(table, name)


def _why_unusable(table: Table, name: str) -> str | None:
    """Why a column cannot be a feature; None if it can."""
    kind = kind_of(table.types[name])
    if kind == "nothing" or (table.in_memory and table.frame[name].is_null().all()):
        return "empty"
    if kind != "text":
        return "neither numbers nor text" if kind == "other values" else None
    if not table.in_memory:
        wrong = f"column {name!r} holds text, which can be a feature only if the pool is read into memory"
        raise UserError(f"{table.name}: {wrong}: choose the columns that are features, or leave it out")
    different = table.frame[name].drop_nulls().n_unique()
    return f"{different:,} different texts" if different > MAX_CATEGORIES else None


def _is_text(table: Table, name: str, alone: bool = False) -> bool:
    """Whether a column holds texts: long ones or, in the only column, too many different ones for a category."""
    if not table.in_memory or kind_of(table.types[name]) != "text":
        return False
    values = table.frame[name].drop_nulls()
    sentences = values.str.len_chars().sum() >= LONG_TEXT * max(len(values), 1)
    return sentences or (alone and values.n_unique() > MAX_CATEGORIES)


def _feature(table: Table, name: str) -> Feature:
    kind = kind_of(table.types[name])
    if kind in ("numbers", "dates or times"):
        return Feature(name, "number")
    if kind == "text":
        values = tuple(table.frame[name].drop_nulls().unique().sort())
        return Feature(name, "category", len(values), values)
    width = table.list_length(name)
    if width == 0:
        raise UserError(f"{table.name}: column {name!r} begins with an empty list: fill it in, or drop the row")
    return Feature(name, "embedding", width)


def _dtype(table: Table, names: Sequence[str]) -> type[np.floating[Any]]:
    """The type that holds the numbers in these columns of every part."""
    types = [types[name] for types in table.schemas for name in names]
    numbers = [getattr(dtype, "inner", dtype) for dtype in types if kind_of(dtype) != "text"]
    return np.float32 if all(dtype in HELD_BY_FLOAT32 for dtype in numbers) else np.float64
