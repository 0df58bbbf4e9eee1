import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform

from mheal.energy import hyperspherical_energy
from mheal.sphere import blocks, unit_rows
from mheal_reproduction.theory.gradient import energy_gradient, log_product, riemannian_gradient

EXPONENTS = pytest.mark.parametrize("s", [0, 1, 2, 3])


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def sphere(n: int, d: int, seed: int = 0) -> np.ndarray:
    return unit_rows(points(n, d, seed))[0]


def test_log_product_agrees_with_the_product_of_chords_for_five_points():
    W = points(5, 3)
    assert np.exp(log_product(W)) == pytest.approx(np.prod(pdist(sphere(5, 3))), rel=1e-12)


def test_log_product_stays_finite_where_the_product_overflows():
    W = points(500, 10)
    with np.errstate(over="ignore"):
        assert np.prod(pdist(sphere(500, 10))) == np.inf
    assert log_product(W) == pytest.approx(np.log(pdist(sphere(500, 10))).sum(), rel=1e-12)


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


@EXPONENTS
def test_gradient_of_several_blocks(s):
    W = sphere(2100, 4)
    assert len(list(blocks(2100, 2100))) > 1
    weight = (s or 1.0) * squareform(pdist(W) ** -(s + 2.0))
    expected = weight @ W - weight.sum(axis=1)[:, None] * W
    np.testing.assert_allclose(energy_gradient(W, s), expected, rtol=1e-6, atol=1e-6 * weight.max())


def test_gradient_of_negative_s_is_an_error():
    with pytest.raises(ValueError, match="s must be at least 0"):
        energy_gradient(np.eye(3), -1.0)
