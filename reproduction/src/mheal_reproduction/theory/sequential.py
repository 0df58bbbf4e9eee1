"""The greedy product of Eq. 4 and the search for its best start, Algorithm 1."""

from operator import index
from typing import Literal

import numpy as np
import numpy.typing as npt

from mheal.energy import first_max, potential, squared_chords
from mheal.sphere import Float64, Floats, Rows, as_matrix, blocks, unit_rows

from .gradient import TIES

TABLE_ROWS = 4096  # in pools up to this size the chords of all pairs are kept


def sequential(P: npt.ArrayLike, n: int, start: int | Literal["best"] | None = None, unit: bool = True) -> Rows:
    """n rows of P, in pick order: each has the largest product of chords to those before it (Eq. 4).

    `start` is the first pick: a row, None for row 0, or "best" for Algorithm 1, which tries every row and
    keeps the sequence with the largest product of all chords. `unit=False` measures P as it is instead of on
    the sphere. Ties go to the lowest row; if every remaining row coincides with a pick, the lowest one is picked.
    With M rows the cost is O(Mnd), not the O(Mn²) of the paper, because each row keeps a running sum of its log
    chords.

    >>> sequential([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.1]], 2)
    array([0, 2])
    """
    U = pool_rows(P, n, unit)
    if start == "best":
        first = _best(U, n)[0]
    else:
        first = start_row(0 if start is None else start, len(U))
    return greedy(U, np.array([first]), n)[0][0]


def best_start(P: npt.ArrayLike, n: int, unit: bool = True, *, table_rows: int = TABLE_ROWS) -> tuple[int, float]:
    """(row, log L): the row of P whose greedy sequence of n has the largest product L of chords (Eq. 5).

    Ties go to the lowest row; log L is −inf when n picks cannot all differ. O(M²n) after O(M²d) for a pool
    whose table of chords fits into memory, O(M²nd) beyond.
    """
    return _best(pool_rows(P, n, unit), n, table_rows)


def greedy(U: Floats, starts: Rows, n: int, s: float = 0.0, table: Float64 | None = None) -> tuple[Rows, Float64]:
    """Rows (len(starts), n) of U picked to keep E_s small, one sequence per start, and minus their energies.

    Eq. 4 is s = 0, where minus the energy is the log-product. `table` may hold −f_s for all pairs.
    """
    norms = np.einsum("ij,ij->i", U, U)
    lanes = np.arange(len(starts))
    rows = np.empty((len(starts), n), dtype=np.int64)
    rows[:, 0] = newest = starts
    score, total = np.zeros((len(starts), len(U))), np.zeros(len(starts))
    for t in range(1, n):
        # A pick is at chord 0 from itself, so its score is −inf from here on, as is that of its duplicates.
        score += table[newest] if table is not None else -potential(squared_chords(U[newest], U, norms), s)
        best = score.max(axis=1)
        newest = first_max(score, TIES * np.maximum(np.abs(best), s == 0))  # sums of logs may cancel to 0
        for lane in np.flatnonzero(best == -np.inf):
            left = np.ones(len(U), dtype=bool)
            left[rows[lane, :t]] = False
            newest[lane] = left.argmax()
        rows[:, t] = newest
        total += score[lanes, newest]
    return rows, total


def pool_rows(P: npt.ArrayLike, n: int, unit: bool) -> Floats:
    """Check that P is finite and has n rows; return its rows, scaled to unit length if `unit`."""
    U = as_matrix(P)
    if not 1 <= n <= len(U):
        raise ValueError(f"n must be between 1 and the {len(U)} rows of the pool, got {n}")
    if not np.isfinite(U).all():
        raise ValueError("the pool holds NaN or infinite values: drop or fill those rows first")
    return unit_rows(U)[0] if unit else U


def start_row(start: int | str, n_rows: int) -> int:
    """Check that `start` is a row, and return it."""
    if isinstance(start, str) or not 0 <= index(start) < n_rows:
        raise ValueError(f"start must be a row between 0 and {n_rows - 1}, None or 'best', got {start!r}")
    return index(start)


def _best(U: Floats, n: int, table_rows: int = TABLE_ROWS) -> tuple[int, float]:
    """Algorithm 1, all starts of a block at once, so that BLAS does the work."""
    M = len(U)
    table = None
    if table_rows >= M:  # M starts of n steps look at the same M² chords
        table = np.concatenate([-potential(squared_chords(U[part], U), 0.0) for part in blocks(M, M)])
    total = np.concatenate([greedy(U, np.arange(M)[part], n, 0.0, table)[1] for part in blocks(M, M)])
    row = int(first_max(total, TIES * max(1.0, abs(float(total.max())))))
    return row, float(total[row])
