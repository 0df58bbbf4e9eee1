"""Passes of spherical k-means over rows in memory. Results are exact; bounds and quantized rows save most of the work.

Rows need not have unit length: a cosine is a dot product times `inverse_norm`, and rows of length 0 have no weight.
Each row has an upper bound on the chord to its own centre and a lower bound on the chord to all others (Hamerly 2010).
When centres move, the bounds change by the chord moved. A row is skipped while its bounds show that its centre is still
the nearest. If over a quarter of a block cannot be skipped, the 16-bit copies of its rows are compared first, memory
allowing, and the rows themselves only if these leave two centres possible. Sums change only by rows that switch centre.
"""

from typing import Any

import numpy as np

from ...runtime.threads import spans
from ..base import Floats, Labels
from . import quantized
from .nearest_centers import pack, two_nearest
from .quantized import LANES, UNIT, quantize, two_nearest_quantized
from .simd import finite_part, kernel, part_of_kernel, prefetch_row, wide_vectors
from .staging import Staged, stage

AT_ONCE = 1 << 25  # bytes of rows between two yield points
BLOCK = 512  # rows worked on together: they stay in cache
FLUSH = 4096  # rows summed in their own precision before float64 takes over: float32 drifts at a million
SLACK = 5e-4  # rounding error of a chord near zero, about the square root of float32's epsilon


@finite_part
def _suspects(a: int, b: int, label: Any, moved: Any, farthest: Any, upper: Any, lower: Any, rows: Any) -> int:
    """Change the bounds of rows a..b by the centres' moves; collect the rows whose centre may change."""
    wide_vectors()
    slack = upper.dtype.type(SLACK)
    m = 0
    for i in range(a, b):
        u, l = upper[i] + moved[label[i]], lower[i] - farthest
        upper[i], lower[i] = u, l
        rows[m] = i
        m += u + slack >= l
    return m


@finite_part
def _chords(cosine: Any, m: int) -> None:
    """Turn cosines into chords on the unit sphere, in place."""
    wide_vectors()
    zero, two = cosine.dtype.type(0), cosine.dtype.type(2)  # a plain 2 would take numba to float64
    for z in range(m):
        square = two - two * cosine[z]
        cosine[z] = square if square > zero else zero
    for z in range(m):
        cosine[z] = np.sqrt(cosine[z])


@part_of_kernel
def _dot(x: Any, y: Any) -> Any:
    wide_vectors()
    total = y.dtype.type(0)
    for t in range(y.size):
        total += x[t] * y[t]
    return total


@part_of_kernel
def _hand_over(source: Any, at: int, weight: Any, u: Any, old: int, new: int, partial: Any, mass: Any) -> None:
    """Move u·source[at] and its weight from the sum of centre `old` (none if negative) to that of centre `new`.

    It takes an index instead of a view, because threads would compete for the reference count of a view.
    """
    wide_vectors()
    mass[new] += weight
    for t in range(partial.shape[1]):
        partial[new, t] += u * source[at, t]
    if old >= 0:
        mass[old] -= weight
        for t in range(partial.shape[1]):
            partial[old, t] -= u * source[at, t]


@part_of_kernel
def _settle(partial: Any, sums: Any) -> None:
    """Add the partial sums, in the rows' precision, to the float64 sums, and reset them to 0."""
    for c in range(sums.shape[0]):
        for t in range(sums.shape[1]):
            sums[c, t] += partial[c, t]
            partial[c, t] = 0


@part_of_kernel
def _undecided(high: Any, low: Any, m: int, some: Any) -> int:
    """Collect the rows whose quantized copy cannot decide between two centres; returns how many."""
    n = 0
    for z in range(m):
        some[n] = z
        n += high[z] <= low[z]
    return n


@part_of_kernel
def _changing(rows: Any, m: int, label: Any, where: Any, inverse: Any, first: bool, some: Any, wanted: Any) -> int:
    """Collect the rows that switch centre, as positions in `rows` and as rows of the pool; returns how many."""
    n = 0
    for z in range(m):
        i = rows[z]
        some[n], wanted[n] = z, i  # without a branch, which the CPU could not predict
        n += ((label[i] != where[z]) | first) & (inverse[z] > 0)
    return n


@kernel
def assign_part(
    X: Any, lo: int, hi: int, offset: Any, scale: Any, inverse_norm: Any, weight: Any,
    C: Any, panels: Any, bias: Any, moved: Any, farthest: Any,
    small: Any, small_panels: Any, small_bias: Any, tolerance: float,
    label: Any, upper: Any, lower: Any, sums: Any, mass: Any, first: bool, exact: bool, G: Any, staged: Any,
) -> int:  # fmt: skip
    """Assign rows lo..hi to the nearest of the unit centres C; returns how many rows were undecided after quantizing.

    panels, small_panels : the centres, packed for exact and for quantized rows
    moved, farthest : the chord between each centre and its last position, and the longest of these chords
    small : the quantized rows, or empty
    upper : a bound on each row's chord to its centre; after an `exact` pass the chord itself
    sums, mass : the changes of each centre's weighted sum of unit rows, and of its weight, are added to these
    first : whether this is the first pass: there are no bounds yet, and rows are quantized
    G, staged : scratch for BLOCK rows, and a read-only view of it, whose type is that of X: tiles are compiled once
    """
    wide_vectors()
    k, d = sums.shape
    in_place = offset.size == 0 and X.dtype == C.dtype
    rows, every = np.empty(BLOCK, np.int64), np.arange(BLOCK)
    some, wanted = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)  # positions in `rows`, and rows of X
    best, second, where = np.empty(BLOCK, C.dtype), np.empty(BLOCK, C.dtype), np.empty(BLOCK, np.int32)
    top, runner_up, small_where = np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32), np.empty(BLOCK, np.int32)
    high, low, inverse = np.empty(BLOCK, C.dtype), np.empty(BLOCK, C.dtype), np.empty(BLOCK, C.dtype)
    partial, pending, looks = np.zeros((k, d), C.dtype), 0, 0
    unit, off = C.dtype.type(1 / UNIT**2), C.dtype.type(tolerance)

    for a in range(lo, hi, BLOCK):
        b = min(hi, a + BLOCK)
        m = 0 if first else _suspects(a, b, label, moved, farthest, upper, lower, rows)
        quick = small.size > 0 and (first or exact or 4 * m > b - a)
        if first or exact or quick:
            m = b - a
            for z in range(m):
                rows[z] = a + z
        for z in range(m):
            inverse[z] = inverse_norm[rows[z]]

        n, looked = m, every  # how many rows are compared exactly, and their positions in `rows`
        if quick:
            for z in range(0, m, LANES):
                if first and in_place:
                    quantize(X[a + z : b], min(LANES, m - z), inverse[z:], small, (a + z) // LANES)
                elif first:
                    stage(X, rows[z:], min(LANES, m - z), offset, scale, scale[:0], G)
                    quantize(staged, min(LANES, m - z), inverse[z:], small, (a + z) // LANES)
            two_nearest_quantized(small, a // LANES, m, small_panels, small_bias, top, runner_up, small_where)
            for z in range(m):  # lower bound on the largest cosine, upper bound on all others
                high[z] = (C.dtype.type(top[z]) - off) * unit
                low[z] = (C.dtype.type(runner_up[z]) + off) * unit
            n, looked = _undecided(high, low, m, some), some
            looks += n
        for y in range(n):
            wanted[y] = rows[looked[y]]
        if in_place:
            two_nearest(X, wanted, n, panels, bias, k, best, second, where)
        else:
            stage(X, wanted, n, offset, scale, scale[:0], G)
            two_nearest(staged, every, n, panels, bias, k, best, second, where)
        for y in range(n):
            best[y] *= inverse[looked[y]]
            second[y] *= inverse[looked[y]]
        if quick:
            for y in range(n):
                z = some[y]
                high[z], low[z], small_where[z] = best[y], second[y], where[y]
            if exact:
                if not in_place:
                    stage(X, rows, m, offset, scale, scale[:0], G)
                for z in range(m):
                    row = X[rows[z]] if in_place else staged[z]
                    high[z] = _dot(row, C[small_where[z]]) * inverse[z]
            for z in range(m):
                best[z], second[z], where[z] = high[z], low[z], small_where[z]
        _chords(best, m)
        _chords(second, m)

        for z in range(m):
            upper[rows[z]], lower[rows[z]] = best[z], second[z]
        changed = _changing(rows, m, label, where, inverse, first, some, wanted)
        if not in_place:
            stage(X, wanted, changed, offset, scale, scale[:0], G)
        for y in range(changed):
            if in_place and y + 8 < changed:
                prefetch_row(X, wanted[y + 8])
            z, i = some[y], wanted[y]
            u, old = weight[i] * inverse[z], -1 if first else label[i]
            if in_place:
                _hand_over(X, i, weight[i], u, old, where[z], partial, mass)
            else:
                _hand_over(staged, y, weight[i], u, old, where[z], partial, mass)
            label[i] = where[z]
        pending += changed
        if pending >= FLUSH:
            _settle(partial, sums)
            pending = 0
    _settle(partial, sums)
    return looks


class CpuFitting:
    """The state of spherical k-means, with bounds on the chords from each row to the centres."""

    def __init__(self, points: Staged, k: int, weight: Floats | None = None, quantize: bool = True) -> None:
        """`quantize` allows a 16-bit copy of the rows without a memory limit. It saves time from the second pass on."""
        n, d = points.shape
        self.points = points
        self.inverse_norm = points.unit().factor
        self.weight = np.ones(n, points.dtype) if weight is None else weight.astype(points.dtype)
        self.C = np.zeros((k, d), points.dtype)
        self.label = np.zeros(n, np.int32)
        self.upper, self.lower = np.zeros(n, points.dtype), np.zeros(n, points.dtype)
        self.sums, self.mass = np.zeros((k, d)), np.zeros(k)
        self.first = True
        few = not quantize or points.limit is not None or not quantized.usable(n, d, k)
        self.quantized = quantized.empty_rows(0 if few else n, d)
        # The number of parts depends on the pool alone, so sums do not depend on the number of threads.
        parts = 16 if n < 1 << 21 else 64
        self.parts = spans(n, max(8 * BLOCK, -(-n // (parts * BLOCK)) * BLOCK))
        self.step = max(8, AT_ONCE // (BLOCK * max(1, points.X[:1].nbytes))) * BLOCK

    def assign(self, centers: Floats, exact: bool = False) -> None:
        """One pass with these unit centres. After an exact pass, `upper` holds each row's chord to its centre."""
        C = np.ascontiguousarray(centers, self.points.dtype)
        moved = np.linalg.norm(C.astype(np.float64) - self.C, axis=1)
        moved = (moved * (1 + 1e-6) + 1e-6 * (moved > 0)).astype(C.dtype)
        self.C = C
        tiles = (C, *pack(C), moved, moved.max())
        small = (self.quantized, *quantized.quantize_centers(C), quantized.tolerance(C.shape[1]))

        def part(span: tuple[int, int]) -> tuple[Any, Any, int]:
            sums, mass = np.zeros_like(self.sums), np.zeros_like(self.mass)
            G = np.empty((BLOCK, C.shape[1]), C.dtype)
            staged = G.view()
            staged.flags.writeable = False
            looks = 0
            for lo in range(*span, self.step):
                looks += assign_part(
                    self.points.X, lo, min(span[1], lo + self.step), self.points.offset, self.points.scale,
                    self.inverse_norm, self.weight, *tiles, *small, self.label, self.upper, self.lower, sums, mass,
                    self.first, exact, G, staged,
                )  # fmt: skip
                self.points.yield_point()
            return sums, mass, looks

        looks = 0
        for sums, mass, more in self.points.run_parts(part, self.parts):
            self.sums += sums
            self.mass += mass
            looks += more
        self.first = False
        if looks > len(self.label) / 4:  # too many rows are undecided: the copy costs more than it saves
            self.quantized = quantized.empty_rows(0, C.shape[1])

    def labels(self) -> Labels:
        return self.label

    def chords(self) -> Floats:
        self.assign(self.C, exact=True)
        return self.upper * (self.inverse_norm > 0)
