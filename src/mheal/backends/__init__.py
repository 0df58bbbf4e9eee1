"""Backends store the scaled rows of a pool and do the heavy computation: `open_rows` chooses one.

Every algorithm uses the interface `base.RowStore`. `cpu` handles arrays and memory maps with numba and BLAS, `torch`
handles tensors, and arrays if a device is given, and `dask` handles Dask arrays.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.checkpoint import NullCheckpoint
from ..sphere import HEAD, begins_on_sphere, unit_lengths
from ..validation import refuse_range
from .base import RowStore


def form_of(X: Any) -> str:
    """The type of X: "torch" (a tensor), "dask" (a Dask array) or "cpu" (anything else)."""
    package = type(X).__module__.partition(".")[0]
    return package if package in ("torch", "dask") else "cpu"


def to_numpy(X: Any) -> npt.NDArray[Any]:
    """An array or a tensor as a NumPy array."""
    if form_of(X) != "torch":
        return np.asarray(X)
    return import_module(".torch", __package__).as_pool(X).cpu().numpy()


@contextmanager
def open_rows(
    X: Any, scaling: str = "auto", *, device: str | None = None, checkpoint: NullCheckpoint | None = None
) -> Iterator[RowStore]:
    """The scaled rows of X as a RowStore; use in a `with` block.

    X : a checked pool: an array or memory map of floats (`validation.as_array`), a tensor, or a Dask array
    scaling : "raw", or "standard": columns of mean 0 and standard deviation 1. "auto" is "raw" if rows have unit
        length, else "standard". "unit" gives standardised rows too: call `.unit()` after clustering them
    device : the torch device to compute on. With None, a tensor on a GPU stays there, and the CPU backend handles
        arrays and CPU tensors
    checkpoint : stores the moments of the columns, and holds the memory limit
    """
    checkpoint = checkpoint or NullCheckpoint()
    form = form_of(X)
    if form == "torch" and device is None and X.device.type == "cpu":
        X, form = np.ascontiguousarray(to_numpy(X)), "cpu"  # faster there; a contiguous tensor is not copied
    if form == "dask":
        dask = import_module(".dask", __package__)
        with dask.connected() as client:
            checkpoint.report(0, 0, "reading")
            pool, rows = dask.Partitions(X, client), dask.DaskRows
            head = pool.take(np.arange(min(HEAD, len(X))))
            yield _scaled(head, scaling, lambda: rows.raw(pool), lambda: rows.standardized(pool))
    elif form == "torch" or device is not None:
        points = import_module(".torch", __package__).Points
        place = {} if form == "torch" else {"device": device}
        yield _scaled(X, scaling, lambda: points.raw(X, **place), lambda: points.standardized(X, **place))
    else:
        from .cpu.kernel_cache import compiling_reported
        from .cpu.points import Points

        limit = checkpoint.limit

        def standardized() -> Points:
            found = checkpoint.stage(
                "moments", lambda: dict(zip(("mean", "deviation"), Points.raw(X, limit).moments(), strict=True))
            )
            return Points.standardized(X, (found["mean"], found["deviation"]), limit)

        with compiling_reported(checkpoint.report):
            yield _scaled(X, scaling, lambda: Points.raw(X, limit), standardized)


def _scaled(head: Any, scaling: str, raw: Callable[[], RowStore], standardized: Callable[[], RowStore]) -> RowStore:
    """The rows as they are or standardised; refuses NaN, infinity, and rows that are all equal."""
    if scaling == "raw" or (scaling == "auto" and begins_on_sphere(head)):
        rows = raw()
        lengths = rows.norms()  # raises an error that names the row with NaN or infinity
        if scaling == "raw":
            refuse_range(lengths, to_numpy(head[:HEAD]))
        if scaling == "raw" or (unit_lengths(lengths) and not _all_equal(head, rows)):
            return rows
    rows = standardized()
    if rows.constant() and (n := rows.shape[0]) > 1:
        raise UserError(f"all {n} rows of X are equal (every column is constant): nothing to choose between")
    return rows


def _all_equal(head: Any, rows: RowStore) -> bool:
    """Whether all rows are equal. Usually the first two differ, and the others need not be read."""
    if len(head) < 2 or not (head[0] == head[1]).all():
        return False
    return not rows.squared_distances_to(rows.take(np.arange(1))[0]).any()
