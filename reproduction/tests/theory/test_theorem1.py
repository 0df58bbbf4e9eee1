import numpy as np
import pytest
from sklearn.datasets import load_wine

from mheal_reproduction.theory import (
    Hyperplanes,
    bound_ratio,
    disagreement_coefficient,
    iwal_bound,
    iwal_label_bound,
    mheal_bound,
    mheal_label_bound,
)
from mheal_reproduction.theory.disagreement import distances
from mheal_reproduction.theory.theorem1 import slope_asymmetry


def test_error_bounds_have_their_golden_ratio():
    rounds = (300, 300_000)
    assert [round(bound_ratio(T, 3, 10_000), 1) for T in rounds] == [6.8, 5.3]
    assert [round(bound_ratio(T, 10, 10_000)) for T in rounds] == [58, 34]
    assert [round(bound_ratio(T, 3, 10_000, regional=1), 1) for T in rounds] == [4.7, 4.2]
    assert [round(bound_ratio(T, 10, 10_000, regional=1)) for T in rounds] == [38, 26]


def test_error_bound_by_hand():
    first = np.sqrt(25) + 6 * np.sqrt(np.log(2 * 103 * 100**2 / 0.1))
    expected = 2 / 100 * first * np.sqrt(np.log(16 * 100**2 * 7**2 * np.log(100) / 0.1))
    assert iwal_bound(100, 7, 0.1, 25) == pytest.approx(expected)
    assert mheal_bound(300, 3, 7, 0.1, [9, 25, 16]) == pytest.approx(3 * expected)
    assert mheal_bound(100, 1, 7) == iwal_bound(100, 7)


def test_error_bound_is_undefined_up_to_one_round():
    with pytest.raises(ValueError, match="more than 1 round"):
        mheal_bound(3, 3, 10)


def test_label_bounds_by_hand():
    log = np.log(100 * 7 / 0.05)
    expected = 8 * 2 * (10 * 0.2 * 100 + np.sqrt(0.2 * 100 * log) + log**3)
    assert iwal_label_bound(100, 10, 0.2, 7, asymmetry=2) == pytest.approx(expected)
    log = np.log(50 * 7 * 4 / 0.05)
    expected = 8 * 2 * (5 * 0.2 * 50 + 4 * np.sqrt(0.2 * 0.25 * 50 * log) + 4 * log**3)
    assert mheal_label_bound(100, 2, 5, [0.2], [0.25] * 4, 7) == pytest.approx(expected)


def test_slope_asymmetry_bounds_every_ratio_of_differences():
    z = np.linspace(-2, 2, 81)
    positive, negative = np.log1p(np.exp(-z)), np.log1p(np.exp(z))
    a, b = np.triu_indices(len(z), k=1)
    ratio = np.abs(negative[a] - negative[b]) / np.abs(positive[a] - positive[b])
    assert 0.97 * slope_asymmetry(2) < max(ratio.max(), 1 / ratio.min()) <= slope_asymmetry(2)


@pytest.fixture(scope="module")
def wine():
    X = load_wine().data
    return ((X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1])).astype(np.float32)


@pytest.mark.parametrize("radius", [0.15, 0.2, 0.3])
def test_disagreement_equals_brute_force(wine, radius):
    h = Hyperplanes.random(200, wine.shape[1], np.random.default_rng(0))
    scale = h.largest_loss(wine)
    margins = h.margins(wine).astype(np.float64)
    losses = np.stack([np.log1p(np.exp(-margins)), np.log1p(np.exp(margins))]) / scale
    gap = np.abs(losses - losses[:, :, [7]]).max(axis=0)  # (rows, hypotheses)
    rho = gap.mean(axis=0)
    ball = rho <= radius
    np.testing.assert_allclose(distances(h, wine, 7) / scale, rho, rtol=1e-3, atol=1e-6)
    found = disagreement_coefficient(h, wine, 7, radius, scale)
    assert found.ball == ball.sum() > 1
    assert found.theta == pytest.approx(gap[:, ball].max(axis=1).mean() / radius, rel=1e-4)


def test_disagreement_of_a_ball_of_one_is_nothing(wine):
    h = Hyperplanes.random(50, wine.shape[1], np.random.default_rng(0))
    found = disagreement_coefficient(h, wine, 3, radius=1e-6)
    assert found == (pytest.approx(0, abs=1e-6), 1)
