"""The columns of a table, in memory or in files: their types, and their values where these are needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Self

import polars as pl

from ..exceptions import UserError
from .words import as_numbers, days, without_missing

SHOWN = 20  # names that an error lists


@dataclass(frozen=True)
class Table:
    """Columns of a table, in memory or in files.

    name : what errors call it
    parts : its rows, in order; files are read only where values are needed
    in_memory : whether values may be counted: distinct texts, repeated ids
    files : names of the parts, where these are files
    written : columns of text that hold numbers, and how these are written
    not_numbers : words in columns of numbers that are no numbers, and count as missing
    """

    name: str
    parts: Sequence[pl.LazyFrame]
    in_memory: bool = True
    files: Sequence[str] = ()
    written: Mapping[str, str] = field(default_factory=dict)
    not_numbers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, frame: pl.DataFrame, name: str, as_text: Sequence[str | None] = ()) -> Self:
        """A table in memory. Texts that hold numbers, and dates, become numbers, but not in columns `as_text`."""
        columns, written, not_numbers = [], {}, {}
        for column in frame:
            if isinstance(column.dtype, pl.Categorical | pl.Enum):
                column = column.cast(pl.String)
            if column.name not in as_text and column.dtype.is_temporal():
                column, written[column.name] = days(column).alias(column.name), "dates"
            elif column.name not in as_text and column.dtype == pl.String:
                column = without_missing(column)
                if (numbers := as_numbers(column)) is not None:
                    column = numbers.values.alias(column.name)
                    if numbers.written:
                        written[column.name] = numbers.written
                    if numbers.others:
                        not_numbers[column.name] = numbers.others
            columns.append(column)
        return cls(name, [frame.with_columns(columns).lazy()], written=written, not_numbers=not_numbers)

    @property
    def frame(self) -> pl.DataFrame:
        """All rows, in memory."""
        return pl.concat([part.collect() for part in self.parts])

    @cached_property
    def schemas(self) -> list[Mapping[str, pl.DataType]]:
        """Names and types of the columns of each part."""
        return [part.collect_schema() for part in self.parts]

    @property
    def types(self) -> Mapping[str, pl.DataType]:
        """Names and types of the columns of the first part."""
        return self.schemas[0]

    def column(self, name: str) -> Iterator[pl.Series]:
        """The values of a column, part by part."""
        for part in self.parts:
            yield part.select(name).collect().to_series()

    def list_length(self, name: str) -> int:
        """How many numbers the first list in a column has that is not missing; 0 if there is none."""
        for part in self.parts:
            first = part.select(pl.col(name).drop_nulls()).head(1).collect().to_series()
            if len(first):
                return len(first[0])
        return 0

    def require(self, names: Sequence[str]) -> None:
        """Raise the error that names the first column which is not there, and those that are."""
        for name in names:
            if name not in self.types:
                raise UserError(f"{self.name} has no column {name!r}: it has {shortened([*self.types], SHOWN)}")

    def refuse_unlike_parts(self, names: Sequence[str]) -> None:
        """Raise the error that names the first file whose columns hold other things than those of the first file."""
        for file, types in zip(self.files, self.schemas, strict=True) if self.files else ():
            for name in names:
                if name not in types:
                    raise UserError(f"{file} has no column {name!r}, which {self.files[0]} has")
                one, other = kind_of(self.types[name]), kind_of(types[name])
                if one != other and not (self.in_memory and "nothing" in (one, other)):
                    raise UserError(f"column {name!r} holds {other} in {file}, but {one} in {self.files[0]}")


def kind_of(dtype: pl.DataType) -> str:
    """What a column of this type holds, in a word."""
    if dtype.is_numeric() or dtype == pl.Boolean:
        return "numbers"
    if dtype.is_temporal():
        return "dates or times"
    if dtype == pl.String or isinstance(dtype, pl.Categorical | pl.Enum):
        return "text"
    if dtype == pl.Null:
        return "nothing"
    return "embeddings" if isinstance(dtype, pl.List | pl.Array) and dtype.inner.is_numeric() else "other values"


def first_row(mask: pl.Series) -> int:
    """The first row where the mask is true."""
    return int(mask.arg_true()[0])


def shortened(names: Sequence[str], n: int) -> str:
    """The first n of some names, and how many there are."""
    return ", ".join(names[:n]) + (f", … ({len(names):,} in all)" if len(names) > n else "")
