"""The density charge: what makes a minimum-energy design follow the data instead of its outliers.

Give point i the charge q_i = r_i^{1/(2p)}, r_i its local spacing, and minimise Σ (q_i q_j / |x_i − x_j|)^s. For
large s the greedy step is again a max-min, of |x − w| / (q_x q_w) (minimum-energy designs, Joseph et al. 2015).
p → ∞ is the paper; p = 1 measures every distance in units of √(r_i r_j); below 1 the picks collapse
into the densest region.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backends.cpu.points import Points
from ..cluster.sampled import SAMPLE, auto_clusters, sampled_clusters
from ..cluster.spherical import SphericalKMeans
from ..energy import CLAMP, potential, squared_chords
from ..exceptions import UserError
from ..runtime.threads import single_threaded_blas
from ..sphere import blocks
from ..validation import as_budget, as_labeled, as_pool, as_start
from .farthest_first import traverse
from .local_spacing import local_spacing

POWER = 1.25
TRIM = 0.05
FLOOR = 0.01  # of the median spacing: dozens of duplicates would otherwise have an infinite density
DEMOTED = 1e-6  # what is left of the weight of a row that must wait


class Charge(NamedTuple):
    """1/q² of each row: what squared distances are multiplied by, at either end."""

    weight: npt.NDArray[Any]  # of a row that is labelled or picked
    candidate: npt.NDArray[Any]  # of a row that may be picked

    def take(self, rows: npt.NDArray[np.int64]) -> "Charge":
        """The charge of these rows alone."""
        return Charge(self.weight[rows], self.candidate[rows])

    def times(self, worth: npt.NDArray[np.float64]) -> "Charge":
        """The same, but distances from candidates count times their worth; those of none come last."""
        least = np.maximum(worth, np.sqrt(DEMOTED))
        return Charge(self.weight, (self.candidate * (least * least)).astype(self.candidate.dtype))


def charge_of(spacing: npt.NDArray[Any], p: float = POWER, trim: float = TRIM) -> Charge:
    """The charge that follows from each row's local spacing; the median row has weight 1.

    The sparsest rows, a share `trim` of all, are picked only when nothing else is left.
    """
    if not p > 0:
        raise UserError(f"the power p of the charge must be positive, got {p!r}")
    if not 0 <= trim < 1:
        raise UserError(f"trim must be a share between 0 and 1, got {trim!r}")
    return charge_at(spacing, p, *levels_of(spacing, trim))


def levels_of(spacing: npt.NDArray[Any], trim: float) -> tuple[float, Any]:
    """What a pool's charge is measured by: the typical spacing, and the one above which rows must wait."""
    typical = float(np.median(spacing))
    if typical == 0:
        typical = float(np.max(spacing)) or 1.0
    return typical, np.quantile(spacing, 1 - trim)


def charge_at(spacing: npt.NDArray[Any], p: float, typical: float, sparse: Any) -> Charge:
    """The charge of some rows of a pool whose levels are known."""
    relative = np.maximum(spacing / typical, FLOOR)
    weight = np.power(relative, -1.0 / p).astype(spacing.dtype)
    return Charge(weight, np.where(spacing > sparse, weight * weight.dtype.type(DEMOTED), weight))


def charged_energy(P: npt.NDArray[Any], weight: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Mean over pairs of −log(|x_i − x_j| / (q_i q_j)) for every beginning of the picks P; NaN for one alone.

    weight : 1/q² of each pick, as in `Charge`
    """
    P, weight = np.asarray(P, np.float64), np.asarray(weight, np.float64)
    norms = np.einsum("ij,ij->i", P, P)
    added = np.zeros(len(P))  # by each pick, with all before it
    with single_threaded_blas():
        for rows in blocks(len(P), len(P)):
            sq = np.maximum(squared_chords(P[rows], P[: rows.stop], norms[: rows.stop]), CLAMP**2)
            energy = potential(sq * weight[rows, None] * weight[: rows.stop], s=0)
            added[rows] = np.tril(energy, rows.start - 1).sum(axis=1)
    pairs = np.cumsum(np.arange(len(P)), dtype=np.float64)
    return np.divide(np.cumsum(added), pairs, out=np.full(len(P), np.nan), where=pairs > 0)


def charged_max_min(
    X: Any,
    n: int,
    start: int | None = None,
    chosen: Sequence[int] | npt.NDArray[np.int64] = (),
    p: float = POWER,
    trim: float = TRIM,
    random_state: int | None = 0,
) -> npt.NDArray[np.int64]:
    """n rows of X in pick order: each is the farthest from its predecessors in units of the local spacing.

    As `max_min`, but distances are divided by the charges of both ends, and the sparsest rows, a share `trim` of
    all, come last. Without `start` and `chosen` the first pick is the densest row.
    """
    X = as_pool(X)
    chosen = as_labeled(chosen, len(X))
    n = as_budget(n, len(X) - len(chosen))
    points = Points.raw(X)
    points.norms()  # refuses NaN and infinity by their row, before rows are sampled
    rng = np.random.RandomState(random_state)
    kmeans = SphericalKMeans(auto_clusters(len(X)), max_iter=10, tol=1e-3, random_state=rng)
    labels, centers = sampled_clusters(points, kmeans, SAMPLE, rng)
    spacing = local_spacing(points, labels, len(centers))
    if start is None and len(chosen) == 0:
        start = int(np.argmin(spacing))
    first = [] if start is None else [as_start(start, len(X), chosen)]
    if len(first) == n:
        return np.array(first)
    before = np.append(chosen, first).astype(np.int64)
    rest = traverse(points, n - len(first), before, charge_of(spacing, p, trim))[0]
    return np.concatenate([np.array(first, np.int64), rest])
