"""The first pass: every column's mean and standard deviation, and whether all numbers are numbers."""

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ..kernels.points import _moments_part, refuse_nonfinite
from ..pool.space import HEAD, begins_on_sphere, unit_lengths
from .partitions import Metric, Partitions, task, writable


class _Found(NamedTuple):
    sums: Any
    fault: str | None
    unit: bool = False  # whether rows have unit length; not looked at where sums are


def measure(pool: Partitions, space: Literal["auto", "standard", "unit", "raw"]) -> Metric:
    """How the pool's rows become points; refuses NaN and infinity by their place."""
    n = pool.shape[0]
    head = pool.take(np.arange(min(HEAD, n)), Metric())
    if space == "raw" or (space == "auto" and begins_on_sphere(head)):
        looked = _looked(pool, None)
        if space == "raw" or all(part.unit for part in looked):
            return Metric()
    shift = head[0].astype(np.float64)
    found = _looked(pool, shift)
    first, second = (np.sum([part.sums[i] for part in found], axis=0) / n for i in (0, 1))
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.sqrt(np.maximum(second - first * first, 0.0))  # as kernels.points.moments has it
    if not np.isfinite(deviation).all():
        raise ValueError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    metric = Metric(first + shift, deviation)
    if n > 1 and metric.points(np.zeros((1, pool.shape[1]), pool.dtype)).constant():
        raise ValueError(f"all {n} rows of X are equal (every column is constant): nothing to choose between")
    return metric


def _looked(pool: Partitions, shift: npt.NDArray[np.float64] | None) -> list[_Found]:
    found: list[_Found] = pool.gather(pool.each(_look, shared=[shift]))
    for part in found:
        if part.fault:
            raise ValueError(part.fault)
    return found


@task
def _look(X: npt.NDArray[Any], first: int, shift: npt.NDArray[np.float64] | None) -> _Found:
    """Sums for the moments; faults are returned, since an error in a task would be logged by the worker."""
    X = Metric().points(X).X  # read-only, as kernels are compiled for
    try:
        if shift is None:
            with np.errstate(over="ignore"):
                squares = np.einsum("ij,ij->i", X, X)
            unit = unit_lengths(np.sqrt(squares))
            return _Found(None, None, unit) if np.isfinite(squares).all() else refuse_nonfinite(X, first)
        sums = np.zeros((2, X.shape[1]))
        _moments_part(X, 0, len(X), writable(shift), *sums)
        return _Found(sums, None) if np.isfinite(sums).all() else refuse_nonfinite(X, first)
    except ValueError as error:
        return _Found(None, str(error))
