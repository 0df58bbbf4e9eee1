"""Source: a pool as it was read, and where its rows came from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import polars

    from .shards import ShardIds

Kind = Literal["vectors", "table", "images", "texts"]


@dataclass(frozen=True, eq=False)
class Source:
    """A pool read from files: row i of X is items[i], and ids[i] unless rows were left out.

    X : (rows, columns) of numbers; for one .npy file its memory map, of whatever real type it was saved in; on a
        cluster a Dask array. Until they are embedded, images are their files here, and texts themselves
    features : what the columns of X are, in a line
    ids : the values of `id_column`, or image paths relative to their folder; None where rows have no names. Those of
        shards stay in their files until they are needed
    items : what a person would look at: image files or texts; None for vectors and tables
    skipped : (name, reason) of the images that could not be read; they are no rows of X
    target : the values of the target column, if there is one; like ids, of all rows of the files
    rows : the number of each row of X in its files, of which there are `n_in_files`, where rows were left out
    cells : the columns of a table in memory as they were read, but for those that hold labels
    answers : columns of a table that hold labels, which nobody who labels may see
    notes : what was done with missing values and empty texts, a line each
    advice : how to get better features, a line
    """

    X: Any
    kind: Kind
    features: str
    files: list[Path]
    ids: "list[Any] | ShardIds | None" = None
    id_column: str | None = None
    items: list[Path] | list[str] | None = None
    skipped: list[tuple[str, str]] = field(default_factory=list)
    target: list[Any] | None = None
    rows: npt.NDArray[np.int64] | None = None
    n_in_files: int | None = None
    cells: "polars.DataFrame | None" = None
    answers: Sequence[str] = ()
    notes: list[str] = field(default_factory=list)
    advice: str = ""

    @property
    def n_rows(self) -> int:
        """How many rows the files have."""
        return len(self.X) if self.n_in_files is None else self.n_in_files

    def numbers(self, at: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The numbers, in the files, of these rows of X."""
        return at if self.rows is None else self.rows[at]

    def places(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The rows of X that have these numbers in the files; −1 for those that were left out."""
        if self.rows is None:
            return numbers
        at = np.searchsorted(self.rows, numbers).clip(max=len(self.rows) - 1)
        return np.where(self.rows[at] == numbers, at, -1)

    def ids_of(self, rows: npt.NDArray[np.int64]) -> list[Any] | None:
        """The names of these rows of X."""
        if isinstance(self.ids, list):
            return [self.ids[row] for row in self.numbers(rows)]
        return None if self.ids is None else self.ids.of(rows)
