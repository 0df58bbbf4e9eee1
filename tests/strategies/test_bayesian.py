"""Max Entropy, Variation Ratios, BALD and BatchBALD; and models that identify rows by number."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from mheal.strategies import BADGE, BALD, BatchBALD, Margin, Pool, UHerding, VariationRatios, get
from mheal.strategies.bayesian import (
    Labellings,
    entropy_of_mean,
    expected_entropy,
    greedy,
    mutual_information,
    sampled_probabilities,
)
from mheal.uncertainty import decision_values, probabilities
from picks import pick

SCORES = {"max-entropy": entropy_of_mean, "variation-ratios": VariationRatios.score, "bald": mutual_information}


class Network:
    """A model that identifies rows by number: it stores samples of their class probabilities."""

    def __init__(self, drawn):
        self.drawn = drawn
        self.classes_ = np.arange(drawn.shape[2])

    def row_proba(self, rows):
        return self.drawn.mean(axis=0)[rows]

    def row_samples(self, rows, n, rng):
        return (
            self.drawn[rng.integers(len(self.drawn), size=n)][:, rows] if n < len(self.drawn) else self.drawn[:, rows]
        )


def random_draws(draws=7, rows=40, classes=5, seed=0, spread=0.3):
    return np.random.default_rng(seed).dirichlet(np.full(classes, spread), (draws, rows))


def network_pool(drawn, labeled=(0, 1), seed=0):
    n = drawn.shape[1]
    X = np.full((n, 2), 7.0)  # all rows are equal: only their numbers distinguish them
    return Pool(X, np.array(labeled), np.zeros(len(labeled)), Network(drawn), np.random.default_rng(seed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [0.01, 0.3, 100.0])
def test_disagreement_is_at_most_the_entropy_and_that_at_most_log_classes(spread, dtype):
    drawn = random_draws(spread=spread).astype(dtype)
    bald, entropy = mutual_information(drawn), entropy_of_mean(drawn)
    assert bald.min() >= 0
    assert (bald <= entropy + 1e-12).all()
    assert entropy.max() <= np.log(5) + 1e-6
    np.testing.assert_allclose(bald, entropy - expected_entropy(drawn), atol=1e-12)


def test_draws_that_agree_have_nothing_to_learn():
    drawn = np.repeat(random_draws(draws=1), 6, axis=0)
    np.testing.assert_allclose(mutual_information(drawn), 0, atol=1e-12)
    assert entropy_of_mean(drawn).max() > 0.1


def test_two_draws_that_are_sure_of_opposites():
    drawn = np.array([[[1.0, 0.0]], [[0.0, 1.0]]])
    np.testing.assert_allclose(mutual_information(drawn), np.log(2))
    np.testing.assert_allclose(entropy_of_mean(drawn), np.log(2))
    np.testing.assert_allclose(VariationRatios.score(drawn), 0.5)


def test_a_certain_mean_has_no_variation():
    drawn = np.tile(np.eye(4)[[2, 0]], (3, 1, 1))
    assert VariationRatios.score(drawn).tolist() == [0, 0]
    assert entropy_of_mean(drawn).tolist() == [0, 0]


@pytest.mark.parametrize("name", sorted(SCORES))
def test_a_network_gives_draws_by_row_number(name):
    drawn = random_draws()
    pool = network_pool(drawn)
    expected = pool.unlabeled[np.argsort(-SCORES[name](drawn[:, pool.unlabeled]))]
    np.testing.assert_array_equal(pick(get(name)(draws=7), pool, 10), expected[:10])


@pytest.mark.parametrize("name", sorted(SCORES))
def test_ties_are_broken_at_random(name):
    drawn = np.full((3, 50, 2), 0.5)
    first, second = (pick(get(name)(), network_pool(drawn, seed=seed), 5) for seed in (0, 1))
    assert set(first) != set(second)


def test_without_draws_of_its_own_a_committee_stands_in_for_the_model():
    X, y = load_iris(return_X_y=True)
    labeled = np.arange(0, 150, 10)
    model = LogisticRegression(max_iter=500).fit(X[labeled], y[labeled])
    pool = Pool(X, labeled, y[labeled], model, np.random.default_rng(0))
    drawn = sampled_probabilities(pool, np.array([3, 60, 140]), 6)
    assert drawn.shape == (6, 3, 3)
    np.testing.assert_allclose(drawn.sum(axis=2), 1)
    assert drawn.mean(axis=0).argmax(axis=1).tolist() == [0, 1, 2]
    assert np.ptp(drawn, axis=0).min() > 0  # each member has seen another resample


def test_a_committee_of_one_class_agrees():
    pool = Pool(np.arange(6.0)[:, None], np.array([0, 1]), np.array(["a", "a"]))
    np.testing.assert_array_equal(sampled_probabilities(pool, pool.unlabeled, 3), np.ones((3, 4, 1)))


@pytest.mark.parametrize("name", ["margin", "least-confidence", "entropy", "gen", "uherding", "badge", "cdal-coreset"])
def test_probabilities_by_row_number_come_before_those_of_features(name):
    drawn = random_draws(draws=1, rows=60, classes=3, spread=1)
    by_number, by_feature = network_pool(drawn), network_pool(drawn)
    by_number = Pool(drawn[0], by_number.labeled, by_number.labels, by_number.model)
    by_feature = Pool(drawn[0], by_number.labeled, by_number.labels, FromColumns())
    np.testing.assert_array_equal(*(pick(get(name)(), pool, 6) for pool in (by_number, by_feature)))


class FromColumns:
    """A model that reads class probabilities from the columns of X."""

    classes_ = np.arange(3)

    def predict_proba(self, X):
        return X


def test_uncertainty_herding_does_not_refit_a_network():
    drawn = random_draws(rows=120)
    X = np.random.default_rng(1).standard_normal((120, 3))
    labeled = np.arange(60)
    pool = Pool(X, labeled, labeled % 5, Network(drawn))
    assert len(pick(UHerding(), pool, 5)) == 5


def test_decision_values_by_row_number():
    class Values:
        classes_ = np.arange(2)

        def row_decision(self, rows):
            return np.array([3.0, -1.0, 0.5])[rows]

    pool = Pool(np.zeros((3, 1)), model=Values())
    np.testing.assert_allclose(decision_values(pool, np.array([1, 2])), [[0.5, -0.5], [-0.25, 0.25]])
    np.testing.assert_allclose(probabilities(pool, np.array([2]))[0, 1], 1 / (1 + np.exp(-0.5)))
    assert pick(Margin(), pool, 3).tolist() == [2, 1, 0]


def test_badge_measures_gradients_of_the_networks_last_layer():
    class Embedded(FromColumns):
        def row_embedding(self, rows):
            return np.where(rows == 4, 100.0, 1.0)[:, None].astype(np.float32)

    X = np.tile([[0.4, 0.3, 0.3]], (8, 1))
    assert pick(BADGE(), Pool(X, model=Embedded()), 1).tolist() == [4]


def few_draws(draws=6, rows=30, classes=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), (draws, rows))


def brute_force(P, rows):
    """The entropy of the labels of these rows, over all ways to label them."""
    total = 0.0
    for labels in product(range(P.shape[2]), repeat=len(rows)):
        p = np.mean(np.prod([P[:, row, label] for row, label in zip(rows, labels, strict=True)], axis=0))
        total -= p * np.log(p) if p > 0 else 0
    return total


def joint_entropy(P, rows, rng=None, configurations=10_000):
    """The same by BatchBALD: the sum of what each row adds to the rows before it."""
    batch, total = Labellings(P, rng or np.random.default_rng(0), configurations), 0.0
    for row in rows:
        total += batch.conditional_entropy(np.array([row]))[0]
        batch.add(row)
    return total


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_exact_joint_entropy_equals_brute_force(classes):
    P = few_draws(classes=classes)
    rows = [4, 0, 17, 9, 4][: 5 if classes < 5 else 4]
    np.testing.assert_allclose(joint_entropy(P, rows), brute_force(P, rows), atol=1e-10)


def test_impossible_labels_count_nothing():
    P = np.tile(np.eye(3)[[0, 1, 2, 1]], (4, 1, 1))
    P[2:, 1] = [0.5, 0.5, 0.0]
    np.testing.assert_allclose(joint_entropy(P, [0, 1, 2, 1]), brute_force(P, [0, 1, 2, 1]), atol=1e-12)


def test_sampled_joint_entropy_is_close_to_the_exact_one():
    P = few_draws()
    rows = [4, 0, 17, 9, 22, 3]
    exact = brute_force(P, rows)
    errors = [joint_entropy(P, rows, np.random.default_rng(seed), 300) - exact for seed in range(20)]
    assert np.abs(errors).max() < 0.03 * exact
    assert abs(np.mean(errors)) < 0.005 * exact
    assert np.ptp(errors) > 0  # it is a sample


def test_beliefs_survive_batches_whose_labellings_are_improbable():
    P = few_draws(rows=200, classes=10, draws=5)
    batch = Labellings(P, np.random.default_rng(0))
    for row in range(150):
        batch.add(row)
    assert np.isfinite(batch.conditional_entropy(np.arange(200))).all()
    np.testing.assert_allclose(batch.belief.sum(axis=1), 1)
    np.testing.assert_allclose(batch.weight.sum(), 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_batch_of_one_is_bald(seed):
    P = few_draws(seed=seed)
    assert greedy(P, 1, np.random.default_rng(0)).tolist() == [mutual_information(P).argmax()]


def test_greedy_equals_greedy_by_brute_force():
    P = few_draws(rows=12)
    residual = expected_entropy(P)
    plain = []
    for _ in range(4):
        gains = [
            -np.inf if x in plain else brute_force(P, [*plain, x]) - residual[[*plain, x]].sum() for x in range(12)
        ]
        plain.append(int(np.argmax(gains)))
    assert greedy(P, 4, np.random.default_rng(0), block=3).tolist() == plain


def test_a_copy_of_the_first_pick_gains_nothing_where_labels_are_without_noise():
    hard = np.eye(2)[np.random.default_rng(0).integers(2, size=(8, 20))]  # draws disagree, but each is sure
    batch = Labellings(np.concatenate([hard, hard[:, :1]], axis=1), np.random.default_rng(0))
    batch.add(0)
    gain = batch.conditional_entropy(np.arange(21))
    assert gain[20] < 1e-12
    assert gain[1:20].max() > 0.3


class Drawn:
    def __init__(self, P):
        self.P, self.classes_ = P, np.arange(P.shape[2])

    def row_samples(self, rows, n, rng):
        return self.P[:, rows]


def test_a_batch_has_no_copies_where_bald_has_nothing_else():
    rng = np.random.default_rng(2)
    hard = np.eye(2)[rng.integers(2, size=(16, 6))]
    hard[:8, 0], hard[8:, 0] = [1, 0], [0, 1]  # the most divided row, and nine copies of it
    P = np.concatenate([hard, np.repeat(hard[:, :1], 9, axis=1), hard[:, :1]], axis=1)
    pool = Pool(np.zeros((16, 1)), np.array([15]), np.array([0]), Drawn(P))
    copies = {0, *range(6, 15)}
    assert len(copies & set(pick(BatchBALD(), pool, 4))) == 1
    assert len(copies & set(pick(BALD(), pool, 4))) > 1


def test_only_the_best_by_bald_are_candidates():
    P = few_draws(rows=200)
    pool = Pool(np.zeros((200, 1)), np.array([0]), np.array([0]), Drawn(P))
    picks = pick(BatchBALD(max_candidates=25), pool, 6)
    best = 1 + np.argsort(-mutual_information(P[:, 1:]))[:25]
    assert set(picks) <= set(best)
