"""Core-set, ProbCover, MaxHerding and UHerding: the coverage of their picks."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.linear_model import LogisticRegression

import reference
from mheal import PaperMHEAL
from mheal.sphere import unit_rows
from mheal.strategies import CoreSet, MaxHerding, Pool, ProbCover, UHerding
from mheal.strategies.common import median_distance
from mheal.strategies.coverage import (
    Coverage,
    calibration_error,
    gaussian,
    greedy_coverage,
    soften,
    temperature,
    tophat,
)
from picks import pick


def squared(pool):
    return cdist(pool.Z, pool.Z, "sqeuclidean")


def plain_greedy(K, labeled, budget, weight=None):
    """One full pass per pick, ties to the lowest row."""
    weight = np.ones(len(K)) if weight is None else weight
    covered = K[:, labeled].max(axis=1) if len(labeled) else np.zeros(len(K))
    picks, totals = [], []
    for _ in range(budget):
        gain = np.maximum(K - covered[:, None], 0).T @ weight
        gain[[*labeled, *picks]] = -1
        picks.append(int(gain.argmax()))
        covered = np.maximum(covered, K[:, picks[-1]])
        totals.append(float(weight @ covered))
    return np.array(picks), totals


def test_coreset_equals_k_center_greedy():
    X = load_iris().data
    pool = Pool(X, np.array([4, 90]))
    picks = pick(CoreSet(), pool, 20)
    np.testing.assert_array_equal(picks, reference.max_min(pool.Z, 20, [4, 90])[0])
    first = pick(CoreSet(), Pool(X), 20)
    np.testing.assert_array_equal(first[1:], reference.max_min(pool.Z, 19, [first[0]])[0])


def test_coreset_radius_is_at_most_twice_the_best():
    pool = Pool(np.random.default_rng(0).normal(size=(12, 2)))
    D = np.sqrt(squared(pool))
    best = min(D[:, list(centers)].min(axis=1).max() for centers in combinations(range(12), 3))
    assert D[:, pick(CoreSet(), pool, 3)].min(axis=1).max() <= 2 * best


@pytest.mark.parametrize("space", ["standard", "unit"])
def test_coreset_is_mheal_with_one_cluster_and_the_same_start(space):
    X = load_digits().data[:500]
    mheal = PaperMHEAL(n_clusters=1, scaling=space, random_state=0).select(X, 40).indices
    pool = Pool(X, mheal[:1])
    if space == "unit":
        pool.__dict__["Z"] = unit_rows(pool.Z)[0]
    np.testing.assert_array_equal(mheal[1:], pick(CoreSet(), pool, 39))


def test_coreset_radius_never_grows():
    pool = Pool(load_iris().data)
    D = np.sqrt(squared(pool))
    picks = pick(CoreSet(), pool, 40)
    radii = [D[:, picks[:t]].min(axis=1).max() for t in range(1, 41)]
    assert np.diff(radii).max() <= 0


@pytest.mark.parametrize("labeled", [[], [7, 8, 100]])
@pytest.mark.parametrize("kernel", [gaussian(3.0), tophat(2.0)], ids=["gaussian", "tophat"])
def test_lazy_picks_equal_the_plain_loop(labeled, kernel):
    pool = Pool(load_digits().data[:400, 10:30], np.array(labeled, np.int64))
    expected, totals = plain_greedy(kernel(squared(pool)), labeled, 25)
    picks = greedy_coverage(pool, 25, kernel)
    np.testing.assert_array_equal(picks, expected)
    assert np.diff(totals).min() >= 0
    assert np.diff(totals, 2).max() <= 1e-9  # submodular: each pick adds less than the one before


def test_lazy_picks_equal_the_plain_loop_on_whole_numbers_with_ties():
    X = np.random.default_rng(0).integers(0, 6, (150, 2)).astype(float)
    pool = Pool(X)
    pool.__dict__["Z"] = X
    expected, totals = plain_greedy(tophat(1.5)(squared(pool)), [], 12)
    until = int(np.argmax(np.array(totals) >= totals[-1])) + 1  # afterwards nothing is left to gain
    np.testing.assert_array_equal(greedy_coverage(pool, 12, tophat(1.5))[:until], expected[:until])


def test_probcover_covers_nearly_as_much_as_any_set():
    pool = Pool(np.random.default_rng(1).normal(size=(14, 2)))
    inside = tophat(0.8)(squared(pool))
    best = max(inside[:, list(rows)].max(axis=1).sum() for rows in combinations(range(14), 3))
    picks = pick(ProbCover(radius=0.8), pool, 3)
    assert inside[:, picks].max(axis=1).sum() >= (1 - 1 / np.e) * best


def test_the_radius_is_the_largest_with_which_enough_balls_are_pure():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(center, 0.4, (40, 2)) for center in ([0, 0], [3, 0], [0, 3])])
    pool = Pool(X)
    radius = ProbCover(n_classes=3)._pure_radius(pool)
    D, blob = np.sqrt(squared(pool)), np.repeat([0, 1, 2], 40)

    def pure(r):
        return np.mean([len(set(blob[row < r])) == 1 for row in D])

    assert pure(radius) >= 0.95 > pure(1.1 * radius)


def test_probcover_after_everything_is_covered_goes_on_with_the_farthest():
    X = np.array([0.0, 0.1, 0.2, 10.0, 10.1, 10.2, 10.3])[:, None]
    picks = pick(ProbCover(radius=0.5), Pool(X), 7)
    assert {X[p, 0] > 5 for p in picks[:2]} == {True, False}
    assert len(set(picks)) == 7


def test_maxherding_is_the_plain_loop_with_the_median_distance():
    pool = Pool(load_breast_cancer().data[:300], np.array([1, 2]))
    h = median_distance(pool.Z, pool.rng)
    assert h == pytest.approx(np.median(np.sqrt(squared(pool))[np.triu_indices(300, 1)]))
    expected, _ = plain_greedy(np.exp(-squared(pool) / h**2), [1, 2], 15)
    np.testing.assert_array_equal(pick(MaxHerding(), pool, 15), expected)


def test_maxherding_with_balls_is_probcover():
    pool = Pool(load_digits().data[:300])
    np.testing.assert_array_equal(greedy_coverage(pool, 10, tophat(7.0)), pick(ProbCover(radius=7.0), pool, 10))


def test_a_sample_of_a_large_pool_is_covered_nearly_as_well():
    pool = Pool(load_digits().data)
    K = np.exp(-squared(pool) / median_distance(pool.Z, np.random.default_rng(0)) ** 2)
    whole = K[:, pick(MaxHerding(), pool, 20)].max(axis=1).sum()
    assert K[:, pick(MaxHerding(max_references=500), pool, 20)].max(axis=1).sum() > 0.97 * whole


def test_uherding_without_uncertainty_is_maxherding():
    X = load_digits().data[:300]
    soft = pick(UHerding(bandwidth=8.0), Pool(X, np.array([3])), 10)
    np.testing.assert_array_equal(soft, pick(MaxHerding(bandwidth=8.0), Pool(X, np.array([3])), 10))


class Undecided:
    """A model that gives both classes the same probability: every row's uncertainty is 1."""

    classes_ = np.arange(2)

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


def test_uherding_uncertain_of_every_row_is_maxherding():
    X = load_digits().data[:300]
    soft = pick(UHerding(bandwidth=8.0), Pool(X, model=Undecided()), 10)
    np.testing.assert_array_equal(soft, pick(MaxHerding(bandwidth=8.0), Pool(X), 10))


def test_uherding_counts_rows_by_their_uncertainty_and_shrinks_with_the_labels():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    labeled = np.arange(20)
    model = LogisticRegression().fit(X[labeled], y[labeled])
    pool = Pool(X, labeled, y[labeled], model)
    D2 = squared(pool)
    h2 = D2[np.ix_(labeled, labeled)][np.triu_indices(20, 1)].min()
    P = model.predict_proba(X)
    uncertainty = 1 - np.abs(P[:, 0] - P[:, 1])
    uncertainty[labeled] = 0
    expected, _ = plain_greedy(np.exp(-D2 / h2), labeled, 10, uncertainty)
    np.testing.assert_array_equal(pick(UHerding(), pool, 10), expected)


def test_an_overconfident_model_is_cooled_down():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 2 * rng.normal(size=400) > 0).astype(int)
    assert temperature(Pool(X, np.arange(400), y, Overconfident())) > 3
    assert temperature(Pool(X, np.arange(400), y, LogisticRegression())) < 2
    assert temperature(Pool(X, np.arange(10), y[:10], Overconfident())) == 1.0  # too few labels to spare some


class Overconfident(LogisticRegression):
    """Multiplies its own log-odds by ten."""

    def fit(self, X, y):
        super().fit(X, y)
        self.coef_ = 10 * self.coef_
        return self


def test_calibration_error_of_known_cases():
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, False])) == pytest.approx(0.5)
    assert calibration_error(np.array([0.52, 0.52]), np.array([True, False])) == pytest.approx(0.02)
    np.testing.assert_allclose(soften(np.array([[0.8, 0.2]]), 1.0), [[0.8, 0.2]])


def total(coverage):
    return float(coverage.weight @ coverage.covered)


@pytest.mark.parametrize("kernel", [gaussian(1.0), tophat(1.0)], ids=["gaussian", "tophat"])
def test_coverage_is_monotone_and_submodular_on_any_sets(kernel):
    for seed in range(50):
        rng = np.random.default_rng(seed)
        R, weight, A = rng.normal(size=(40, 2)), rng.random(40), rng.normal(size=(12, 2))
        small, large = Coverage(R, weight, kernel), Coverage(R, weight, kernel)
        small.add(A[:3])
        large.add(A[:8])  # holds the small set
        assert total(small) <= total(large)
        assert (large.gains(A[8:]) >= 0).all()
        assert (small.gains(A[8:]) >= large.gains(A[8:]) - 1e-12).all()
        before, gain = total(large), large.gains(A[8:9])[0]
        large.add(A[8:9])
        assert total(large) - before == pytest.approx(gain)


def test_coverage_of_nothing_is_nothing():
    assert total(Coverage(np.eye(3), np.ones(3), gaussian(1.0))) == 0.0
