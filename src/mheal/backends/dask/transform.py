"""How rows are scaled, found in the first pass: mean and standard deviation of each column; NaN is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from ...exceptions import UserError
from ...one_hot import block_deviation, sample_rows
from ...runtime.threads import one_thread
from ...sphere import HEAD, NEAR, begins_on_sphere
from ...validation import refuse_nonfinite
from ..base import Float64, Floats, Rows
from ..cpu.points import Points
from ..cpu.staging import moment_sums
from .partitions import Partitions, writable


@dataclass(frozen=True)
class Transform:
    """How rows are scaled: standardised where moments are given, then made unit where `unit` is set."""

    mean: Float64 | None = None
    deviation: Float64 | None = None
    unit: bool = False

    def points(self, X: Floats, norms: Floats | None = None) -> Points:
        """These rows, in this process; `norms` may hold their lengths before they are made unit."""
        if self.mean is None or self.deviation is None:
            points = Points.raw(X)
        else:
            points = Points.standardized(X, (self.mean, self.deviation))
        if norms is not None:
            points = points.with_norms(norms)
        return points.unit() if self.unit else points


def on_points(work: Callable[..., Any]) -> Callable[..., Any]:
    """A pass over the rows: `work` takes the scaled rows of a partition, then its own arguments."""

    @one_thread()
    @wraps(work)
    def on_partition(transform: Transform, X: Floats, norms: Floats | None, *own: Any) -> Any:
        return work(transform.points(X, norms), *map(writable, own))

    return on_partition


def take(pool: Partitions, rows: Rows, transform: Transform) -> Floats:
    """These rows, scaled, on the client."""
    where = np.searchsorted(pool.first, rows, side="right") - 1
    order = np.argsort(where, kind="stable")
    used, starts = np.unique(where[order], return_index=True)
    places = np.split(order, starts)[1:]
    wanted = [(pool.parts[p], rows[at] - pool.first[p]) for p, at in zip(used, places, strict=True)]
    out = np.empty((len(rows), pool.shape[1]), pool.dtype)
    for at, piece in zip(places, pool.gather(pool.run(_rows, wanted, [transform])), strict=True):
        out[at] = piece
    return out


@one_thread()
def _rows(X: Floats, rows: Rows, transform: Transform) -> Floats:
    return transform.points(X[rows]).array()


def transform_of(pool: Partitions, scaling: str) -> Transform:
    """How the pool's rows are scaled; refuses NaN and infinity by their place."""
    n = pool.shape[0]
    head = take(pool, np.arange(min(HEAD, n)), Transform())
    if scaling == "raw" or (scaling == "auto" and begins_on_sphere(head)):
        unit, zero, alike = _summed(pool, head[0], raw=True)
        on_sphere = unit + zero == n and 2 * unit > n and alike < n
        if scaling == "raw" or on_sphere:
            return Transform()
    shift = head[0].astype(np.float64)
    first, second = _summed(pool, shift, raw=False) / n
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.sqrt(np.maximum(second - first * first, 0.0))  # as cpu.staging.moments has it
    if not np.isfinite(deviation).all():
        raise UserError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    sample = take(pool, sample_rows(n), Transform())
    transform = Transform(first + shift, block_deviation(first + shift, deviation, sample))
    if n > 1 and transform.points(np.zeros((1, pool.shape[1]), pool.dtype)).constant():
        raise UserError(f"all {n} rows of X are equal (every column is constant): nothing to choose between")
    return transform


def _summed(pool: Partitions, row: Floats, raw: bool) -> Any:
    found = pool.gather(pool.run(_look, zip(pool.parts, pool.first, strict=False), [row, raw]))
    for fault, _ in found:
        if fault:
            raise UserError(fault)
    return np.sum([sums for _, sums in found], axis=0)


@one_thread()
def _look(X: Floats, first: int, row: Floats, raw: bool) -> tuple[str | None, Any]:
    """What is wrong with the rows: it is returned, since an error in a task would be logged by the worker. And sums.

    Of columns, less `row`, and of squares; of raw rows how many have unit length, have none, and equal `row`.
    """
    X = Transform().points(X).X  # read-only, as kernels are compiled for
    try:
        if raw:
            with np.errstate(over="ignore"):
                of_rows = np.sqrt(np.einsum("ij,ij->i", X, X))
            sums = np.array([(np.abs(of_rows - 1) <= NEAR).sum(), (of_rows == 0).sum(), (row == X).all(axis=1).sum()])
        else:
            of_rows = sums = np.zeros((2, X.shape[1]))
            moment_sums(X, 0, len(X), writable(row), *sums)
        return (None, sums) if np.isfinite(of_rows).all() else refuse_nonfinite(X, first)
    except ValueError as error:
        return str(error), None
