"""The scenes of Figures 1 to 5 as numbers: small, seeded, and computed by the functions of the package."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mheal import PaperMHEAL, SphericalKMeans
from mheal.algorithms.within_clusters import rotation_starts
from mheal.energy import hyperspherical_energy
from mheal.sphere import Float64, Rows, unit_rows

from ...theory.printed import directions, printed_rotation
from ...theory.riesz import riesz_descent
from ...theory.tube import SphericalCluster, angles

# Smallest known energies of N electrons on the unit sphere in R³, Σ 1/‖w_i − w_j‖ (the Thomson problem)
THOMSON = {
    2: 0.5, 3: 1.732050808, 4: 3.674234614, 5: 6.474691495, 6: 9.985281374, 7: 14.452977414, 8: 19.675287861,
    9: 25.759986531, 10: 32.716949460, 11: 40.596450510, 12: 49.165253058,
}  # fmt: skip
TRIES = 4  # descents from random points, of which the lowest is kept


class VersionSpace(NamedTuple):
    """Figure 1: two classes in the plane, and the lines that are right about every labelled point."""

    X: Float64
    y: npt.NDArray[np.int64]
    lines: Float64  # (w1, w2, b) of hypotheses, drawn at random
    labeled: Rows
    alive: npt.NDArray[np.bool_]  # lines that are right about the labelled points


def version_space(near: bool, labels: int, seed: int = 0, hypotheses: int = 20_000) -> VersionSpace:
    """`labels` points of each class are labelled: those nearest to the boundary, or random ones."""
    rng = np.random.default_rng(seed)
    discs = [_disc(rng, 150) + center for center in ((-1.3, 0.0), (1.3, 0.0))]
    X, y = np.vstack(discs), np.repeat([-1, 1], 150)
    turn, shift = rng.uniform(0, 2 * np.pi, hypotheses), rng.uniform(-2.5, 2.5, hypotheses)
    lines = np.column_stack([np.cos(turn), np.sin(turn), -shift])
    across = -np.abs(X[:, 0]) if near else rng.uniform(size=len(X))
    labeled = np.concatenate([np.flatnonzero(y == sign)[np.argsort(-across[y == sign])[:labels]] for sign in (-1, 1)])
    right = np.sign(X[labeled] @ lines[:, :2].T + lines[:, 2]) == y[labeled][:, None]
    return VersionSpace(X, y, lines, labeled, right.all(axis=0))


def least_energy(n: int, seed: int = 0, tries: int = TRIES) -> tuple[Float64, float]:
    """Figure 2: N electrons of low energy E_1 on the sphere, and that energy, from the lowest of several descents."""
    found = [riesz_descent(n, 3, s=1.0, random_state=100 * seed + i) for i in range(tries)]
    energies = [hyperspherical_energy(W, 1.0) for W in found]
    return found[int(np.argmin(energies))], float(min(energies))


class Pipeline(NamedTuple):
    """Figure 3: points on a sphere, their spherical clusters, and the picks of Algorithm 2."""

    U: Float64
    clusters: npt.NDArray[np.int32]
    centers: Float64
    picks: Rows


def pipeline(seed: int = 0, k: int = 3, each: int = 120, n: int = 15) -> Pipeline:
    """Three clouds on the sphere."""
    rng = np.random.default_rng(seed)
    axes = np.array([[1.0, 0.2, 0.5], [-0.3, 1.0, 0.4], [0.2, -0.6, 1.0]])
    X = np.vstack([axis + 0.28 * rng.normal(size=(each, 3)) for axis in unit_rows(axes)[0]])
    U = unit_rows(X)[0]
    kmeans = SphericalKMeans(k, init="random", n_init=10, random_state=seed).fit(U)
    picks = PaperMHEAL(k, scaling="raw", init=kmeans.cluster_centers_, random_state=seed).select(U, n)
    return Pipeline(U, kmeans.labels_, kmeans.cluster_centers_, picks.indices)


class Tube(NamedTuple):
    """Figure 4: a cluster, its tube, and max-min picks; rows as polar coordinates around the centre."""

    cluster: SphericalCluster
    angle: Float64  # from the centre
    turn: Float64  # around it
    inside: npt.NDArray[np.bool_]  # in the tube
    picks: Rows


def tube(seed: int = 0, rows: int = 400, n: int = 12) -> Tube:
    """A cloud on the sphere around one centre."""
    U = _cloud(np.random.default_rng(seed), rows)
    found = SphericalCluster.of(U)
    first, second = _plane(found.center)
    D = directions(U, found.center)
    picks = PaperMHEAL(1, scaling="raw", init=found.center[None], random_state=seed).select(U, n).indices
    return Tube(found, angles(U, found.center), np.arctan2(D @ second, D @ first), found.tube(U), picks)


class Rotation(NamedTuple):
    """Figure 5: directions of the rows of a cluster in the plane around its centre, and two lists of candidates."""

    flat: Float64  # (rows, 2)
    printed: Rows  # Eq. 11 as printed
    ours: Rows  # without repetition


def rotation(seed: int = 0, rows: int = 14, m: int = 6) -> Rotation:
    """A small cluster, and candidates from its row 0."""
    U = _cloud(np.random.default_rng(seed), rows)
    center = unit_rows(U.mean(axis=0)[None])[0][0]
    flat = np.column_stack([U @ axis for axis in _plane(center)])
    return Rotation(flat, printed_rotation(U, center, m), np.array(rotation_starts(U, center, m, "tangent", 0)))


def _disc(rng: np.random.Generator, n: int) -> Float64:
    turn, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(size=n))
    return np.column_stack([radius * np.cos(turn), radius * np.sin(turn)])


def _cloud(rng: np.random.Generator, rows: int) -> Float64:
    """Points of the sphere around the third axis."""
    return unit_rows(np.column_stack([0.3 * rng.normal(size=(rows, 2)), np.ones(rows)]))[0]


def _plane(center: Float64) -> tuple[Float64, Float64]:
    """Two unit vectors that are orthogonal to the centre and to each other."""
    first = unit_rows(np.cross(center, [0.0, 1.0, 0.0])[None])[0][0]
    return first, np.cross(center, first)
