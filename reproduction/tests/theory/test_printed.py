import numpy as np
import pytest
from scipy.spatial.distance import cdist

from mheal.energy import hyperspherical_energy
from mheal.sphere import unit_rows
from mheal_reproduction.theory.printed import directions, printed_fixed_point, printed_rotation, random_projection

DTYPES = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def sphere(n, d, seed=0):
    return unit_rows(np.random.default_rng(seed).normal(size=(n, d)))[0]


def cluster(n=500, d=10, seed=0, spread=0.5, dtype=np.float64):
    rng = np.random.default_rng(seed)
    center = unit_rows(rng.normal(size=(1, d)))[0][0]
    return unit_rows((center + spread * rng.normal(size=(n, d))).astype(dtype))[0], center


def test_printed_fixed_point_raises_the_energy():
    before, after = [], []
    for seed in range(50):
        W = sphere(10, 3, seed)
        before.append(hyperspherical_energy(W, 2))
        for _ in range(5):
            W = printed_fixed_point(W)
        after.append(hyperspherical_energy(W, 2))
    assert np.all(np.array(after) > before)
    assert np.median(np.array(after) / before) > 10


def test_printed_fixed_point_is_the_printed_formula_on_the_sphere_and_has_no_fixed_point_at_the_octahedron():
    W = sphere(6, 3)
    weight = np.zeros((6, 6))
    off = ~np.eye(6, dtype=bool)
    weight[off] = cdist(W, W)[off] ** -4
    expected = unit_rows(weight @ W / weight.sum(axis=1, keepdims=True))[0]
    np.testing.assert_allclose(printed_fixed_point(W), expected, rtol=1e-9)
    octahedron = np.vstack([np.eye(3), -np.eye(3)])  # the minimiser: the step throws each point to its antipode
    np.testing.assert_allclose(printed_fixed_point(octahedron), -octahedron, atol=1e-12)


def test_tangent_directions_are_unit_orthogonal_to_the_centre_and_on_the_great_circle():
    U, c = cluster()
    D = directions(U, 5 * c)
    np.testing.assert_allclose(np.linalg.norm(D, axis=1), 1)
    np.testing.assert_allclose(D @ c, 0, atol=1e-12)
    angle = np.arccos(U @ c)[:, None]
    np.testing.assert_allclose(np.cos(angle) * c + np.sin(angle) * D, U, atol=1e-10)


def test_chord_directions_point_along_the_straight_line():
    U, c = cluster(n=20)
    expected = (U - c) / np.linalg.norm(U - c, axis=1, keepdims=True)
    np.testing.assert_allclose(directions(U, c, "chord"), expected, rtol=1e-12)


@DTYPES
@pytest.mark.parametrize("kind", ["tangent", "chord"])
def test_a_point_at_the_centre_has_no_direction(kind, dtype):
    U, c = cluster(n=8, dtype=dtype)
    D = directions(np.vstack([c.astype(dtype), U]), c, kind)
    assert D.dtype == dtype
    assert not D[0].any()
    np.testing.assert_allclose(np.linalg.norm(D[1:], axis=1), 1, rtol=1e-5)
    with pytest.raises(ValueError, match="kind must be"):
        directions(U, c, "arc")


@pytest.mark.parametrize("d", [2, 3, 10, 200])
def test_printed_rotation_falls_into_a_two_cycle(d):
    distinct = []
    for seed in range(20):
        U, c = cluster(d=d, seed=seed)
        rows = printed_rotation(U, c, 10, first=seed)
        distinct.append(len(set(rows.tolist())))
        np.testing.assert_array_equal(rows[6:8], rows[8:10])
    assert np.mean(distinct) < 3.5
    assert np.quantile(distinct, 0.9) <= 5  # of 10; one run in a hundred sees six or seven


@DTYPES
def test_random_projection_has_the_expected_square_norm_only_without_the_printed_scale(dtype):
    x = np.ones((1, 12), dtype=dtype)
    kappa, sigma = 40, 1.5
    images = [random_projection(x, kappa, sigma, random_state=seed) for seed in range(200)]
    assert images[0].dtype == dtype
    assert images[0].shape == (1, kappa)
    assert np.mean([(y**2).sum() for y in images]) == pytest.approx(kappa * sigma**2 * 12, rel=0.05)
    for n in (9, kappa):
        printed = random_projection(x, kappa, sigma, n, random_state=0)
        np.testing.assert_allclose(printed * np.sqrt(n), images[0], rtol=1e-5)
    with pytest.raises(ValueError, match="kappa"):
        random_projection(np.ones((1, 2)), 0)
