"""The measures of §7.2, and the pairs they are made of."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

from mheal_reproduction.paper.table2.matching import (
    MEASURES,
    Statistics,
    Target,
    printed_kl,
    random_mean_shift,
    random_spread,
    smoothed_kl,
    zero_beta,
)
from mheal_reproduction.paper.table2.pairwise import Pairs, as_numpy, greedy, match, on_device

on_gpu = [pytest.mark.gpu, pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")]
PLACES = {
    "numpy": lambda X: X,
    "torch": torch.as_tensor,
    "cuda": lambda X: torch.as_tensor(X, device="cuda"),
}
each_place = pytest.mark.parametrize("place", ["numpy", "torch", pytest.param("cuda", marks=on_gpu)])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X[:600] / 16).astype(np.float32), y[:600]


@pytest.fixture(scope="module")
def target(digits):
    return Target(Pairs(digits[0]), digits[1], 0.5, lambda D: np.exp(-D / 8))


def distances(X):
    """Squared, the slow way."""
    X = X.astype(np.float64)
    return np.square(X[:, None] - X).sum(axis=2)


def draws(n, m, count):
    return [np.random.default_rng(seed).permutation(n)[:m] for seed in range(count)]


def test_measures_are_0_where_the_subset_is_the_pool(target):
    [found] = target.measure([np.random.default_rng(0).permutation(600)])
    assert set(found) == set(MEASURES)
    zero = {name for name, value in found.items() if value == 0}
    assert zero == set(MEASURES) - {"kl_mean", "kl_rows"}


def test_measures_are_positive_elsewhere(target):
    for found in target.measure(draws(600, 100, 5)):
        assert all(value > 0 for name, value in found.items() if name not in ("kl_mean", "kl_rows"))


def test_mmd_of_squared_norms_is_root_two_times_the_distance_of_means(target):
    for found in target.measure(draws(600, 100, 5) + draws(600, 500, 5)):
        assert found["mmd_squared"] == pytest.approx(np.sqrt(2) * found["mmd_mean"], rel=1e-4)


@pytest.mark.parametrize("m", [60, 100, 300, 500])
def test_random_subsets_have_the_mean_shift_of_the_formula(target, m):
    measured = [found["mmd_mean"] for found in target.measure(draws(600, m, 60))]
    expected = random_mean_shift(target.facts()["trace"], m, 600)
    assert np.sqrt(np.mean(np.square(measured))) == pytest.approx(expected, rel=0.05)
    assert np.mean(measured) == pytest.approx(expected, rel=0.05)


def test_the_spread_of_random_subsets_contains_the_formula(digits, target):
    sizes = range(100, 601, 100)
    spread = random_spread(digits[0], sizes)
    formula = Statistics.of(random_mean_shift(target.facts()["trace"], sizes, 600))
    for what, value in formula._asdict().items():
        low, high = spread[what]
        assert low < value < high


def test_the_spread_is_that_of_measured_orders(digits, target):
    rng, sizes = np.random.default_rng(0), (150, 400, 600)
    orders = [rng.permutation(600) for _ in range(12)]  # more than are taken at once
    curves = [[found["mmd_mean"] for found in target.measure([order[:m] for m in sizes])] for order in orders]
    expected = np.quantile([Statistics.of(np.array(curve)) for curve in curves], (0.025, 0.975), axis=0)
    np.testing.assert_allclose(list(random_spread(digits[0], sizes, 12).values()), expected.T, rtol=1e-4)


def test_measures_equal_their_definitions(digits, target):
    X, y = digits
    rows = np.random.default_rng(3).permutation(600)[:80]
    [found] = target.measure([rows])
    D = distances(X)
    A, B, C = D, D[:, rows], D[np.ix_(rows, rows)]

    def discrepancy(kernel):
        return kernel(A).mean() - 2 * kernel(B).mean() + kernel(C).mean()

    assert found["mmd"] == pytest.approx(np.sqrt(np.abs(discrepancy(np.sqrt))), rel=1e-4)
    assert found["energy"] == pytest.approx(-discrepancy(np.sqrt), rel=1e-4)
    assert found["rbf"] == pytest.approx(np.sqrt(discrepancy(lambda D: np.exp(-D / 8))), rel=1e-4)
    assert found["mmd_mean"] == pytest.approx(np.linalg.norm(X.mean(axis=0) - X[rows].mean(axis=0)), rel=1e-4)
    image_by_image = [printed_kl(X[i].astype(float), X[rows[i]].astype(float), 0.5) for i in range(80)]
    assert found["kl_rows"] == pytest.approx(np.mean(image_by_image), rel=1e-4)
    means = X.mean(axis=0, dtype=float), X[rows].mean(axis=0, dtype=float)
    assert found["kl_mean"] == pytest.approx(printed_kl(*means, 0.5), rel=1e-6)
    p, q = (np.bincount(labels, minlength=10) + 1 for labels in (y, y[rows]))
    expected = np.sum(p / p.sum() * np.log(p / p.sum() * q.sum() / q))
    assert found["classes"] == pytest.approx(expected) == smoothed_kl(y, y[rows])


def test_printed_kl_is_negative_where_the_subset_is_the_pool(target):
    facts = target.facts()
    assert facts["kl_mean"] < 0
    assert facts["kl_rows"] < 0
    assert facts["n"] == 600


def test_zero_beta_makes_random_pairs_give_0(digits):
    X = digits[0].astype(np.float64)
    beta = zero_beta(digits[0])
    pairs = np.random.default_rng(1).integers(600, size=(4000, 2))
    values = [np.mean([printed_kl(X[i], X[j], b) for i, j in pairs]) for b in (0.9 * beta, beta, 1.1 * beta)]
    assert values[0] > 0.5
    assert values[2] < -0.5
    assert abs(values[1]) < 0.2


@each_place
@pytest.mark.parametrize("room", [0, 1 << 30])
def test_pairs_are_the_distances_held_or_not(digits, place, room):
    X, D = digits[0], distances(digits[0])
    pairs = Pairs(PLACES[place](X), room, cells=600 * 70)  # several blocks, the last one short
    assert (pairs.held is None) == (room == 0)
    rows = np.stack([as_numpy(pairs.row(pairs.array([i]))) for i in range(600)])
    np.testing.assert_allclose(rows, D, atol=1e-4)
    assert not np.diag(rows).any()
    np.testing.assert_allclose(np.concatenate([as_numpy(block) for _, block in pairs.blocks()]), D, atol=1e-4)
    np.testing.assert_allclose(as_numpy(pairs.means(lambda D: D)), D.mean(axis=1), rtol=1e-5)
    W = np.random.default_rng(0).normal(size=(600, 3))
    expected = [np.diag(W.T @ kernel(D) @ W) for kernel in (np.sqrt, lambda D: D)]
    np.testing.assert_allclose(pairs.forms(W, lambda D: D**0.5, lambda D: D), expected, rtol=1e-4)


@each_place
def test_greedy_takes_every_row_once_and_the_best_first(digits, place):
    pairs = Pairs(PLACES[place](digits[0]))

    def keep(score, D):
        """Scores that picks do not change."""

    order = greedy(pairs, pairs.norm2 + 0, keep, 5)
    assert order[0] == 5
    rest = as_numpy(pairs.norm2)[order[1:]]
    assert (np.diff(rest) <= 0).all()
    assert sorted(order) == list(range(600))


@each_place
def test_matching_takes_the_nearest_row_that_is_left(digits, place):
    X = digits[0]
    points = X[[4, 4, 9]] + np.float32(1e-3)
    pairs = Pairs(PLACES[place](X), cells=600 * 7)
    first, second, third = match(pairs, PLACES[place](points))
    D = distances(X)[4]
    D[4] = np.inf
    assert (first, second, third) == (4, D.argmin(), 9)
    assert sorted(match(pairs, PLACES[place](X[::-1].copy()))) == list(range(600))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_rows_beyond_two_billion_pairs_are_right():
    X = np.random.default_rng(0).normal(size=(50_000, 8)).astype(np.float32)
    pairs = Pairs(on_device(X))
    assert pairs.held is not None
    row = as_numpy(pairs.row(pairs.array([49_999])))
    np.testing.assert_allclose(row, np.square(X - X[49_999]).sum(axis=1), atol=1e-3)
