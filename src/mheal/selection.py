"""Selection: the frozen result that leaves the house."""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .exceptions import UserError
from .io.write import finite_or_null
from .runtime.files import replacing

if TYPE_CHECKING:
    import polars


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows of X worth labelling, best first, and why.

    indices : rows of X, in pick order (int64)
    cluster : the spherical cluster each pick lies in (int32)
    gain : how far, in the units of the selector's own metric, the pick was from everything labelled or picked
        before it; infinite where there was nothing before
    radius : the largest such distance left anywhere in the pool after the pick: what is still uncovered. With a charge,
        rows that are left for last (`trim`) hardly count
    """

    indices: npt.NDArray[np.int64]
    cluster: npt.NDArray[np.int32]
    gain: npt.NDArray[np.float64]
    radius: npt.NDArray[np.float64]

    def __post_init__(self) -> None:
        types = {"indices": np.int64, "cluster": np.int32, "gain": np.float64, "radius": np.float64}
        for name, dtype in types.items():
            column = np.array(getattr(self, name), dtype=dtype)
            if column.shape != (len(self.indices),):
                raise UserError(f"{name} has shape {column.shape}, but there are {len(self.indices)} indices")
            column.flags.writeable = False
            object.__setattr__(self, name, column)

    def __len__(self) -> int:
        return len(self.indices)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Selection):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("indices", "cluster", "gain", "radius")
        )

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.indices[:6])) + (", …" if len(self) > 6 else "")
        return f"Selection({len(self)} rows: {shown})"

    def to_frame(self) -> "polars.DataFrame":
        """A polars frame with columns rank (from 1), row, cluster, gain, radius."""
        import polars

        return polars.DataFrame(
            {
                "rank": np.arange(1, len(self) + 1),
                "row": self.indices,
                "cluster": self.cluster,
                "gain": self.gain,
                "radius": self.radius,
            }
        )

    def save(self, path: str | PathLike[str]) -> None:
        """Write .csv, .parquet or .jsonl: the whole file or, if interrupted, nothing."""
        path = Path(path)
        writers = {".csv": "write_csv", ".parquet": "write_parquet", ".jsonl": "write_ndjson"}
        if path.suffix not in writers:
            raise UserError(f"cannot save to {path.name!r}: use a name that ends in .csv, .parquet or .jsonl")
        frame = self.to_frame()
        if path.suffix == ".jsonl":  # JSON has no infinity
            frame = finite_or_null(frame)
        with replacing(path) as partial:
            getattr(frame, writers[path.suffix])(partial)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Selection":
        """Read back what `save` wrote."""
        import polars

        path = Path(path)
        readers = {".csv": "read_csv", ".parquet": "read_parquet", ".jsonl": "read_ndjson"}
        if path.suffix not in readers:
            raise UserError(f"cannot load {path.name!r}: the name must end in .csv, .parquet or .jsonl")
        frame = getattr(polars, readers[path.suffix])(path)
        missing = {"row", "cluster", "gain", "radius"} - set(frame.columns)
        if missing:
            raise UserError(f"{path.name} has no column {sorted(missing)[0]!r}: is it a file saved by mheal?")
        distances = {name: frame[name].cast(float).fill_null(np.inf).to_numpy() for name in ("gain", "radius")}
        return cls(frame["row"].to_numpy(), frame["cluster"].to_numpy(), **distances)

    def subset(self, dataset: Any) -> Any:
        """The picked items of a torch dataset, as a torch.utils.data.Subset."""
        from torch.utils.data import Subset

        return Subset(dataset, self.indices.tolist())
