"""The ℓ1 and ℓ2 alternatives to max-min: greedy search for low Riesz energy in a pool, and descent on the sphere."""

import numpy as np
import numpy.typing as npt

from mheal.energy import hyperspherical_energy, potential, squared_chords
from mheal.sphere import Float64, Floats, Rows, blocks, unit_rows

from .gradient import TIES, riemannian_gradient
from .printed import Seed
from .sequential import greedy, pool_rows, start_row


def riesz_search(
    P: npt.ArrayLike,
    n: int,
    s: float = 1.0,
    start: int | None = None,
    swaps: int = 0,
    random_state: Seed = None,
    unit: bool = True,
) -> Rows:
    """n rows of P of low energy E_s (Eq. 1), in pick order: each adds the least energy to those before it.

    The first row is `start`, or random. After n picks, `swaps` random exchanges of a pick for another row are tried,
    and kept if they lower the energy. Ties go to the lowest row; if every remaining row coincides with a pick, the
    lowest one is picked.
    """
    U = pool_rows(P, n, unit)
    rng = np.random.default_rng(random_state)
    first = int(rng.integers(len(U))) if start is None else start_row(start, len(U))
    rows = greedy(U, np.array([first]), n, s)[0][0]
    return _swap(U, rows, s, swaps, rng) if n < len(U) else rows


def riesz_descent(
    n: int,
    d: int,
    s: float = 2.0,
    steps: int = 2000,
    lr: float | None = None,
    init: npt.ArrayLike | None = None,
    tol: float = 1e-9,
    clip: float | None = None,
    random_state: Seed = None,
) -> Float64:
    """n unit points of R^d, (n, d), at a local minimum of E_s: Riemannian gradient descent with backtracking.

    No step raises the energy. `lr` is the longest step (None: as long as it pays), `clip` caps the length of
    each point's gradient, which grows like chord^−(s+1), and the descent ends when no gradient is longer than
    `tol`. The closed form printed after Eq. 3 raises the energy instead.
    """
    if n < 1 or d < 1:
        raise ValueError(f"needs at least one point and one dimension, got n={n}, d={d}")
    if lr is not None and lr <= 0:
        raise ValueError(f"lr must be positive, got {lr}")
    points = np.random.default_rng(random_state).normal(size=(n, d)) if init is None else np.array(init, float)
    if points.shape != (n, d):
        raise ValueError(f"init must have the shape ({n}, {d}), got {points.shape}")
    W = unit_rows(points)[0]
    energy, step = hyperspherical_energy(W, s), lr or 1.0
    for _ in range(steps):
        slope = riemannian_gradient(W, s)
        length = np.linalg.norm(slope, axis=1, keepdims=True)
        if length.max() <= tol:
            break
        move = slope if clip is None else slope * (clip / np.maximum(length, clip))
        descent = float((slope * move).sum())
        while True:
            trial = unit_rows(W - step * move)[0]
            lower = hyperspherical_energy(trial, s)
            if lower <= energy - 1e-4 * step * descent:  # Armijo
                break
            step /= 2
            if step * float(length.max()) < 1e-16:  # below rounding: this is the minimum
                return W
        W, energy = trial, lower
        step = 2 * step if lr is None else min(2 * step, lr)
    return W


def snap(points: npt.ArrayLike, P: npt.ArrayLike) -> Rows:
    """The row of P nearest to each point on the sphere, no row twice: earlier points choose first."""
    W = unit_rows(points)[0]
    U = pool_rows(P, len(W), unit=True)
    norms = np.einsum("ij,ij->i", U, U)
    rows = np.empty(len(W), dtype=np.int64)
    for part in blocks(len(W), len(U)):
        sq = squared_chords(W[part], U, norms)
        for i, distances in enumerate(sq, start=part.start):
            distances[rows[:i]] = np.inf
            rows[i] = distances.argmin()
    return rows


def _swap(U: Floats, rows: Rows, s: float, swaps: int, rng: np.random.Generator) -> Rows:
    """Rows after `swaps` proposed exchanges, each judged by the n − 1 pairs it changes."""
    outside = np.setdiff1d(np.arange(len(U)), rows)
    for _ in range(swaps):
        i, j = int(rng.integers(len(rows))), int(rng.integers(len(outside)))
        pair = U[[rows[i], outside[j]]]
        old, new = potential(squared_chords(pair, U[np.delete(rows, i)]), s).sum(axis=1)
        if new + TIES * abs(new) < old:  # a gain beyond rounding
            rows[i], outside[j] = outside[j], rows[i]
    return rows
