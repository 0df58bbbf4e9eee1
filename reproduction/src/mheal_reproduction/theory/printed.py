"""Formulas of the paper exactly as printed, which mheal does not use because they do not hold."""

import numpy as np
import numpy.typing as npt

from mheal.algorithms.within_clusters import Kind
from mheal.energy import CLAMP, first_max, squared_chords
from mheal.exceptions import UserError
from mheal.sphere import Float64, Floats, Rows, as_matrix, unit_rows

Seed = int | np.random.Generator | None


def printed_fixed_point(W: npt.ArrayLike) -> Float64:
    """One step of the closed form printed after Eq. 3, (N, d) unit rows: it raises the energy.

    ŵ_i = Σ_j ‖ŵ_i − ŵ_j‖⁻⁴ ŵ_j / Σ_j ‖ŵ_i − ŵ_j‖⁻⁴ makes every point a convex combination of the others,
    which no vertex of their hull can be: it pulls neighbours together.
    """
    U = unit_rows(W)[0].astype(np.float64, copy=False)
    squared = squared_chords(U, U)
    weight = np.where(squared > CLAMP**2, 1 / np.maximum(squared, CLAMP**2) ** 2, 0.0)
    return unit_rows(weight @ U)[0]  # the denominator scales rows only, so normalising removes it


def directions(U: npt.ArrayLike, center: npt.ArrayLike, kind: Kind = "tangent") -> Floats:
    """Unit directions from the centre to each row of U, (n, d); a row at the centre has none and gets 0.

    The paper's γ_c^x is "the geodesic from c to x". "tangent" is where that great circle leaves c, x −
    (xᵀc)c; "chord" is the straight line x − c. Rows of U are unit vectors; the centre is made one.
    """
    U = as_matrix(U)
    c = unit_rows(np.asarray(center, dtype=U.dtype)[None, :])[0][0]
    if kind == "tangent":
        away = U - np.outer(U @ c, c)
    elif kind == "chord":
        away = U - c
    else:
        raise UserError(f"kind must be 'tangent' or 'chord', got {kind!r}")
    D, length = unit_rows(away)
    D[length <= 16 * np.finfo(U.dtype).eps] = 0  # x is the centre but for rounding
    return D


def printed_rotation(U: npt.ArrayLike, center: npt.ArrayLike, m: int = 10, first: int = 0) -> Rows:
    """The m rows that Eq. 11 gives when taken literally; after a few steps they alternate between two rows.

    Each row is the one most opposed to the row before it, so two rows soon become each other's opposite.
    """
    D = directions(U, center)
    rows = np.empty(m, dtype=np.int64)
    current = first
    for t in range(m):
        rows[t] = current
        current = int(first_max(-(D @ D[current]), 8 * float(np.finfo(D.dtype).eps)))
    return rows


def random_projection(
    X: npt.ArrayLike, kappa: int, sigma: float = 1.0, n: float = 1.0, random_state: Seed = None
) -> Floats:
    """XPᵀ, (len(X), kappa): the rows of X under a κ×d matrix P of independent N(0, σ²)/√n entries (Lemma 1).

    Lemma 1 prints the 1/√n and never says what n is. Its bound holds for n = 1 only.
    """
    X = as_matrix(X)
    if kappa < 1:
        raise UserError(f"kappa must be at least 1, got {kappa}")
    P = np.random.default_rng(random_state).normal(scale=sigma, size=(kappa, X.shape[1])) / np.sqrt(n)
    projected: Floats = X @ P.astype(X.dtype).T
    return projected
