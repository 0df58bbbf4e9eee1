"""Parquet shards: their columns, how many rows they have, and the values of one column."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from ..runtime.files import reading
from .columns import Table, kind_of

TEXT = 8  # numbers that take as much memory as a short text
ROWS = 1 << 18  # values that are read together


def scan(file: Path) -> pl.LazyFrame:
    """The file's rows, none of them read yet."""
    with reading(file):
        frame = pl.scan_parquet(file, glob=False)
        frame.collect_schema()
        return frame


def shards_table(files: Sequence[Path], name: str) -> Table:
    """The shards as a table that stays on disk."""
    return Table(name, [scan(file) for file in files], in_memory=False, files=[file.name for file in files])


def row_count(file: Path) -> int:
    """How many rows a file has, as its footer says."""
    with reading(file):
        return int(scan(file).select(pl.len()).collect().item())


def expected_shape(files: Sequence[Path]) -> tuple[int, int]:
    """How many rows the shards have, and about how many numbers of 8 bytes a row takes if all columns are read."""
    table = shards_table(files, "the pool")
    columns = 0
    for name, dtype in table.types.items():
        kind = kind_of(dtype)
        columns += table.list_length(name) if dtype.is_nested() else 1 if kind == "numbers" else TEXT
    return sum(row_count(file) for file in files), max(1, columns)


class ShardIds:
    """The values of a column of the shards, read when they are needed."""

    def __init__(self, files: Sequence[Path], column: str) -> None:
        self.files, self.column = files, column

    def __len__(self) -> int:
        return sum(row_count(file) for file in self.files)

    def __iter__(self) -> Iterator[Any]:
        for file in self.files:
            frame = scan(file).select(self.column)
            for lo in range(0, row_count(file), ROWS):
                with reading(file):
                    values = frame.slice(lo, ROWS).collect().to_series()
                yield from values

    def of(self, rows: npt.NDArray[np.int64]) -> list[Any]:
        """The values in these rows of the pool."""
        return gather(self.files, rows, [self.column]).to_series().to_list()


def gather(files: Sequence[Path], rows: npt.NDArray[np.int64], columns: Sequence[str] | None = None) -> pl.DataFrame:
    """These rows of the shards, in the order given; all columns by default."""
    found, wanted = [], np.unique(rows)
    start = 0
    for file in files:
        stop = start + row_count(file)
        here = wanted[(wanted >= start) & (wanted < stop)] - start
        with reading(file):
            found.append(scan(file).select(pl.col(columns or "*").gather(here.tolist())).collect())
        start = stop
    return pl.concat(found, how="vertical_relaxed")[np.searchsorted(wanted, rows)]
