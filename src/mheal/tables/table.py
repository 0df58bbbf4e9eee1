"""A table in memory or in files: the types of its columns, and their values where these are needed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, time
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from ..exceptions import UserError, UserTypeError
from ..runtime.files import reading
from .words import COMMAS, Converted, as_numbers, without_missing

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
Read = TypeVar("Read")

ENOUGH = 10  # labels; a column that equals at least this many labels is not equal by chance
HEAD = 10_000  # number of values that are examined to distinguish measurements from codes


@dataclass(frozen=True)
class Table:
    """Columns of a table, in memory or in files.

    name : the name of the table in errors
    parts, files : the rows: one part in memory, or one part for each file, whose values are read only where needed.
        Values in files are not counted, so ids may repeat and text columns are refused
    converted : columns of texts or dates that were read as numbers
    """

    name: str
    parts: Sequence[pl.LazyFrame]
    files: Sequence[str] = ()
    converted: Mapping[str, Converted] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str, as_text: Sequence[str | None] = ()) -> Self:
        """A table in memory. Dates and texts that hold numbers become numbers, except in the columns `as_text`."""
        frame = plain(frame)
        frame = frame.with_columns(without_missing(c) for c in frame if c.dtype == pl.String and c.name not in as_text)
        free = [c for c in frame if c.name not in as_text and (c.dtype == pl.String or c.dtype.is_temporal())]
        converted = {c.name: found for c in free if (found := as_numbers(c))}
        if any(COMMAS in found.written for found in converted.values()):
            converted |= {c.name: found for c in free if c.name in converted and (found := as_numbers(c, commas=True))}
        frame = frame.with_columns(found.values.alias(column) for column, found in converted.items())
        return cls(name, [frame.lazy()], converted=converted)

    @cached_property
    def schemas(self) -> list[Mapping[str, pl.DataType]]:
        """Names and types of the columns of each part."""
        return list(self._of_parts(pl.LazyFrame.collect_schema))

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Names and types of the columns of the first part."""
        return self.schemas[0]

    @property
    def in_memory(self) -> bool:
        """Whether values may be counted: distinct texts, repeated ids."""
        return not self.files

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows of a table in memory."""
        return self.parts[0].collect()

    def head(self, name: str) -> pl.Series:
        """The first values of a column, from as many parts as it takes."""
        found: list[pl.Series] = []
        for values in self._of_parts(lambda part: part.select(name).head(HEAD).collect().to_series()):
            found.append(values)
            if sum(map(len, found)) >= HEAD:
                break
        same = [values for values in found if values.dtype == found[0].dtype]  # parts of another type are refused later
        return pl.concat(same).head(HEAD)

    def list_length(self, name: str) -> int:
        """How many numbers the first list in a column has; 0 if all lists are missing."""
        firsts = self._of_parts(lambda part: part.select(pl.col(name).drop_nulls()).head(1).collect().to_series())
        return next((len(first[0]) for first in firsts if len(first)), 0)

    def _of_parts(self, read: Callable[[pl.LazyFrame], Read]) -> Iterator[Read]:
        """The result of `read` for each part. The error for a damaged file names it."""
        for at, part in enumerate(self.parts):
            with reading(self.files[at] if self.files else self.name):
                found = read(part)
            yield found


def plain(frame: Frame) -> Frame:
    """A frame with categories converted to text, and arrays to lists."""
    types = frame.collect_schema()
    texts = [name for name, dtype in types.items() if isinstance(dtype, pl.Categorical | pl.Enum)]
    lists = [pl.col(name).arr.to_list() for name, dtype in types.items() if isinstance(dtype, pl.Array)]
    return frame.with_columns(pl.col(texts).cast(pl.String), *lists)


def repeating(rows: pl.DataFrame, labels: Any) -> list[str]:
    """The columns whose values equal the labels in all of these rows, if there are enough labels."""
    given = [_word(value) for value in labels]
    if len(given) < ENOUGH or len(set(given)) < 2:
        return []
    return [column.name for column in rows if [_word(value) for value in column] == given]


def _word(value: Any) -> str:
    """A value as its label is written: 3.0 is the label 3, and " Cat" is "cat"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip().casefold()


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
        return pl.Series(name, values.astype(np.float64) if values.dtype == np.longdouble else values)
    if values.dtype.kind == "c":
        raise UserTypeError(f"X: column {name!r} holds complex numbers: give real and imaginary parts as two columns")
    if getattr(column.dtype, "tz", None) is not None:
        values = column.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
    if values.dtype.kind in "mM":
        return pl.Series(name, values.astype(f"{values.dtype.kind}8[us]"))
    absent: npt.NDArray[np.bool_] = column.isna().to_numpy()
    cells: list[Any] = [None if gone else value for gone, value in zip(absent, values, strict=True)]
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
        with suppress(TypeError, ValueError):  # otherwise words and dates, or dates and times of day, are mixed
            if isinstance(present[0], time):
                return pl.Series(name, cells, pl.Time)
            moments = [m.astimezone(UTC).replace(tzinfo=None) if getattr(m, "tzinfo", None) else m for m in cells]
            return pl.Series(name, np.array(moments, "datetime64[us]"))
    return pl.Series(name, [None if cell is None else str(cell) for cell in cells])


def kind_of(dtype: pl.DataType) -> str:
    """What a column of this type holds, in words."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "numbers"
    if dtype.is_temporal():
        return "dates or times"
    if dtype == pl.String:
        return "text"
    if dtype == pl.Null:
        return "nothing"
    return "embeddings" if isinstance(dtype, pl.List) and dtype.inner.is_numeric() else "other values"


def first_row(mask: pl.Series) -> int:
    """The first row where the mask is true."""
    return int(mask.arg_true()[0])


def refuse_unlike(
    files: Sequence[str], schemas: Sequence[Mapping[str, pl.DataType]], names: Sequence[str], whole: bool = False
) -> None:
    """Raise an error that names the first file whose columns are missing or of another kind than in the first file.

    whole : `names` are all columns of the first file: refuse further columns, but let empty columns match any kind
    """
    for file, types in zip(files, schemas, strict=True):
        for name in names:
            if name not in types:
                raise UserError(f"{file} has no column {name!r}, which {files[0]} has")
            one, other = kind_of(schemas[0][name]), kind_of(types[name])
            if one != other and not (whole and "nothing" in (one, other)):
                raise UserError(f"column {name!r} holds {other} in {file}, but {one} in {files[0]}")
        for name in types if whole else ():
            if name not in schemas[0]:
                raise UserError(f"{file} has a column {name!r}, which {files[0]} does not have")
