"""BADGE, CDAL with Core-set and GEN against plain loops."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mheal.strategies import BADGE, GEN, CDALCoreSet, Pool
from mheal.strategies.diversity import SymmetricKL, support_vectors
from picks import pick


class FromColumns:
    """A model that reads class probabilities from the columns of X."""

    def predict_proba(self, X):
        return X


def predictions(rows=60, classes=4, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(classes, 0.5), rows)


def all_pairs(P):
    """The divergence of every row of P from every row."""
    divergence = SymmetricKL(P)
    return np.column_stack([divergence.to(row) for row in range(len(P))])


def plain_divergence(p, q):
    return 0.5 * np.sum(p * np.log(p / q)) + 0.5 * np.sum(q * np.log(q / p))


def test_divergence_is_symmetric_zero_for_equals_and_does_not_know_the_order_of_classes():
    P = predictions()
    P[7] = P[3]
    D = all_pairs(P)
    np.testing.assert_allclose(D, D.T, atol=1e-12)
    same = np.eye(60, dtype=bool)
    same[3, 7] = same[7, 3] = True
    assert D[same].max() < 1e-12
    assert D[~same].min() > 1e-4
    np.testing.assert_allclose(all_pairs(P[:, [2, 0, 3, 1]]), D, atol=1e-12)


def test_divergence_equals_its_definition():
    P = predictions(10)
    D = all_pairs(P)
    S = (P + 1e-8) / (P + 1e-8).sum(axis=1, keepdims=True)
    for i in range(10):
        for j in range(10):
            np.testing.assert_allclose(D[i, j], plain_divergence(S[i], S[j]), atol=1e-10)


def test_certain_predictions_are_at_a_finite_distance():
    D = all_pairs(np.eye(3))
    assert np.isfinite(D).all()
    np.testing.assert_allclose(D[0, 1], -np.log(1e-8), rtol=1e-5)


@pytest.mark.parametrize("labeled", [[0], [5, 11, 30]])
def test_picks_equal_farthest_first_by_brute_force(labeled):
    P = predictions()
    D = all_pairs(P)
    chosen = list(labeled)
    for _ in range(12):
        chosen.append(int(D[:, chosen].min(axis=1).argmax()))
    picks = pick(CDALCoreSet(), Pool(P, np.array(labeled), np.zeros(len(labeled)), FromColumns()), 12)
    assert picks.tolist() == chosen[len(labeled) :]


def test_without_labels_the_first_pick_is_random():
    first = {
        int(pick(CDALCoreSet(), Pool(predictions(), model=FromColumns(), rng=np.random.default_rng(s)), 1)[0])
        for s in range(8)
    }
    assert len(first) > 3


class Table:
    """A model that reads class probabilities from the columns of X."""

    classes_ = np.arange(3)

    def predict_proba(self, X):
        return X


def gradients(pool):
    """The vectors that BADGE never builds."""
    P = pool.model.predict_proba(pool.X)
    a = P - np.eye(P.shape[1])[P.argmax(axis=1)]
    z = np.column_stack([pool.Z, np.ones(len(pool.Z))])
    return (a[:, :, None] * z[:, None, :]).reshape(len(z), -1)


def test_badge_equals_k_means_plus_plus_on_the_gradients():
    X, y = load_iris(return_X_y=True)
    labeled = np.arange(0, 150, 15)
    model = LogisticRegression(max_iter=500).fit(X[labeled], y[labeled])
    pool = Pool(X, labeled, y[labeled], model, np.random.default_rng(3))
    picks = pick(BADGE(), pool, 12)

    rows, rng = pool.unlabeled, np.random.default_rng(3)
    G = gradients(pool)[rows]
    plain = [int(np.square(G).sum(axis=1).argmax())]
    for _ in range(11):
        d2 = np.square(G[:, None] - G[plain][None]).sum(-1).min(axis=1)
        plain.append(int(rng.choice(len(rows), p=d2 / d2.sum())))
    np.testing.assert_array_equal(picks, rows[plain])


@pytest.mark.parametrize("seed", range(5))
def test_badge_leaves_certain_rows_for_last(seed):
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.ones(3), 30)
    certain = np.arange(0, 30, 3)
    X[certain] = np.eye(3)[rng.integers(3, size=len(certain))]
    picks = pick(BADGE(), Pool(X, model=Table(), rng=rng), 30)
    assert set(picks[:20]) == set(range(30)) - set(certain)


def test_badge_takes_copies_only_when_nothing_else_is_left():
    X = np.repeat(np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.2, 0.35, 0.45]]), 4, axis=0)
    picks = pick(BADGE(), Pool(X, model=Table()), 12)
    assert len(np.unique(X[picks[:3]], axis=0)) == 3
    assert len(set(picks)) == 12


def test_without_uncertainty_gen_picks_the_densest_row_and_then_elsewhere():
    P = np.array([[0.9, 0.1], [0.88, 0.12], [0.91, 0.09], [0.3, 0.7], [0.32, 0.68], [0.6, 0.4]])
    nothing = np.zeros(6)
    first = GEN().one_by_one(Pool(P), P, nothing, 1)[0]
    S = np.exp(-((P[:, None] - P[None]) ** 2).sum(-1))
    assert first == S.sum(axis=1).argmax()
    clone = np.vstack([P, P[first]])  # the same row again, labelled
    second = GEN().one_by_one(Pool(clone, np.array([6])), clone, np.zeros(7), 1)[0]
    assert second != first


def test_a_batch_of_gen_is_picked_one_by_one():
    rng = np.random.default_rng(0)
    P, cost = rng.dirichlet(np.ones(3), 40), rng.random(40)
    batch = GEN().one_by_one(Pool(P, np.array([1, 2])), P, cost, 6)
    labeled = [1, 2]
    for row in batch:
        assert row == GEN().one_by_one(Pool(P, np.array(labeled)), P, cost, 1)[0]
        labeled.append(row)


@pytest.mark.parametrize("weights", ["mmd", "published"])
def test_gen_is_its_formula(weights):
    X, y = load_breast_cancer(return_X_y=True)
    labeled = np.arange(30)
    model = make_pipeline(StandardScaler(), SVC()).fit(X[labeled], y[labeled])
    row = pick(GEN(weights=weights), Pool(X, labeled, y[labeled], model), 1)[0]

    f = model.decision_function(X)
    P = np.column_stack([1 / (1 + np.exp(f)), 1 / (1 + np.exp(-f))])
    D2 = ((P[:, None] - P[None]) ** 2).sum(-1)
    cost = np.abs(P[:, 0] - P[:, 1]) * np.exp(D2[:, model[-1].support_].min(axis=1))
    U, n = np.arange(30, len(X)), len(X)
    a_L, a_U = (len(U) - 1, 31) if weights == "mmd" else (31, len(U) - 1)
    value = cost + (a_L * np.exp(-D2[:, labeled]).sum(axis=1) - a_U * np.exp(-D2[:, U]).sum(axis=1)) / (2 * n)
    assert row == U[value[U].argmin()]


def test_a_model_without_support_vectors_has_all_labelled_rows():
    assert support_vectors(LogisticRegression(), 4).tolist() == [0, 1, 2, 3]
