"""The logarithm of the product of all chords (Eq. 2), and the gradient of the hyperspherical energy (Eq. 3)."""

import numpy as np
import numpy.typing as npt

from mheal.energy import CLAMP, hyperspherical_energy, potential, squared_chords
from mheal.sphere import Float64, blocks, unit_rows

TIES = 1e-12  # scores closer than this (relatively) differ by rounding only


def log_product(W: npt.ArrayLike) -> float:
    """log L, the sum of the log chords of all pairs (Eq. 2 and 5): minus E_0, so larger is better.

    The product itself leaves the range of float64 within a few hundred points.
    """
    return -hyperspherical_energy(W, s=0.0)


def energy_gradient(W: npt.ArrayLike, s: float = 2.0) -> Float64:
    """∇E_s with respect to each unit row of W, (N, d); s = 2 is Eq. 3.

    Σ_j −s (ŵ_i − ŵ_j) / ‖ŵ_i − ŵ_j‖^{s+2}, with 1 in place of s for s = 0. Between coincident rows the gradient is
    taken as 0.
    """
    if s < 0:
        raise ValueError(f"s must be at least 0, got {s}")
    U = unit_rows(W)[0].astype(np.float64, copy=False)
    gradient = np.empty_like(U)
    for rows in blocks(len(U), len(U)):
        sq = squared_chords(U[rows], U)
        weight = np.where(sq > CLAMP**2, potential(np.maximum(sq, CLAMP**2), s + 2), 0.0)  # 0: coincident rows
        gradient[rows] = weight @ U - weight.sum(axis=1)[:, None] * U[rows]
    return (s or 1.0) * gradient


def riemannian_gradient(W: npt.ArrayLike, s: float = 2.0) -> Float64:
    """∇E_s along the sphere, (N, d): the part of `energy_gradient` tangent to it at each unit row."""
    U = unit_rows(W)[0]
    gradient = energy_gradient(U, s)
    return gradient - np.einsum("ij,ij->i", gradient, U)[:, None] * U
