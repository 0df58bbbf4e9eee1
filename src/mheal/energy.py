"""Hyperspherical energy (Eq. 1), a sum over pairs of rows of a potential of their distance."""

import numpy as np
import numpy.typing as npt

from .backends.cpu.distances import exact_squared_distances
from .exceptions import UserError
from .sphere import Float64, Floats, Rows, as_matrix, blocks, unit_rows

CLAMP = 1e-12  # shorter chords are replaced by this one: the energy of two equal points would be infinite
squared_chords = exact_squared_distances  # ‖a − b‖² of every two rows, without cancellation


def potential(sq: Float64, s: float) -> Float64:
    """f_s of Eq. 1 at squared chords: chord^−s, or −log chord for s = 0; +inf at chord 0."""
    _check_s(s)
    with np.errstate(divide="ignore", over="ignore"):
        energy: Float64 = -0.5 * np.log(sq) if s == 0 else (1.0 / sq) ** (s / 2)
    return energy


def first_max(score: Floats, tol: float | Floats = 0.0) -> Rows:
    """The lowest index along the last axis whose score is within `tol` of the maximum.

    The tolerance breaks ties by index, not by rounding errors, which depend on BLAS.
    """
    best = score.max(axis=-1)
    return (score >= (best - tol)[..., None]).argmax(axis=-1)


def hyperspherical_energy(W: npt.ArrayLike, s: float = 0.0, mean: bool = False, normalize: bool = True) -> float:
    """E_s of Eq. 1: the sum of f_s over the unordered pairs of rows of W, (n, d); with `mean=True` their average.

    The printed double sum includes i = j, where f is infinite. Here only i > j count, as in the paper's second line.
    Rows are projected to the unit sphere unless `normalize=False`. Distances are computed in blocks of rows.

    >>> hyperspherical_energy([[3.0, 0.0], [-1.0, 0.0]], s=2)
    0.25
    """
    _check_s(s)
    U = unit_rows(W)[0] if normalize else as_matrix(W)
    n, norms = len(U), np.einsum("ij,ij->i", U, U)
    if n < 2:
        return 0.0  # no pairs
    total = 0.0
    for rows in blocks(n, n):
        sq = squared_chords(U[rows], U[rows.start :], norms[rows.start :])
        energy = potential(np.maximum(sq, CLAMP**2), s)
        energy[np.tril_indices(len(energy))] = 0.0  # keeps j > i
        total += float(energy.sum())
    return total / (n * (n - 1) / 2) if mean else total


def _check_s(s: float) -> None:
    if not 0 <= s < np.inf:
        raise UserError(f"s must be at least 0 and finite, got {s}")
