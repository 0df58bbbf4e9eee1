"""One assignment pass of spherical k-means, exact, with bounds that skip rows.

Rows need not be unit: a row's cosine is its dot product times `inverse_norm`. Each row keeps an upper bound
on the chord to its own centre and a lower bound on the chord to every other one (Hamerly 2010). When centres move, the
bounds move by the same chord, and a row whose own centre is still nearer than any other can be is not
even read. Sums are corrected only for rows that changed hands.
"""

from typing import Any

import numpy as np

from .nearest import two_nearest
from .points import stage
from .simd import finite_kernel, kernel, wide_vectors

BLOCK = 512  # rows worked on together: they stay in cache
FLUSH = 4096  # rows summed in their own precision before float64 takes over: float32 drifts at a million
SLACK = 5e-4  # rounding of a chord near zero: the root of float32's epsilon


@finite_kernel
def _suspects(a: int, b: int, label: Any, moved: Any, farthest: Any, upper: Any, lower: Any, rows: Any) -> int:
    """Move the bounds of rows a..b along with the centres; collect the rows that may have a new centre."""
    wide_vectors()
    slack = upper.dtype.type(SLACK)
    m = 0
    for i in range(a, b):
        u, l = upper[i] + moved[label[i]], lower[i] - farthest
        upper[i], lower[i] = u, l
        rows[m] = i
        m += u + slack >= l
    return m


@finite_kernel
def _chords(score: Any, inverse: Any, m: int) -> None:
    """Turn dot products into chords on the unit sphere, in place."""
    wide_vectors()
    zero, two = score.dtype.type(0), score.dtype.type(2)  # a plain 2 would take numba to float64
    for z in range(m):
        square = two - two * (score[z] * inverse[z])
        score[z] = square if square > zero else zero
    for z in range(m):
        score[z] = np.sqrt(score[z])


@kernel
def _add(total: Any, row: Any, u: Any) -> None:
    """total += u·row."""
    wide_vectors()
    for t in range(total.size):
        total[t] += u * row[t]


@kernel
def assign_part(
    X: Any, lo: int, hi: int, offset: Any, scale: Any, inverse_norm: Any, weight: Any,
    panels: Any, bias: Any, moved: Any, farthest: Any,
    label: Any, upper: Any, lower: Any, sums: Any, mass: Any, first: bool, exact: bool, G: Any, staged: Any,
) -> None:  # fmt: skip
    """Assign rows lo..hi to the nearest of the unit centres packed in `panels`.

    `moved` are the chords that the centres have gone since the last pass, `farthest` the longest of them. `sums` and
    `mass` receive the change of each centre's weighted sum of unit rows and of its weight. In the `first` pass
    there are no bounds yet; after an `exact` one, `upper` is the chord itself and not only a bound on it. G is scratch
    for BLOCK rows, `staged` a read-only view of it: of the type of X, so that the tiles are compiled once.
    """
    wide_vectors()
    k, d = sums.shape
    in_place = offset.size == 0 and X.dtype == panels.dtype
    rows, every, movers = np.empty(BLOCK, np.int64), np.arange(BLOCK), np.empty(BLOCK, np.int64)
    best, second = np.empty(BLOCK, panels.dtype), np.empty(BLOCK, panels.dtype)
    inverse, where = np.empty(BLOCK, panels.dtype), np.empty(BLOCK, np.int32)
    partial, pending = np.zeros((k, d), panels.dtype), 0

    for a in range(lo, hi, BLOCK):
        b = min(hi, a + BLOCK)
        m = 0 if first else _suspects(a, b, label, moved, farthest, upper, lower, rows)
        if first or exact:
            m = b - a
            for z in range(m):
                rows[z] = a + z
        if in_place:
            two_nearest(X, rows, m, panels, bias, k, best, second, where)
        else:
            stage(X, rows, m, offset, scale, scale[:0], G)
            two_nearest(staged, every, m, panels, bias, k, best, second, where)
        for z in range(m):
            inverse[z] = inverse_norm[rows[z]]
        _chords(best, inverse, m)
        _chords(second, inverse, m)
        changed = 0
        for z in range(m):
            i = rows[z]
            upper[i], lower[i] = best[z], second[z]
            movers[changed] = z  # no branch: who changes hands is not predictable
            changed += ((label[i] != where[z]) | first) & (inverse[z] > 0)
        for y in range(changed):
            z = movers[y]
            i = rows[z]
            row, u = X[i] if in_place else staged[z], weight[i] * inverse[z]
            mass[where[z]] += weight[i]
            _add(partial[where[z]], row, u)
            if not first:
                mass[label[i]] -= weight[i]
                _add(partial[label[i]], row, -u)
            label[i] = where[z]
        pending += changed
        if pending >= FLUSH or (pending > 0 and b == hi):
            for c in range(k):
                for t in range(d):
                    sums[c, t] += partial[c, t]
                    partial[c, t] = 0
            pending = 0
