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
    """A pool read from files. Row i of X belongs to items[i] and, unless rows were left out, to ids[i].

    X : (rows, columns) of numbers: an array, the memory map of a single .npy file in its own type, or on a cluster a
        Dask array. Before they are embedded, X holds the image files or the texts
    features : what the columns of X are, in one line
    ids : the values of `id_column`, or image paths relative to their folder; None if rows have no ids. Ids of shards
        are read when they are needed
    items : the image files or texts; None for vectors and tables
    skipped : (name, reason) of the images that could not be read; they have no row in X
    target : the values of the target column, if there is one; like ids, one for each row of the files
    rows : the number in the files of each row of X, if rows were left out; the files have `n_in_files` rows
    cells : the columns of a table in memory as they were read, without those that hold labels
    answers : columns of a table that hold labels; they are not shown to annotators
    notes : what was done with missing values and empty texts, one line each
    advice : how to get better features, in one line
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
