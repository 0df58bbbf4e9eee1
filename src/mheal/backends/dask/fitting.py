"""Passes of spherical k-means over rows on a cluster: sums are added up in a tree, so that only k centres travel."""

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from distributed import Future

from ..base import Floats, Labels, Rows, made_unit
from ..cpu.fitting import CpuFitting
from .partitions import Partitions, task, writable
from .transform import Transform

BRANCH = 8  # sums that one task adds up


class Sums(NamedTuple):
    """Of the rows of a partition: the sum of unit rows and their weight by centre."""

    sums: npt.NDArray[np.float64]
    mass: npt.NDArray[np.float64]


class DaskFitting:
    """Rows that are being clustered by direction. Nothing is kept between passes, so nothing can be lost."""

    def __init__(self, pool: Partitions, each: Callable[..., list[Future]], k: int, weight: Floats | None) -> None:
        """`each` is a pass over the rows."""
        self.pool, self.each, self.weight = pool, each, pool.split(weight)
        self.sums, self.mass = np.zeros((k, pool.shape[1])), np.zeros(k)

    def assign(self, centers: Floats) -> None:
        """One pass with these unit centres."""
        self.centers = self.pool.share(np.ascontiguousarray(centers, self.pool.dtype))
        level = self._pass(_sums)
        while len(level) > 1:
            level = self.pool.run(_added, [(level[i : i + BRANCH],) for i in range(0, len(level), BRANCH)])
        self.sums, self.mass = self.pool.gather(level)[0]

    def labels(self) -> Labels:
        """The centre of each row."""
        return self.pool.join(self._pass(_labels))

    def worst(self, count: int) -> Floats:
        """Unit rows of positive weight that are farthest from their centres, the farthest first."""
        found = self.pool.gather(self._pass(_worst, count))
        chord, U = (np.concatenate(column) for column in zip(*found, strict=True))
        return U[np.argsort(-chord, kind="stable")[:count]]

    def squared_chords(self) -> float:
        """Σ weight·‖row − centre‖² on the unit sphere, without cancellation."""
        return float(sum(self.pool.gather(self._pass(_squared_chords))))

    def _pass(self, work: Any, *more: Any) -> list[Future]:
        return self.each(work, self.weight, shared=[self.centers, *more])


def _fitted(X: Floats, norms: Floats, weight: Floats | None, transform: Transform, C: Floats) -> CpuFitting:
    """One assignment of a partition's rows."""
    fitting = CpuFitting(transform.points(X, norms), len(C), weight, quantize=False)
    fitting.assign(writable(C))
    return fitting


@task
def _sums(X: Floats, first: int, norms: Floats, weight: Floats | None, transform: Transform, C: Floats) -> Sums:
    fitting = _fitted(X, norms, weight, transform, C)
    return Sums(fitting.sums, fitting.mass)


def _added(parts: list[Sums]) -> Sums:
    return reduce(lambda a, b: Sums(a.sums + b.sums, a.mass + b.mass), parts)


@task
def _labels(X: Floats, first: int, norms: Floats, weight: Floats | None, transform: Transform, C: Floats) -> Labels:
    return _fitted(X, norms, weight, transform, C).label


@task
def _worst(
    X: Floats, first: int, norms: Floats, weight: Floats | None, transform: Transform, C: Floats, count: int
) -> tuple[Floats, Floats]:
    """The rows farthest from their centres, in the order of the pool, and their chords."""
    fitting = _fitted(X, norms, weight, transform, C)
    rows: Rows = np.sort(fitting.worst_rows(count))
    return fitting.upper[rows], made_unit(fitting.points.take(rows))


@task
def _squared_chords(
    X: Floats, first: int, norms: Floats, weight: Floats | None, transform: Transform, C: Floats
) -> float:
    return _fitted(X, norms, weight, transform, C).squared_chords()
