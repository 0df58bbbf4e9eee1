"""Rows of the pool as the kernels read them: scaled on the fly into a small buffer, so the pool is never copied."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

import numpy as np

from ...one_hot import column_moments, offset_and_scale, sample_rows
from ...runtime.memory import MemoryLimit, memory_map
from ...runtime.threads import run_parts, spans
from ...validation import refuse_nonfinite, working_dtype
from ..base import Float64, Floats, Index
from .simd import kernel, prefetch_row, wide_vectors

Result = TypeVar("Result")
Moments = tuple[Float64, Float64]  # mean and standard deviation of each column
PASS_ROWS = 1 << 14  # rows in one part of a pass over the pool
PASS_BYTES = 1 << 24  # bytes in one part: it has fewer rows if they are wide
FEW_ROWS = 32  # scattered rows between two yield points: reading one row may load a megabyte around it


@dataclass(frozen=True)
class Sizes:
    """How work on a pool is divided. Results do not depend on these sizes, except for rounding. Tests use small ones.

    pass_rows, pass_bytes : one part of a pass over the pool
    front_rows : fewest rows in the front of a traversal
    task_rows : rows whose spacing one thread measures at a time
    span_bytes : bytes of rows on disk that are sorted by cluster at a time; at least `together` rows a cluster
    """

    pass_rows: int = PASS_ROWS
    pass_bytes: int = PASS_BYTES
    front_rows: int = 2048
    task_rows: int = 4096
    span_bytes: int = 1 << 24
    together: int = 256


SIZES = Sizes()


@kernel
def stage(X: Any, rows: Any, n: int, offset: Any, scale: Any, factor: Any, out: Any) -> None:
    """out[z] = (X[i] − offset)·scale·factor[i], i = rows[z], for z < n. Empty arrays are left out of the formula."""
    wide_vectors()
    d = X.shape[1]
    for z in range(n):
        if z + 8 < n:
            prefetch_row(X, rows[z + 8])
        i = rows[z]
        if offset.size:
            for t in range(d):
                out[z, t] = (X[i, t] - offset[t]) * scale[t]
        else:
            for t in range(d):
                out[z, t] = X[i, t]
        if factor.size:
            for t in range(d):
                out[z, t] *= factor[i]


@kernel
def moments_part(X: Any, lo: int, hi: int, shift: Any, total: Any, square: Any) -> None:
    """Sums of x − shift and of its square over rows lo..hi, in float64: float32 drifts at a million rows."""
    wide_vectors()
    d = X.shape[1]
    for i in range(lo, hi):
        for t in range(d):
            v = np.float64(X[i, t]) - shift[t]
            total[t] += v
            square[t] += v * v


@kernel
def _norms_part(X: Any, lo: int, hi: int, offset: Any, scale: Any, out: Any) -> None:
    d = X.shape[1]
    for i in range(lo, hi):
        s = out.dtype.type(0)
        if offset.size:
            for t in range(d):
                v = (X[i, t] - offset[t]) * scale[t]
                s += v * v
        else:
            for t in range(d):
                s += X[i, t] * X[i, t]
        out[i] = np.sqrt(s)


@dataclass(frozen=True)
class Staged:
    """The rows (X[i] − offset)·scale·factor[i]. Empty arrays are left out of the formula.

    X is any C-contiguous 2-D array, memory-mapped or not. Computations are in `dtype`. The first pass over the rows
    raises an error if there is a NaN or infinity.

    limit : the memory limit whose `yield_point` is called between parts of work
    sizes : how work is divided
    """

    X: Floats
    offset: Floats
    scale: Floats
    factor: Floats
    limit: MemoryLimit | None = None
    sizes: Sizes = SIZES
    _cache: dict[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        view = self.X.view(np.ndarray)
        view.flags.writeable = False  # kernels then compile once for memory maps and arrays alike
        object.__setattr__(self, "X", view)

    @classmethod
    def raw(cls, X: Floats, limit: MemoryLimit | None = None, sizes: Sizes = SIZES) -> Self:
        """The rows as they are."""
        empty = np.empty(0, working_dtype(X.dtype))
        return cls(X, empty, empty, empty, limit, sizes)

    @classmethod
    def standardized(
        cls, X: Floats, known: Moments | None = None, limit: MemoryLimit | None = None, sizes: Sizes = SIZES
    ) -> Self:
        """Columns of mean 0 and standard deviation 1; constant columns become 0. `known` are the moments of X."""
        raw = cls.raw(X, limit, sizes)
        mean, deviation = known or raw.moments()
        if not np.isfinite(deviation).all():
            refuse_nonfinite(X)
        offset, scale = offset_and_scale(mean, deviation, raw.dtype)
        return replace(raw, offset=offset, scale=scale)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.offset.dtype

    @property
    def shape(self) -> tuple[int, int]:
        return self.X.shape[0], self.X.shape[1]

    @property
    def source(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The four arrays from which kernels compute rows."""
        return self.X, self.offset, self.scale, self.factor

    @property
    def on_disk(self) -> bool:
        """Whether X is memory-mapped."""
        return memory_map(self.X) is not None

    def yield_point(self) -> None:
        """Enforce the memory limit, if there is one; called between parts of work."""
        if self.limit is not None:
            self.limit.yield_point()

    def passes(self) -> list[tuple[int, int]]:
        """The spans of rows that are the parts of one pass over the pool."""
        row = max(1, self.X[:1].nbytes)
        return spans(len(self.X), max(1, min(self.sizes.pass_rows, self.sizes.pass_bytes // row)))

    def run_parts(
        self, work: Callable[[tuple[int, int]], Result], parts: list[tuple[int, int]], workers: int | None = None
    ) -> list[Result]:
        """Results of `work` on each part, in the order of the parts."""
        return run_parts(work, parts, workers, self.yield_point)

    def moment_sums(self, shift: Float64) -> Float64:
        """Sums of x − shift and of its square for each column of X."""

        def part(span: tuple[int, int]) -> Float64:
            sums = np.zeros((2, self.X.shape[1]))
            moments_part(self.X, *span, shift, *sums)
            return sums

        total: Float64 = np.sum(self.run_parts(part, self.passes()), axis=0)
        return total

    def moments(self) -> Moments:
        """The mean of each column of X, and the number to divide it by."""
        n, shift = len(self.X), self.X[0].astype(np.float64)
        return column_moments(self.moment_sums(shift), shift, n, self.X[sample_rows(n)])

    def norms(self) -> Floats:
        if "norms" not in self._cache:
            out = np.empty(len(self.X), self.dtype)
            self.run_parts(lambda span: _norms_part(self.X, *span, self.offset, self.scale, out), self.passes())
            if not np.isfinite(out).all():
                refuse_nonfinite(self.X)
            self._cache["norms"] = out
        return self._cache["norms"]

    def with_norms(self, norms: Floats) -> Self:
        """The same rows, with lengths that are known already."""
        return replace(self, _cache={"norms": norms})

    def forget_norms(self) -> None:
        self._cache.clear()

    def constant(self) -> bool:
        return self.scale.size > 0 and not self.scale.any()

    def unit(self) -> Self:
        norms = self.norms()
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        return replace(self, factor=inverse)

    def take(self, rows: Index) -> Floats:
        out = np.empty((len(rows), self.X.shape[1]), self.dtype)
        for lo, hi in spans(len(rows), PASS_ROWS if self.limit is None else FEW_ROWS):
            some = rows[lo:hi].astype(np.int64, copy=False)  # one type of row numbers, so that kernels compile once
            stage(self.X, some, hi - lo, self.offset, self.scale, self.factor, out[lo:hi])
            self.yield_point()
        return out

    def subset(self, rows: Index) -> Self:
        return type(self).raw(self.take(rows), self.limit, self.sizes)

    def array(self) -> Floats:
        plain = not (self.offset.size or self.factor.size)
        return self.X if plain and self.X.dtype == self.dtype else self.take(np.arange(len(self.X)))

    def mean(self, rows: Index | None = None) -> Float64:
        def total(span: tuple[int, int]) -> Float64:
            return self.take(np.arange(*span) if rows is None else rows[slice(*span)]).sum(axis=0, dtype=np.float64)

        if rows is None:
            return np.sum(self.run_parts(total, self.passes()), axis=0) / len(self.X)
        return np.sum([total(span) for span in spans(len(rows), PASS_ROWS)], axis=0) / len(rows)
