"""One assignment pass of spherical k-means, exact, with bounds that skip most of the work.

Rows need not be unit: a row's cosine is its dot product times `inverse_norm`. Each point keeps an
upper bound on the chord to its own centre and, for each group of centres, a lower bound on the chord
to the nearest other centre of that group (Hamerly 2010 with one group, Yinyang with several). When
centres move, the bounds move by the same chord, and a point whose own centre is still nearer than
every lower bound is not even read. Sums are corrected only for points that changed their centre.
"""

from typing import Any

import numpy as np

from .points import stage
from .simd import kernel, prefetch_row, wide_vectors

BLOCK = 512  # rows worked on together: their scores stay in cache
NARROW = 16  # up to this many centres, registers beat a BLAS call
LEAST = -1e30  # less than any dot product
SLACK = 5e-4  # rounding of a chord near zero: the root of float32's epsilon


@kernel
def dots_narrow(X: Any, rows: Any, n: int, C: Any, S: Any) -> None:
    """S[j, z] = X[rows[z]]·C[j], two rows by five centres at a time in registers."""
    wide_vectors()
    k, d = C.shape
    zero = C.dtype.type(0)
    for z in range(0, n - 1, 2):
        a, b = rows[z], rows[z + 1]
        if z + 17 < n:
            prefetch_row(X, rows[z + 16])
            prefetch_row(X, rows[z + 17])
        j = 0
        while j + 5 <= k:
            s0 = s1 = s2 = s3 = s4 = u0 = u1 = u2 = u3 = u4 = zero
            for t in range(d):
                x, y = X[a, t], X[b, t]
                s0 += x * C[j, t]
                s1 += x * C[j + 1, t]
                s2 += x * C[j + 2, t]
                s3 += x * C[j + 3, t]
                s4 += x * C[j + 4, t]
                u0 += y * C[j, t]
                u1 += y * C[j + 1, t]
                u2 += y * C[j + 2, t]
                u3 += y * C[j + 3, t]
                u4 += y * C[j + 4, t]
            S[j, z] = s0
            S[j + 1, z] = s1
            S[j + 2, z] = s2
            S[j + 3, z] = s3
            S[j + 4, z] = s4
            S[j, z + 1] = u0
            S[j + 1, z + 1] = u1
            S[j + 2, z + 1] = u2
            S[j + 3, z + 1] = u3
            S[j + 4, z + 1] = u4
            j += 5
        while j < k:
            s0 = u0 = zero
            for t in range(d):
                s0 += X[a, t] * C[j, t]
                u0 += X[b, t] * C[j, t]
            S[j, z] = s0
            S[j, z + 1] = u0
            j += 1
    if n % 2:
        a = rows[n - 1]
        for j in range(k):
            s0 = zero
            for t in range(d):
                s0 += X[a, t] * C[j, t]
            S[j, n - 1] = s0


@kernel
def _top_two(S: Any, n: int, best: Any, second: Any, where: Any) -> None:
    """Largest and second largest down each column of S: this way round it vectorises over the points."""
    wide_vectors()
    for z in range(n):
        best[z] = S[0, z]
        second[z] = S.dtype.type(LEAST)
        where[z] = 0
    for j in range(1, S.shape[0]):
        s = S[j]
        for z in range(n):
            v, b = s[z], best[z]
            larger = v > b
            loser = b if larger else v
            second[z] = loser if loser > second[z] else second[z]
            best[z] = v if larger else b
            where[z] = np.int32(j) if larger else where[z]


@kernel
def _chord(cosine: Any, two: Any) -> Any:
    """Chord between two unit vectors with this cosine; `two` is 2 in its own type, lest numba go to float64."""
    return np.sqrt(max(two - two * cosine, two - two))


@kernel
def _settle_all(
    rows: Any, m: int, inverse: Any, group_start: Any, best: Any, second: Any, where: Any, cosine: Any,
    center: Any, lower: Any,
) -> None:  # fmt: skip
    """The winner among the best of all groups, and every group's bound: its best, or second best if it won."""
    wide_vectors()
    groups = len(group_start) - 1
    zero, two = lower.dtype.type(0), lower.dtype.type(2)
    for z in range(m):
        cosine[z] = best[0, z]
        center[z] = where[0, z]
    for g in range(1, groups):
        b, w, c0 = best[g], where[g], np.int32(group_start[g])
        for z in range(m):
            larger = b[z] > cosine[z]
            cosine[z] = b[z] if larger else cosine[z]
            center[z] = c0 + w[z] if larger else center[z]
    for z in range(m):
        cosine[z] *= inverse[z]
    for g in range(groups):
        b, s, bound = best[g], second[g], lower[g]
        c0, c1 = np.int32(group_start[g]), np.int32(group_start[g + 1])
        for z in range(m):
            first, other = b[z], s[z]  # both are loaded: a conditional load would not vectorise
            won = (c0 <= center[z]) & (center[z] < c1)
            square = two - two * ((other if won else first) * inverse[z])
            b[z] = square if square > zero else zero
        for z in range(m):
            b[z] = np.sqrt(b[z])
        for z in range(m):
            bound[rows[z]] = b[z]


@kernel
def _settle_group(
    picked: Any, n: int, rows: Any, inverse: Any, g: int, c0: int, group_of: Any, best: Any, second: Any,
    where: Any, cosine: Any, center: Any, lower: Any,
) -> None:  # fmt: skip
    """Let the best centre of group g compete for each row rows[picked[y]], and renew the group's bound."""
    two = lower.dtype.type(2)
    for y in range(n):
        z = picked[y]
        i = rows[z]
        v1, v2 = best[y] * inverse[z], second[y] * inverse[z]
        c, old = c0 + where[y], center[z]
        if c == old:
            cosine[z] = v1
            lower[g, i] = _chord(v2, two)
        elif v1 > cosine[z]:
            h = group_of[old]
            if h != g:  # the dethroned centre is now one of the others of its own group
                lower[h, i] = min(lower[h, i], _chord(cosine[z], two))
            cosine[z], center[z] = v1, c
            lower[g, i] = _chord(v2, two)
        else:
            lower[g, i] = _chord(v1, two)


@kernel
def _suspects(
    a: int, b: int, label: Any, moved: Any, group_moved: Any, upper: Any, lower: Any, nearest: Any, rows: Any
) -> int:
    """Move the bounds of rows a..b along with the centres; collect the rows that may have a new centre."""
    wide_vectors()
    slack = upper.dtype.type(SLACK)
    n = b - a
    for z in range(n):
        nearest[z] = 4
    for g in range(lower.shape[0]):
        bound, step = lower[g, a:b], group_moved[g]
        for z in range(n):
            v = bound[z] - step
            bound[z] = v
            nearest[z] = v if v < nearest[z] else nearest[z]
    m = 0
    for z in range(n):
        u = upper[a + z] + moved[label[a + z]]
        upper[a + z] = u
        rows[m] = a + z
        m += u + slack >= nearest[z]
    return m


@kernel
def _tighten(
    rows: Any, m: int, inverse: Any, G: Any, C: Any, group_start: Any, label: Any, upper: Any, lower: Any,
    cosine: Any, center: Any, reach: Any,
) -> tuple[int, int]:  # fmt: skip
    """Make `upper` exact and keep only the rows that some group can still win; returns how many, and the dots due."""
    wide_vectors()
    d = C.shape[1]
    slack, two = upper.dtype.type(SLACK), upper.dtype.type(2)
    for z in range(m):
        i = rows[z]
        x, c = G[z], C[label[i]]
        s = C.dtype.type(0)
        for t in range(d):
            s += x[t] * c[t]
        cosine[z], center[z] = s * inverse[z], label[i]
        upper[i] = _chord(cosine[z], two)
        reach[z] = upper[i] + slack
    kept = 0
    work = 0
    for z in range(m):
        i = rows[z]
        wanted = 0
        for g in range(lower.shape[0]):
            wanted += (group_start[g + 1] - group_start[g]) * (lower[g, i] <= reach[z])
        if wanted:
            work += wanted
            if kept != z:
                rows[kept], cosine[kept], center[kept], reach[kept] = i, cosine[z], center[z], reach[z]
                inverse[kept] = inverse[z]
                G[kept] = G[z]
            kept += 1
    return kept, work


@kernel
def _add(total: Any, row: Any, u: Any) -> None:
    """total += u·row, in float64: float32 sums drift at a million rows."""
    wide_vectors()
    for t in range(total.size):
        total[t] += u * row[t]


@kernel
def assign_part(
    X: Any, lo: int, hi: int, offset: Any, scale: Any, inverse_norm: Any, weight: Any,
    C: Any, group_start: Any, group_of: Any, moved: Any, group_moved: Any,
    label: Any, upper: Any, lower: Any, sums: Any, mass: Any, first: bool, exact: bool,
) -> None:  # fmt: skip
    """Assign rows lo..hi to the nearest of the unit centres C, which stand sorted by group.

    `moved` and `group_moved` are the chords the centres have gone since the last pass. `sums` and `mass`
    receive the change of each centre's weighted sum of unit rows and of its weight. In the `first` pass there are
    no bounds yet; after an `exact` one, `upper` is the chord itself and not only a bound on it.
    """
    k, d = C.shape
    groups = len(group_start) - 1
    in_place = offset.size == 0 and k <= NARROW and X.dtype == C.dtype
    rows, every = np.empty(BLOCK, np.int64), np.arange(BLOCK)
    G, H = np.empty((BLOCK, d), C.dtype), np.empty((1 if groups == 1 else BLOCK, d), C.dtype)
    scores = np.empty(BLOCK * k, C.dtype)
    best, second = np.empty((groups, BLOCK), C.dtype), np.empty((groups, BLOCK), C.dtype)
    where, center = np.empty((groups, BLOCK), np.int32), np.empty(BLOCK, np.int32)
    cosine, picked, nearest = np.empty(BLOCK, C.dtype), np.empty(BLOCK, np.int64), np.empty(BLOCK, C.dtype)
    inverse, reach = np.empty(BLOCK, C.dtype), np.empty(BLOCK, C.dtype)
    two, sparing = C.dtype.type(2), True

    for a in range(lo, hi, BLOCK):
        # 1. Which rows may have a new centre?
        b = min(hi, a + BLOCK)
        m = 0 if first else _suspects(a, b, label, moved, group_moved, upper, lower, nearest, rows)
        if first or exact:
            m = b - a
            for z in range(m):
                rows[z] = a + z
        if not in_place:
            stage(X, rows, m, offset, scale, scale[:0], G)

        for z in range(m):
            inverse[z] = inverse_norm[rows[z]]

        # 2. With several groups, one exact dot with the own centre spares most of the others: where it does
        # not (the first block tells), it is left out.
        work = m * k
        if groups > 1 and not first and (exact or sparing):
            m, work = _tighten(rows, m, inverse, G, C, group_start, label, upper, lower, cosine, center, reach)
            sparing = 3 * work < (b - a) * k
        if m == 0:
            continue

        # 3. Scores against all centres at once, or group by group where few are wanted.
        if 3 * work >= m * k:
            S = scores[: k * m].reshape((k, m))
            if in_place:
                dots_narrow(X, rows, m, C, S)
            elif k <= NARROW:
                dots_narrow(G, every, m, C, S)
            else:
                np.dot(C, G[:m].T, S)
            for g in range(groups):
                _top_two(S[group_start[g] : group_start[g + 1]], m, best[g], second[g], where[g])
            _settle_all(rows, m, inverse, group_start, best, second, where, cosine, center, lower)
        else:
            for g in range(groups):
                c0, c1 = group_start[g], group_start[g + 1]
                n = 0
                for z in range(m):
                    picked[n] = z
                    n += lower[g, rows[z]] <= reach[z]
                if n == 0:
                    continue
                S = scores[: (c1 - c0) * n].reshape((c1 - c0, n))
                if c1 - c0 <= NARROW:
                    dots_narrow(G, picked, n, C[c0:c1], S)
                else:
                    for y in range(n):
                        H[y] = G[picked[y]]
                    np.dot(C[c0:c1], H[:n].T, S)
                _top_two(S, n, best[0], second[0], where[0])
                _settle_group(picked, n, rows, inverse, g, c0, group_of, best[0], second[0], where[0],
                              cosine, center, lower)  # fmt: skip

        # 4. Correct the sums for rows that changed hands.
        for z in range(m):
            i = rows[z]
            upper[i] = _chord(cosine[z], two)
            old, new = label[i], center[z]
            label[i] = new
            if (old != new or first) and inverse[z] > 0:
                w = np.float64(weight[i])
                mass[new] += w
                _add(sums[new], X[i] if in_place else G[z], w * inverse[z])
                if not first:
                    mass[old] -= w
                    _add(sums[old], X[i] if in_place else G[z], -w * inverse[z])
