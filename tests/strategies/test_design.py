"""TED against the printed recursion; support points against the plain loop."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine

from mheal.strategies import TED, Pool, SupportPoints
from mheal.strategies.design import Kernel, Linear
from picks import pick


def pool_of(Z, labeled=()):
    """A pool whose standardised columns are exactly Z."""
    pool = Pool(Z, np.array(labeled, np.int64))
    pool.__dict__["Z"] = Z
    return pool


def plain(K, budget, ridge, labeled=()):
    """The published loop: score all, pick, deflate the matrix."""
    K, picks = K.copy(), []
    for row in labeled:
        K -= np.outer(K[:, row], K[row]) / (K[row, row] + ridge)
    for _ in range(budget):
        score = (K**2).sum(axis=0) / (K.diagonal() + ridge)
        score[[*labeled, *picks]] = -np.inf
        picks.append(int(score.argmax()))
        K -= np.outer(K[:, picks[-1]], K[picks[-1]]) / (K[picks[-1], picks[-1]] + ridge)
    return picks


def test_orthogonal_rows_come_in_order_of_length():
    lengths = np.array([3.0, 9.0, 1.0, 5.0])
    assert pick(TED(kernel="linear"), pool_of(np.diag(lengths)), 4).tolist() == [1, 3, 0, 2]


@pytest.mark.parametrize("labeled", [(), (3, 50)])
def test_both_forms_equal_the_printed_recursion(labeled):
    pool = Pool(load_wine().data, np.array(labeled, np.int64))
    linear = pick(TED(kernel="linear"), pool, 10)  # beyond 13 columns little is left to explain
    assert linear.tolist() == plain(pool.Z @ pool.Z.T, 10, 1e-3, labeled)
    D2 = ((pool.Z[:, None] - pool.Z[None]) ** 2).sum(-1)
    rbf = pick(TED(sigma=2.0), pool, 20)
    assert rbf.tolist() == plain(np.exp(-D2 / 8), 20, 1e-3, labeled)


def test_kernel_and_primal_form_score_alike():
    X = np.random.default_rng(0).normal(size=(40, 6))
    kernel, primal = Kernel(X @ X.T, 0.01), Linear(X, 0.01)
    for row in (4, 9, 30):
        np.testing.assert_allclose(kernel.scores(), primal.scores(), rtol=1e-9)
        kernel.deflate(row)
        primal.deflate(row)


def test_only_the_penalty_leaves_something_of_a_duplicate():
    X = np.random.default_rng(0).normal(size=(20, 5))
    X[7] = X[2]
    penalty, length = 1e-3, X[2] @ X[2]
    design = Linear(X, penalty)
    before = design.scores()[7]
    design.deflate(2)
    np.testing.assert_allclose(design.scores()[7], before * penalty / (2 * length + penalty), rtol=1e-6)


def test_a_large_pool_is_sampled_and_every_row_can_still_be_had():
    pool = Pool(load_wine().data, np.arange(30))
    assert len(set(pick(TED(max_rows=40), pool, 148))) == 148


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match=r"'kernel' parameter of TED must be a str among .* Got 'cubic'"):
        TED(kernel="cubic").select(load_wine().data, 1)


def energy_distance(Z, rows):
    def mean(A, B):
        return cdist(A, B).mean()

    return 2 * mean(Z, Z[rows]) - mean(Z[rows], Z[rows]) - mean(Z, Z)


def test_support_points_are_the_plain_greedy_choice():
    pool = Pool(load_iris().data[::2], np.array([5]))
    chosen = [5]
    for row in pick(SupportPoints(), pool, 6):
        left = np.setdiff1d(np.arange(len(pool.Z)), chosen)
        value = {other: energy_distance(pool.Z, [*chosen, other]) for other in left}
        assert value[row] == pytest.approx(min(value.values()), abs=1e-9)
        chosen.append(row)


def test_support_points_beat_random_sets():
    pool = Pool(load_digits().data[:400])
    picks = pick(SupportPoints(), pool, 30)
    random = [np.random.default_rng(seed).permutation(400)[:30] for seed in range(30)]
    assert energy_distance(pool.Z, picks) < min(energy_distance(pool.Z, rows) for rows in random)
