"""Selection: the picks, best first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from .exceptions import UserError
from .runtime.files import reading, replacing

if TYPE_CHECKING:
    import pandas
    import polars

COLUMNS = {"indices": np.int64, "cluster": np.int32, "gain": np.float64, "radius": np.float64}
SHOWN = 20  # picks in a notebook's table


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows of X to label, best first.

    It is an array-like of row numbers: `X[picks]`, `df.iloc[picks]`, `list(picks)` and
    `mheal.select(X, 50, labeled=picks)` work.

    Parameters
    ----------
    indices : (n,) rows of X in pick order
    cluster : (n,) the cluster of each pick; −1 if the strategy has no clusters
    gain : (n,) distance of each pick to the nearest row labelled or picked before it, as the strategy measures it (for
        MHEAL relative to the local spacing); infinite for a first pick, NaN if the strategy measures no distances
    radius : (n,) the largest such distance of any row of the pool after each pick
    reason : (n,) one sentence for each pick that says why it was picked
    index : (n,) the index values of the picks, if X was a pandas frame
    """

    indices: npt.NDArray[np.int64]
    cluster: npt.NDArray[np.int32]
    gain: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64]
    reason: Sequence[str] = ()
    index: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, dtype in COLUMNS.items():
            column = np.array(getattr(self, name), dtype=dtype)
            if column.shape != (len(self.indices),):
                raise ValueError(f"{name} has shape {column.shape}, but there are {len(self.indices)} indices")
            column.flags.writeable = False
            object.__setattr__(self, name, column)
        reasons = tuple(self.reason) or ("",) * len(self.indices)
        if len(reasons) != len(self.indices):
            raise ValueError(f"there are {len(reasons)} reasons for {len(self.indices)} indices")
        object.__setattr__(self, "reason", reasons)

    @classmethod
    def of(cls, indices: npt.ArrayLike, reason: Sequence[str] = ()) -> "Selection":
        """Picks of a strategy that has neither clusters nor distances."""
        rows = np.asarray(indices, np.int64)
        unknown = np.full(len(rows), np.nan)
        return cls(rows, np.full(len(rows), -1), unknown, unknown, reason)

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[int]:
        return iter(self.indices.tolist())

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> "Selection": ...
    def __getitem__(self, at: int | slice) -> "int | Selection":
        """One row number, or a Selection for a slice: `picks[:50]` are the 50 best."""
        if not isinstance(at, slice):
            return int(self.indices[at])
        columns = {name: getattr(self, name)[at] for name in COLUMNS}
        return Selection(**columns, reason=self.reason[at], index=None if self.index is None else self.index[at])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """The row numbers, so that NumPy and pandas accept a Selection as an index."""
        return np.array(self.indices, dtype=dtype, copy=copy)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return all(np.array_equal(getattr(self, name), getattr(other, name), equal_nan=True) for name in COLUMNS)

    def __add__(self, then: "Selection") -> "Selection":
        """Concatenate two selections."""
        if not isinstance(then, Selection):
            return NotImplemented
        columns = {name: np.concatenate([getattr(self, name), getattr(then, name)]) for name in COLUMNS}
        index = None if self.index is None or then.index is None else self.index.append(then.index)
        return Selection(**columns, reason=(*self.reason, *then.reason), index=index)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.indices[:6])) + (", …" if len(self) > 6 else "")
        return f"Selection({len(self)} rows: {shown})"

    def _repr_html_(self) -> str:
        """A table of the first picks, for notebooks."""
        head = self[:SHOWN].to_frame()
        shown = ([f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in row] for row in head.iter_rows())
        cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in shown)
        names = "".join(f"<th>{name}</th>" for name in head.columns)
        more = f"<p>… and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        return f"<table><thead><tr>{names}</tr></thead><tbody><tr>{'</tr><tr>'.join(cells)}</tr></tbody></table>{more}"

    def to_frame(self) -> "polars.DataFrame":
        """A Polars frame with the columns rank (from 1), row, cluster, gain, radius and reason."""
        import polars

        ranks, columns = np.arange(1, len(self) + 1), {name: getattr(self, name) for name in COLUMNS}
        reasons = polars.Series(self.reason, dtype=polars.String)
        return polars.DataFrame({"rank": ranks, **columns, "reason": reasons}).rename({"indices": "row"})

    def to_pandas(self) -> "pandas.DataFrame":
        """The same columns as a pandas frame, with the index of the picked rows if X was a pandas frame."""
        try:
            import pandas
        except ImportError as error:
            raise UserError("to_pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.to_frame().to_dict(as_series=False), index=self.index)

    def save(self, path: str | PathLike[str]) -> None:
        """Write a .csv, .parquet or .jsonl file, atomically: an interruption leaves no partial file."""
        from .io.write import table_bytes

        path = _table(path)
        with replacing(path) as partial:
            partial.write_bytes(table_bytes(self.to_frame(), path.suffix[1:]))

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Selection":
        """Read a file that `save` or `mheal select` wrote; additional columns are ignored."""
        import polars

        from .io.tables import read_frame

        path = _table(path)
        with reading(path, " (is it a file saved by mheal?)"):
            frame, names = read_frame(path), ["row", "cluster", "gain", "radius"]
            if missing := {*names} - {*frame.columns}:
                raise UserError(f"{path.name} has no column {sorted(missing)[0]!r}: is it a file saved by mheal?")
            if any(dtype.is_nested() for dtype in frame.select(names).dtypes):
                raise ValueError("it holds lists instead of numbers")
            whole = frame.select(polars.col("row", "cluster").cast(polars.Int64))
            distances = {name: frame[name].cast(float).fill_null(np.inf).to_numpy() for name in ("gain", "radius")}
            reason = frame["reason"].cast(polars.String).fill_null("").to_list() if "reason" in frame.columns else ()
        wrong = whole["row"].is_null() | whole["cluster"].is_null() | (whole["row"] < 0) | whole["row"].is_duplicated()
        if wrong.any():
            at = int(wrong.arg_true()[0])
            row, cluster = whole.row(at)
            what = "no row or no cluster" if None in (row, cluster) else f"row {row}{', like another' * (row >= 0)}"
            raise UserError(f"{path.name}: pick {at + 1} has {what}: is it complete?")
        rows, clusters = whole["row"].to_numpy(), whole["cluster"].to_numpy()
        return cls(rows, clusters, **distances, reason=reason)

    def subset(self, dataset: Any) -> Any:
        """The picked items of a torch dataset, as a torch.utils.data.Subset."""
        from torch.utils.data import Subset

        return Subset(dataset, self.indices.tolist())


def _table(path: str | PathLike[str]) -> Path:
    if (file := Path(path)).suffix not in (".csv", ".parquet", ".jsonl"):
        raise UserError(f"{file.name!r} is no table of picks: give a name that ends in .csv, .parquet or .jsonl")
    return file
