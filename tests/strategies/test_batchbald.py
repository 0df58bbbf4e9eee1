"""BatchBALD: joint entropies, exact and sampled, and what they make of batches."""

from itertools import product

import numpy as np
import pytest

from mheal.strategies import BALD, BatchBALD, Pool
from mheal.strategies.batchbald import Labellings, greedy
from mheal.strategies.bayesian import expected_entropy, mutual_information
from picks import pick


def random_draws(draws=6, rows=30, classes=3, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), (draws, rows))


def brute_force(P, rows):
    """The entropy of the labels of these rows, over all ways to label them."""
    total = 0.0
    for labels in product(range(P.shape[2]), repeat=len(rows)):
        p = np.mean(np.prod([P[:, row, label] for row, label in zip(rows, labels, strict=True)], axis=0))
        total -= p * np.log(p) if p > 0 else 0
    return total


def joint_entropy(P, rows, rng=None, configurations=10_000):
    """The same by BatchBALD: what each row adds to those before."""
    batch, total = Labellings(P, rng or np.random.default_rng(0), configurations=configurations), 0.0
    for row in rows:
        total += batch.conditional_entropy(np.array([row]))[0]
        batch.add(row)
    return total


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_exact_joint_entropy_equals_brute_force(classes):
    P = random_draws(classes=classes)
    rows = [4, 0, 17, 9, 4][: 5 if classes < 5 else 4]
    np.testing.assert_allclose(joint_entropy(P, rows), brute_force(P, rows), atol=1e-10)


def test_impossible_labels_count_nothing():
    P = np.tile(np.eye(3)[[0, 1, 2, 1]], (4, 1, 1))
    P[2:, 1] = [0.5, 0.5, 0.0]
    np.testing.assert_allclose(joint_entropy(P, [0, 1, 2, 1]), brute_force(P, [0, 1, 2, 1]), atol=1e-12)


def test_sampled_joint_entropy_is_close_to_the_exact_one():
    P = random_draws()
    rows = [4, 0, 17, 9, 22, 3]
    exact = brute_force(P, rows)
    errors = [joint_entropy(P, rows, np.random.default_rng(seed), 300) - exact for seed in range(20)]
    assert np.abs(errors).max() < 0.03 * exact
    assert abs(np.mean(errors)) < 0.005 * exact
    assert np.ptp(errors) > 0  # it is a sample


def test_beliefs_survive_batches_whose_labellings_are_improbable():
    P = random_draws(rows=200, classes=10, draws=5)
    batch = Labellings(P, np.random.default_rng(0))
    for row in range(150):
        batch.add(row)
    assert np.isfinite(batch.conditional_entropy(np.arange(200))).all()
    np.testing.assert_allclose(batch.belief.sum(axis=1), 1)
    np.testing.assert_allclose(batch.weight.sum(), 1)


@pytest.mark.parametrize("seed", range(5))
def test_a_batch_of_one_is_bald(seed):
    P = random_draws(seed=seed)
    assert greedy(P, 1, np.random.default_rng(0)).tolist() == [mutual_information(P).argmax()]


def test_greedy_equals_greedy_by_brute_force():
    P = random_draws(rows=12)
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
    P = random_draws(rows=200)
    pool = Pool(np.zeros((200, 1)), np.array([0]), np.array([0]), Drawn(P))
    picks = pick(BatchBALD(max_candidates=25), pool, 6)
    best = 1 + np.argsort(-mutual_information(P[:, 1:]))[:25]
    assert set(picks) <= set(best)
