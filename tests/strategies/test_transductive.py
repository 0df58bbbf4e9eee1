"""GEN and ALDR+: uncertain and representative at once."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mheal.strategies import ALDR, GEN, SPAL, Pool
from mheal.strategies.transductive import RIDGE, KernelBlocks, label_cost, one_vs_rest, semi_supervised, support_vectors
from picks import pick


def breast_cancer(n=250, n_labeled=20):
    X, y = load_breast_cancer(return_X_y=True)
    labeled = np.arange(n_labeled)
    return Pool(X[:n], labeled, y[labeled])


def ridge(pool):
    """Decision values of the unlabelled rows by plain kernel ridge regression on the labelled ones."""
    Z, d = pool.Z, pool.Z.shape[1]
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(-1) / d)
    L, U = pool.labeled, pool.unlabeled
    f = K[np.ix_(U, L)] @ np.linalg.solve(K[np.ix_(L, L)] + RIDGE * np.eye(len(L)), 2.0 * pool.labels - 1)
    return K, f


# GEN


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


# the kernel that SPAL and ALDR+ share


def test_one_vs_rest():
    assert one_vs_rest(np.array(["b", "a", "b"])).tolist() == [[1], [-1], [1]]
    assert one_vs_rest(np.array([0, 2, 5])).tolist() == [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    assert one_vs_rest(np.array([7, 7])).tolist() == [[1], [1]]


def test_uncertainty_of_two_classes_is_that_of_both_columns():
    f = np.array([-1.5, 0.0, 0.2])
    np.testing.assert_allclose(label_cost(f[:, None]), label_cost(np.column_stack([-f, f])))


def test_representation_counts_picks_as_labelled():
    pool = breast_cancer(60, 10)
    K, _ = ridge(pool)
    labeled, rest = [*range(10), 10, 15], [row for row in range(60) if row not in (*range(10), 10, 15)]
    expected = ((len(rest) - 1) * K[:, labeled].sum(axis=1) - (len(labeled) + 1) * K[:, rest].sum(axis=1)) / 60
    np.testing.assert_allclose(KernelBlocks.of(pool).redundancy(1, np.array([0, 5])), expected[10:])


@pytest.mark.parametrize("strategy", [SPAL(max_rows=50), ALDR(max_rows=50)], ids=["spal", "aldr"])
def test_a_sample_serves_a_large_pool(strategy):
    pool = breast_cancer(250, 80)
    assert len(set(pick(strategy, pool, 120))) == 120


# ALDR+


def test_aldr_without_unlabelled_rows_is_bmdr():
    pool = breast_cancer()
    K, f = ridge(pool)
    L, U = pool.labeled, pool.unlabeled
    uncertainty = f**2 + 2 * np.abs(f)
    represented = ((len(U) - 1) * K[np.ix_(U, L)].sum(1) - (len(L) + 1) * K[np.ix_(U, U)].sum(1)) / len(K)
    value = sum((x - x.min()) / np.ptp(x) / 2 for x in (uncertainty, represented))
    assert pick(ALDR(unlabeled_weight=0), pool, 1)[0] == U[value.argmin()]


def test_aldr_without_representation_is_margin():
    pool = breast_cancer()
    _, f = ridge(pool)
    expected = pool.unlabeled[np.argsort(np.abs(f))[:8]]
    np.testing.assert_array_equal(pick(ALDR(beta=0, unlabeled_weight=0), pool, 8), expected)


def test_aldr_without_representation_is_the_margin_of_its_own_classifier_also_with_several_classes():
    X, y = load_digits(return_X_y=True)
    pool = Pool(X[:300], np.arange(40), y[:40])
    F = np.sort(semi_supervised(KernelBlocks.of(pool), 0.1), axis=1)
    expected = pool.unlabeled[np.argsort(F[:, -1] - F[:, -2])[:8]]
    np.testing.assert_array_equal(pick(ALDR(beta=0), pool, 8), expected)


def test_unlabelled_rows_help_the_classifier_of_aldr():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-2, 0], [0.5, 3], (100, 2)), rng.normal([2, 0], [0.5, 3], (100, 2))])
    truth = np.repeat([-1.0, 1.0], 100)
    height = X[:, 1] * truth  # labels at opposite ends tilt the boundary of a classifier that sees nothing else
    labeled = np.concatenate([np.argsort(height[:100])[:3], 100 + np.argsort(height[100:])[:3]])
    blocks = KernelBlocks.of(Pool(X, labeled, truth[labeled]))
    alone, helped = (np.mean(np.sign(semi_supervised(blocks, w)[:, 0]) == np.delete(truth, labeled)) for w in (0, 0.1))
    assert helped > alone


def test_several_classes():
    X, y = load_digits(return_X_y=True)
    pool = Pool(X[:300], np.arange(40), y[:40])
    for strategy in (SPAL(), ALDR()):
        assert len(set(pick(strategy, pool, 10))) == 10
