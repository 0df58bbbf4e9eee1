"""The rows that §7.3 calls inside and outside the version space, by the energy of their neighbourhood."""

from math import floor

import numpy as np
import numpy.typing as npt
from sklearn.neighbors import NearestNeighbors

from mheal.energy import CLAMP, potential
from mheal.exceptions import UserError

from ...report import Floats


def neighbourhood_energy(X2d: npt.ArrayLike, neighbours: int = 5) -> Floats:
    """E_0 of each row of X2d among its nearest neighbours: −Σ log‖x_i − x_j‖, duplicates clamped.

    The energy is large where neighbours are close. So its top 30 % are the densest rows, not the boundary, as the paper
    assumes.
    """
    X2d = np.asarray(X2d)
    if not 1 <= neighbours < len(X2d):
        raise UserError(f"neighbours must be between 1 and {len(X2d) - 1}, got {neighbours}")
    distances, _ = NearestNeighbors(n_neighbors=neighbours).fit(X2d).kneighbors()
    return potential(np.maximum(distances.astype(np.float64), CLAMP) ** 2, 0).sum(axis=1)


def split(energy: npt.ArrayLike, share: float = 0.3, groups: npt.ArrayLike | None = None) -> npt.NDArray[np.bool_]:
    """Which rows are "in": the `share` of largest energy, of all rows or within each group; ties go to the lowest row.

    The other sign, in which the sparse rows are "in", is split(-energy).
    """
    energy = np.asarray(energy, np.float64)
    groups = np.zeros(len(energy), np.int64) if groups is None else np.asarray(groups)
    inside = np.zeros(len(energy), bool)
    for group in np.unique(groups):
        rows = np.flatnonzero(groups == group)
        inside[rows[np.argsort(-energy[rows], kind="stable")[: floor(share * len(rows) + 0.5)]]] = True
    return inside
