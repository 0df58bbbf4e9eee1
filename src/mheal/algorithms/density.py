"""Local spacing and density weights: they make a minimum-energy design follow the data instead of its outliers.

Let r_i be the local spacing of row i and q_i = r_i^{1/(2p)}; minimise Σ (q_i q_j / |x_i − x_j|)^s. For large s the
greedy step is farthest-first with the distance |x − w| / (q_x q_w) (minimum-energy designs, Joseph et al. 2015). p → ∞
is the paper; p = 1 measures every distance relative to the local spacing √(r_i r_j); with p < 1 picks gather in the
densest region.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..backends.base import Floats, Labels, RowStore
from ..backends.cpu.grouping import members_of
from ..energy import CLAMP, potential, squared_chords
from ..exceptions import UserError
from ..runtime.threads import single_threaded_blas
from ..sphere import blocks

DENSITY_POWER = 1.25
OUTLIER_FRACTION = 0.05
FLOOR = 0.01  # of the median spacing: dozens of duplicates would otherwise have an infinite density
HEAVIEST = 1e15  # and its inverse: products of two weights and a squared distance are in the range of float32
DEMOTED = 1e-6  # the share of their weight that outliers keep

NEIGHBOURS = 20
REFERENCES = 512  # at most this many rows of a cluster serve as possible neighbours,
FEWER = 128  # or this many in a large pool,
COMPARISONS = 1 << 24  # where this many are enough
FEWEST = 8  # of a thinned cluster: fewer neighbours are too noisy


class DensityWeights(NamedTuple):
    """1/q² of each row: a squared distance is multiplied by the weights of both its rows."""

    weight: Floats  # of a row that is labelled or picked
    candidate: Floats  # of a row that may be picked

    def take(self, rows: npt.NDArray[Any]) -> "DensityWeights":
        """The weights of these rows alone."""
        return DensityWeights(self.weight[rows], self.candidate[rows])

    def times(self, utility: npt.NDArray[np.float64]) -> "DensityWeights":
        """The same, but distances from candidates count times their utility; rows of none come last."""
        least = np.maximum(utility, np.sqrt(DEMOTED))
        return DensityWeights(self.weight, (self.candidate * (least * least)).astype(self.candidate.dtype))

    @classmethod
    def equal(cls, rows: RowStore) -> "DensityWeights":
        """A weight of 1 for every row: distances as they are."""
        ones = np.ones(rows.shape[0], rows.dtype)
        return cls(ones, ones)


def local_spacing(
    rows: RowStore, labels: Labels, n_clusters: int, references: int = REFERENCES, comparisons: int = COMPARISONS
) -> Floats:
    """r_i of each row: the mean distance to its 20 nearest neighbours inside its cluster.

    In a large cluster only every s-th row is a possible neighbour, and 20/s neighbours (at least 8) are used, so that
    the ball has about the same size. Rows of a tiny cluster look for neighbours in the whole pool.
    """
    n = len(labels)
    most = min(references, max(FEWER, comparisons // max(1, n)))
    counts = np.bincount(labels, minlength=n_clusters)
    tiny = counts <= FEWEST
    candidates = np.where(tiny, n, counts).tolist()
    ranks = [np.arange(c) if c <= most else np.linspace(0, c - 1, most).astype(np.int64) for c in candidates]
    members = members_of(labels, n_clusters)
    chosen = [r if few else own[r].astype(np.int64) for r, few, own in zip(ranks, tiny, members, strict=True)]
    near = [max(FEWEST, round(NEIGHBOURS * len(r) / c)) for r, c in zip(chosen, candidates, strict=True)]
    wanted = [max(1, min(len(r) - 1, NEIGHBOURS, some)) for r, some in zip(chosen, near, strict=True)]
    return rows.spacing(labels, chosen, wanted)


def density_weights(
    spacing: Floats, power: float = DENSITY_POWER, outlier_fraction: float = OUTLIER_FRACTION
) -> DensityWeights:
    """The weights that follow from each row's local spacing; the median row has weight 1.

    The sparsest rows, a share `outlier_fraction` of all, are picked only when nothing else is left.
    """
    if not power > 0:
        raise UserError(f"density_power must be positive, got {power!r}: 1 follows the density, larger values less")
    if not 0 <= outlier_fraction < 1:
        raise UserError(f"outlier_fraction must be at least 0 and less than 1, got {outlier_fraction!r}")
    typical = float(np.median(spacing))
    if typical == 0:
        typical = float(np.max(spacing)) or 1.0
    sparse = spacing > np.quantile(spacing, 1 - outlier_fraction)
    with np.errstate(over="ignore", under="ignore"):
        weight = np.power(np.maximum(spacing / typical, FLOOR), -1.0 / power).astype(spacing.dtype)
    if not (weight.max() <= HEAVIEST and weight.min() >= 1 / HEAVIEST):
        raise UserError(f"density_power={power:g} makes some rows count infinitely more than others: use a larger one")
    return DensityWeights(weight, np.where(sparse, weight * weight.dtype.type(DEMOTED), weight))


def density_energy(P: Floats, weight: Floats) -> npt.NDArray[np.float64]:
    """Mean over pairs of −log(|x_i − x_j| / (q_i q_j)) for every beginning of the picks P; NaN for one alone.

    weight : 1/q² of each pick, as in `DensityWeights`
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
