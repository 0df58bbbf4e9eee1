"""Spherical clusters, and the tube B(c, r) ∖ B(c, r − γ) that represents their boundary (§3.1 and §5.1).

Distances from the centre are angles on the unit sphere, the paper's geodesics. The paper sets neither r nor γ. Here r
is the largest angle of a member, or a quantile of the angles, so that an outlier does not decide. γ is set so that the
tube has a given share of the members, such as the 30 % of §7.3.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mheal.exceptions import UserError
from mheal.sphere import Float64, unit_rows

Mask = npt.NDArray[np.bool_]


class SphericalCluster(NamedTuple):
    """A ball B(c, r) on the sphere, and the width γ of its tube; angles in radians."""

    center: Float64
    radius: float
    width: float

    @classmethod
    def of(cls, members: npt.ArrayLike, share: float = 0.3, quantile: float = 1.0) -> "SphericalCluster":
        """The cluster of these rows: the direction of their mean (Eq. 9), and a tube that holds `share` of them.

        The radius is this quantile of their angles from the centre; 1 is the farthest member.
        """
        if not (0 < share <= 1 and 0 < quantile <= 1):
            raise UserError(f"share and quantile must be in (0, 1], got {share} and {quantile}")
        U = unit_rows(np.asarray(members, np.float64))[0]
        center = unit_rows(U.mean(axis=0)[None])[0][0]
        found = angles(U, center)
        radius = float(np.quantile(found, quantile))
        inner = float(np.quantile(found[found <= radius], 1 - share))
        return cls(center, radius, radius - inner)

    def ball(self, rows: npt.ArrayLike) -> Mask:
        """Which rows are in B(c, r)."""
        return angles(rows, self.center) <= self.radius

    def tube(self, rows: npt.ArrayLike) -> Mask:
        """Which rows are in B(c, r) but not in B(c, r − γ)."""
        found = angles(rows, self.center)
        return (found <= self.radius) & (found > self.radius - self.width)


def angles(rows: npt.ArrayLike, center: npt.ArrayLike) -> Float64:
    """The angle between each row and the centre: the length of the geodesic between them on the unit sphere."""
    U, c = unit_rows(np.asarray(rows, np.float64))[0], unit_rows(np.asarray(center, np.float64)[None])[0][0]
    along = U @ c
    across = np.linalg.norm(U - np.outer(along, c), axis=1)
    return np.arctan2(across, along)  # exact for small angles, where the arc cosine is not


def boundary_width(rows: npt.ArrayLike, labels: npt.ArrayLike) -> float:
    """The smallest γ of Assumption 1.2: the distance of the two nearest rows with different labels."""
    X, y = np.asarray(rows, np.float64), np.asarray(labels)
    found = np.inf
    for label in np.unique(y):
        mine, others = X[y == label], X[y != label]
        squared = (mine**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * mine @ others.T
        i, j = np.unravel_index(squared.argmin(), squared.shape)
        found = min(found, float(np.linalg.norm(mine[i] - others[j])))
    return found
