"""How rows are scaled, found in the first pass: mean and standard deviation of each column; NaN is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...exceptions import UserError
from ...one_hot import block_deviation, sample_rows
from ...runtime.threads import one_thread
from ..base import Float64, Floats
from ..cpu.points import Points
from ..cpu.staging import moment_sums
from .partitions import Partitions, writable


@dataclass(frozen=True)
class Transform:
    """How rows are scaled: standardised where moments are given, then made unit where `unit` is set."""

    moments: tuple[Float64, Float64] | None = None
    unit: bool = False

    def points(self, X: Floats, norms: Floats | None = None) -> Points:
        """These rows, in this process; `norms` may hold their lengths before they are made unit."""
        points = Points.raw(X) if self.moments is None else Points.standardized(X, self.moments)
        if norms is not None:
            points = points.with_norms(norms)
        return points.unit() if self.unit else points


@one_thread()
def on_points(work: Callable[..., Any], transform: Transform, X: Floats, norms: Floats | None, *own: Any) -> Any:
    """A pass over a partition: `work` gets its scaled rows, then its own arguments."""
    return work(transform.points(X, norms), *map(writable, own))


def standardizing(pool: Partitions) -> Transform:
    """Columns of mean 0 and standard deviation 1; refuses NaN and infinity by their place."""
    n = pool.shape[0]
    shift = pool.take(np.arange(1))[0].astype(np.float64)
    sums = pool.gather(pool.run(_moment_sums, zip(pool.parts), [shift]))
    pool.refuse_nonfinite(sums)
    first, second = np.sum(sums, axis=0) / n
    with np.errstate(invalid="ignore", over="ignore"):
        deviation = np.sqrt(np.maximum(second - first * first, 0.0))  # as cpu.staging.moments has it
    if not np.isfinite(deviation).all():
        raise UserError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    return Transform((first + shift, block_deviation(first + shift, deviation, pool.take(sample_rows(n)))))


@one_thread()
def _moment_sums(X: Floats, shift: Float64) -> Float64:
    sums = np.zeros((2, X.shape[1]))
    moment_sums(Points.raw(X).X, 0, len(X), writable(shift), *sums)
    return sums
