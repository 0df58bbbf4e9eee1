"""The first pass: every column's mean and standard deviation, and whether all numbers are numbers."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ...exceptions import UserError
from ...scaling import HEAD, NEAR, begins_on_sphere
from ..cpu.points import _moments_part, refuse_nonfinite
from .partitions import Metric, Partitions, task, writable


class _Found(NamedTuple):
    sums: Any
    fault: str | None
    unit: int = 0  # rows of unit length; not counted where sums are
    zero: int = 0  # rows of none
    alike: bool = False  # whether all equal the first row of the pool


def measure(pool: Partitions, space: Literal["auto", "standard", "unit", "raw"]) -> Metric:
    """How the pool's rows become points; refuses NaN and infinity by their place."""
    n = pool.shape[0]
    head = pool.take(np.arange(min(HEAD, n)), Metric())
    if space == "raw" or (space == "auto" and begins_on_sphere(head)):
        looked = _looked(pool, head[0], raw=True)
        unit, zero = sum(part.unit for part in looked), sum(part.zero for part in looked)
        on_sphere = unit + zero == n and 2 * unit > n and not all(part.alike for part in looked)
        if space == "raw" or on_sphere:
            return Metric()
    shift = head[0].astype(np.float64)
    found = _looked(pool, shift, raw=False)
    first, second = (np.sum([part.sums[i] for part in found], axis=0) / n for i in (0, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.sqrt(np.maximum(second - first * first, 0.0))  # as kernels.points.moments has it
    if not np.isfinite(deviation).all():
        raise UserError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    metric = Metric(first + shift, deviation)
    if n > 1 and metric.points(np.zeros((1, pool.shape[1]), pool.dtype)).constant():
        raise UserError(f"all {n} rows of X are equal (every column is constant): nothing to choose between")
    return metric


def _looked(pool: Partitions, row: npt.NDArray[Any], raw: bool) -> list[_Found]:
    found: list[_Found] = pool.gather(pool.each(_look, shared=[row, raw]))
    for part in found:
        if part.fault:
            raise UserError(part.fault)
    return found


@task
def _look(X: npt.NDArray[Any], first: int, row: npt.NDArray[Any], raw: bool) -> _Found:
    """What the rows are like; faults are returned, since an error in a task would be logged by the worker."""
    X = Metric().points(X).X  # read-only, as kernels are compiled for
    try:
        if not raw:
            sums = np.zeros((2, X.shape[1]))
            _moments_part(X, 0, len(X), writable(row), *sums)
            return _Found(sums, None) if np.isfinite(sums).all() else refuse_nonfinite(X, first)
        with np.errstate(over="ignore"):
            lengths = np.sqrt(np.einsum("ij,ij->i", X, X))
        if not np.isfinite(lengths).all():
            refuse_nonfinite(X, first)
        unit, zero = (np.abs(lengths - 1) <= NEAR).sum(), (lengths == 0).sum()
        return _Found(None, None, int(unit), int(zero), bool((row == X).all()))
    except ValueError as error:
        return _Found(None, str(error))
