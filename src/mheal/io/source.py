"""Source: a pool as it was read, and where its rows came from."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from .shards import ShardIds

Kind = Literal["vectors", "table", "images", "texts"]


@dataclass(frozen=True, eq=False)
class Source:
    """A pool read from files: row i of X is ids[i] and items[i].

    X : (rows, columns) of numbers; for one .npy file its memory map, of whatever real type it was saved in; on a
        cluster a Dask array. Until they are embedded, images are their files here, and texts themselves
    kind : "vectors", "table", "images" or "texts"
    features : what the columns of X are, in a line
    files : the files the rows came from
    ids : the id column's values, or image paths relative to their folder; None where rows have no names. Those of
        shards that are streamed or on a cluster stay in their files until they are needed
    id_column : the name of the column the ids came from
    items : what a person would look at: image files or texts; None for vectors and tables
    skipped : (file, reason) of the images that could not be read; they are no rows of X
    target : the values of the target column, if there is one
    """

    X: Any
    kind: Kind
    features: str
    files: list[Path]
    ids: "list[Any] | ShardIds | None" = None
    id_column: str | None = None
    items: list[Path] | list[str] | None = None
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    target: list[Any] | None = None

    def ids_of(self, rows: npt.NDArray[np.int64]) -> list[Any] | None:
        """The names of these rows."""
        if self.ids is None or isinstance(self.ids, list):
            return None if self.ids is None else [self.ids[row] for row in rows]
        return self.ids.of(rows)
