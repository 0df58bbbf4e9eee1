import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import ortho_group

from mheal.energy import (
    energy_gradient,
    hyperspherical_energy,
    log_product,
    riemannian_gradient,
    squared_chords,
)
from mheal.sphere import blocks, unit_rows

EXPONENTS = pytest.mark.parametrize("s", [0, 1, 2, 3])


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    return unit_rows(points(n, d, seed))[0]


@pytest.mark.parametrize(("s", "expected"), [(0, -np.log(2)), (1, 1 / 2), (2, 1 / 4), (3, 1 / 8)])
def test_energy_of_an_antipodal_pair(s, expected):
    assert hyperspherical_energy([[0.0, 3.0, 4.0], [0.0, -6.0, -8.0]], s) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("s", [0, 0.5, 1, 2, 3.7])
@pytest.mark.parametrize(("n", "d"), [(2, 2), (17, 3), (300, 20)])
def test_energy_equals_the_sum_over_pairs(n, d, s):
    W = points(n, d)
    chords = pdist(sphere(n, d))
    pairs = -np.log(chords) if s == 0 else chords**-s
    assert hyperspherical_energy(W, s) == pytest.approx(pairs.sum(), rel=1e-10)
    assert hyperspherical_energy(W, s, mean=True) == pytest.approx(pairs.mean(), rel=1e-10)
    raw = pdist(W)
    expected = (-np.log(raw) if s == 0 else raw**-s).sum()
    assert hyperspherical_energy(W, s, normalize=False) == pytest.approx(expected, rel=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(2, 12), st.integers(2, 6), st.sampled_from([0, 1, 2, 3]), st.integers(0, 99))
def test_energy_is_invariant_under_rotation_and_scaling_of_rows(n, d, s, seed):
    W = points(n, d, seed)
    rng = np.random.default_rng(seed)
    turned = W @ ortho_group.rvs(d, random_state=seed) * rng.uniform(0.1, 9, (n, 1))
    assert hyperspherical_energy(turned, s) == pytest.approx(hyperspherical_energy(W, s), rel=1e-8, abs=1e-10)


def test_log_product_agrees_with_the_product_of_chords_for_five_points():
    W = points(5, 3)
    assert np.exp(log_product(W)) == pytest.approx(np.prod(pdist(sphere(5, 3))), rel=1e-12)


def test_log_product_stays_finite_where_the_product_overflows():
    W = points(500, 10)
    with np.errstate(over="ignore"):
        assert np.prod(pdist(sphere(500, 10))) == np.inf
    assert log_product(W) == pytest.approx(np.log(pdist(sphere(500, 10))).sum(), rel=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [3, 300])
def test_duplicates_are_clamped_and_not_infinite(dtype, d):
    w, v = points(2, d).astype(dtype)
    assert hyperspherical_energy([w, w * 3], 0) == pytest.approx(-np.log(1e-12))  # equal once on the sphere
    assert hyperspherical_energy([w, w], 1) == pytest.approx(1e12)
    three = hyperspherical_energy(np.array([w, w, v]), 0)
    assert three == pytest.approx(-np.log(1e-12) + 2 * hyperspherical_energy(np.array([w, v]), 0), rel=1e-6)


def test_energy_of_less_than_two_points_is_zero_and_of_negative_s_an_error():
    assert hyperspherical_energy(np.ones((1, 3)), 2, mean=True) == 0.0
    for f in (hyperspherical_energy, energy_gradient):
        with pytest.raises(ValueError, match="s must be at least 0"):
            f(np.eye(3), -1.0)


@EXPONENTS
def test_energy_and_gradient_of_several_blocks(s):
    W = unit_rows(points(2100, 4))[0]
    assert len(list(blocks(2100, 2100))) > 1
    chords = pdist(W)
    energy = -np.log(chords) if s == 0 else chords**-s
    assert hyperspherical_energy(W, s) == pytest.approx(energy.sum(), rel=1e-9)
    weight = (s or 1.0) * squareform(chords ** -(s + 2.0))
    np.testing.assert_allclose(
        energy_gradient(W, s), weight @ W - weight.sum(axis=1)[:, None] * W, rtol=1e-6, atol=1e-6 * weight.max()
    )


def test_energy_needs_blocks_of_memory_not_the_square_of_n():
    W = points(5000, 3).astype(np.float32)
    tracemalloc.start()
    hyperspherical_energy(W, 1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5000 * 5000 * 8 * 0.75


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float32, 1e-4), (np.float64, 1e-10)])
@pytest.mark.parametrize("gap", [1.0, 1e-2, 1e-4])
def test_squared_chords_keep_their_digits_for_close_rows(dtype, rtol, gap):
    A = sphere(40, 50).astype(dtype)
    B = (A + gap * points(40, 50, 1)).astype(dtype)
    expected = cdist(A.astype(np.float64), B.astype(np.float64), "sqeuclidean")
    np.testing.assert_allclose(squared_chords(A, B), expected, rtol=rtol)
    assert not squared_chords(A, A).diagonal().any()


@EXPONENTS
def test_gradient_agrees_with_finite_differences(s):
    # The rows must be free to leave the sphere, so differences are taken of the unnormalised energy.
    W, h = sphere(7, 4), 1e-5
    numeric = np.empty_like(W)
    for at in np.ndindex(W.shape):
        ahead, behind = W.copy(), W.copy()
        ahead[at] += h
        behind[at] -= h
        rise = hyperspherical_energy(ahead, s, normalize=False) - hyperspherical_energy(behind, s, normalize=False)
        numeric[at] = rise / (2 * h)
    np.testing.assert_allclose(energy_gradient(W, s), numeric, rtol=1e-5, atol=1e-6)


@EXPONENTS
def test_riemannian_gradient_is_tangent_and_is_the_slope_along_the_sphere(s):
    W, h = sphere(7, 4), 1e-6
    G = riemannian_gradient(W, s)
    np.testing.assert_allclose((G * W).sum(axis=1), 0, atol=1e-10)
    T = points(7, 4, 1)
    T -= (T * W).sum(axis=1, keepdims=True) * W
    slope = (hyperspherical_energy(W + h * T, s) - hyperspherical_energy(W - h * T, s)) / (2 * h)
    assert (G * T).sum() == pytest.approx(slope, rel=1e-5)


def test_gradient_of_e2_is_equation_3():
    W = sphere(6, 3)
    expected = [
        sum(-2 * (W[i] - W[j]) / np.linalg.norm(W[i] - W[j]) ** 4 for j in range(6) if j != i) for i in range(6)
    ]
    np.testing.assert_allclose(energy_gradient(W, 2), expected, rtol=1e-10)


def test_coincident_rows_exert_no_force_on_each_other():
    w, v = sphere(2, 3)
    G = energy_gradient(np.array([w, w, v]), 2)
    np.testing.assert_allclose(G[0], energy_gradient(np.array([w, v]), 2)[0], rtol=1e-12)
    np.testing.assert_array_equal(G[0], G[1])
