"""How rows are scaled, found in the first pass: mean and standard deviation of each column; NaN is refused."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import UserError
from ...one_hot import block_deviation, sample_rows
from ...sphere import HEAD, NEAR, begins_on_sphere
from ...validation import refuse_nonfinite
from ..cpu.points import Points
from ..cpu.staging import moment_sums
from .partitions import Partitions, Rows, task, writable


@dataclass(frozen=True)
class Transform:
    """How rows are scaled: standardised where moments are given, then made unit where `unit` is set."""

    mean: npt.NDArray[np.float64] | None = None
    deviation: npt.NDArray[np.float64] | None = None
    unit: bool = False

    def points(self, X: npt.NDArray[Any], norms: npt.NDArray[Any] | None = None) -> Points:
        """These rows, in this process; `norms` may hold their lengths before they are made unit."""
        if self.mean is None or self.deviation is None:
            points = Points.raw(X)
        else:
            points = Points.standardized(X, (self.mean, self.deviation))
        if norms is not None:
            points = points.with_norms(norms)
        return points.unit() if self.unit else points


def take(pool: Partitions, rows: Rows, transform: Transform) -> npt.NDArray[Any]:
    """These rows, scaled, on the client."""
    out = np.empty((len(rows), pool.shape[1]), pool.dtype)
    wanted = pool.by_partition(rows)
    found = pool.gather(pool.run(_rows, [(pool.parts[p], own) for p, _, own in wanted], [transform]))
    for (_, places, _), piece in zip(wanted, found, strict=True):
        out[places] = piece
    return out


@task
def _rows(X: npt.NDArray[Any], rows: Rows, transform: Transform) -> npt.NDArray[Any]:
    return transform.points(X[rows]).array()


class _Found(NamedTuple):
    """What one partition is like."""

    sums: Any
    fault: str | None
    unit: int = 0  # rows of unit length; not counted where sums are
    zero: int = 0  # rows of none
    alike: bool = False  # whether all equal the first row of the pool


def transform_of(pool: Partitions, scaling: str) -> Transform:
    """How the pool's rows are scaled; refuses NaN and infinity by their place."""
    n = pool.shape[0]
    head = take(pool, np.arange(min(HEAD, n)), Transform())
    if scaling == "raw" or (scaling == "auto" and begins_on_sphere(head)):
        looked = _looked(pool, head[0], raw=True)
        unit, zero = sum(part.unit for part in looked), sum(part.zero for part in looked)
        on_sphere = unit + zero == n and 2 * unit > n and not all(part.alike for part in looked)
        if scaling == "raw" or on_sphere:
            return Transform()
    shift = head[0].astype(np.float64)
    found = _looked(pool, shift, raw=False)
    first, second = (np.sum([part.sums[i] for part in found], axis=0) / n for i in (0, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.sqrt(np.maximum(second - first * first, 0.0))  # as cpu.staging.moments has it
    if not np.isfinite(deviation).all():
        raise UserError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    sample = take(pool, sample_rows(n), Transform())
    transform = Transform(first + shift, block_deviation(first + shift, deviation, sample))
    if n > 1 and transform.points(np.zeros((1, pool.shape[1]), pool.dtype)).constant():
        raise UserError(f"all {n} rows of X are equal (every column is constant): nothing to choose between")
    return transform


def _looked(pool: Partitions, row: npt.NDArray[Any], raw: bool) -> list[_Found]:
    found: list[_Found] = pool.gather(pool.each(_look, shared=[row, raw]))
    for part in found:
        if part.fault:
            raise UserError(part.fault)
    return found


@task
def _look(X: npt.NDArray[Any], first: int, row: npt.NDArray[Any], raw: bool) -> _Found:
    """What the rows are like; faults are returned, since an error in a task would be logged by the worker."""
    X = Transform().points(X).X  # read-only, as kernels are compiled for
    try:
        if not raw:
            sums = np.zeros((2, X.shape[1]))
            moment_sums(X, 0, len(X), writable(row), *sums)
            return _Found(sums, None) if np.isfinite(sums).all() else refuse_nonfinite(X, first)
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
        if not np.isfinite(lengths).all():
            refuse_nonfinite(X, first)
        unit, zero = (np.abs(lengths - 1) <= NEAR).sum(), (lengths == 0).sum()
        return _Found(None, None, int(unit), int(zero), bool((row == X).all()))
    except ValueError as error:
        return _Found(None, str(error))
