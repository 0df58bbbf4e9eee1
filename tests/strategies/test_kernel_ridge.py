"""SPAL against general solvers, ALDR+, and the kernel that they share."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn.datasets import load_breast_cancer, load_digits

from mheal.strategies import ALDR, SPAL, Pool
from mheal.strategies.kernel_ridge import (
    RIDGE,
    Alternation,
    KernelBlocks,
    label_cost,
    project,
    semi_supervised,
)
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


# the kernel that SPAL and ALDR+ share


@pytest.mark.parametrize(
    ("labels", "targets"),
    [
        (["b", "a", "b"], [[1], [-1], [1]]),
        ([0, 2, 5], [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
        ([7, 7], [[-1], [-1]]),  # of one class: either sign, all the same
    ],
)
def test_targets_are_one_against_the_rest(labels, targets):
    pool = Pool(np.arange(12.0).reshape(6, 2), np.arange(len(labels)), np.array(labels))
    assert KernelBlocks(pool).Y.tolist() == targets


def test_uncertainty_of_two_classes_is_that_of_both_columns():
    f = np.array([-1.5, 0.0, 0.2])
    np.testing.assert_allclose(label_cost(f[:, None]), label_cost(np.column_stack([-f, f])))


def test_representation_counts_picks_as_labelled():
    pool = breast_cancer(60, 10)
    K, _ = ridge(pool)
    labeled, rest = [*range(10), 10, 15], [row for row in range(60) if row not in (*range(10), 10, 15)]
    expected = ((len(rest) - 1) * K[:, labeled].sum(axis=1) - (len(labeled) + 1) * K[:, rest].sum(axis=1)) / 60
    np.testing.assert_allclose(KernelBlocks(pool).redundancy(1, [0, 5]), expected[10:])


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
    F = np.sort(semi_supervised(KernelBlocks(pool), 0.1), axis=1)
    expected = pool.unlabeled[np.argsort(F[:, -1] - F[:, -2])[:8]]
    np.testing.assert_array_equal(pick(ALDR(beta=0), pool, 8), expected)


def test_unlabelled_rows_help_the_classifier_of_aldr():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-2, 0], [0.5, 3], (100, 2)), rng.normal([2, 0], [0.5, 3], (100, 2))])
    truth = np.repeat([-1.0, 1.0], 100)
    height = X[:, 1] * truth  # labels at opposite ends tilt the boundary of a classifier that sees nothing else
    labeled = np.concatenate([np.argsort(height[:100])[:3], 100 + np.argsort(height[100:])[:3]])
    blocks = KernelBlocks(Pool(X, labeled, truth[labeled]))
    alone, helped = (np.mean(np.sign(semi_supervised(blocks, w)[:, 0]) == np.delete(truth, labeled)) for w in (0, 0.1))
    assert helped > alone


def test_several_classes():
    X, y = load_digits(return_X_y=True)
    pool = Pool(X[:300], np.arange(40), y[:40])
    for strategy in (SPAL(), ALDR()):
        assert len(set(pick(strategy, pool, 10))) == 10


# SPAL


def objective(state):
    """With two classes, without the term in v alone."""
    fit = np.square(state.blocks.Y - state.blocks.LL @ state.theta).sum() + RIDGE * np.square(state.theta).sum()
    linear = state.mu * state.blocks.redundancy(state.batch) + state.v * state.cost
    return float(fit + state.w @ state.quadratic @ state.w / 2 + linear @ state.w)


def test_spal_without_representation_takes_the_smallest_decision_values():
    pool = breast_cancer()
    state = Alternation(KernelBlocks(pool), 5, mu=0.0, pace=1e9)
    expected = pool.unlabeled[np.argsort(state.cost)[:5]]
    state.update_selection()
    state.update_easiness()
    assert set(pool.unlabeled[state.ranking()[:5]]) == set(expected)
    f = state.blocks.UL @ state.theta
    np.testing.assert_array_equal(np.argsort(state.cost)[:5], np.argsort(np.abs(f[:, 0]))[:5])


@pytest.mark.parametrize("mu", [0.1, 3.0])
def test_the_objective_of_spal_falls_from_step_to_step(mu):
    state = Alternation(KernelBlocks(breast_cancer()), 10, mu, pace=1e9)  # every row is easy: v stays 1
    values = []
    for _ in range(5):
        state.update_selection()
        values.append(objective(state))
        state.update_easiness()
        assert state.v.min() > 1 - 1e-6
        state.update_regression()
        values.append(objective(state))
    assert np.diff(values).max() < 1e-3 * abs(values[0])
    assert values[-1] < values[0]


def test_every_step_of_spal_lowers_the_objective_also_when_some_rows_are_too_hard():
    """A change of v changes the constraint v·w = batch, so the step for w starts at the nearest w that satisfies it."""
    state = Alternation(KernelBlocks(breast_cancer()), 10, mu=1.0, pace=0.3)

    def value():
        return objective(state) + state.pace * (state.v**2 / 2 - state.v).sum()

    for _ in range(5):
        state.w = project(state.w, state.v, state.batch)
        values = [value()]
        for step in (state.update_selection, state.update_easiness, state.update_regression):
            step()
            values.append(value())
        assert np.diff(values).max() <= 1e-6 * abs(values[0])
        assert state.v.min() < 0.5


@pytest.mark.parametrize(("rows", "mu", "batch"), [(60, 0.1, 1), (60, 0.1, 10), (60, 1.0, 5), (80, 1.0, 10)])
def test_spal_with_a_boundless_pace_is_bmdr(rows, mu, batch):
    """Every row is easy: BMDR's quadratic programme, here by a general solver, and the regression in turn."""
    pool = breast_cancer(rows, 12)
    blocks = KernelBlocks(pool)
    K, u = blocks.UU, len(blocks.UU)
    represented = ((u - batch) * blocks.UL.sum(axis=1) - (12 + batch) * K.sum(axis=1)) / rows
    state = Alternation(blocks, batch, mu, pace=1.0)  # for its regression alone
    chosen, last = set(), None
    while chosen != last:
        q = mu * represented + state.cost
        programme = minimize(
            lambda w, q=q: mu * w @ K @ w / 4 + q @ w, np.full(u, batch / u), jac=lambda w, q=q: mu * K @ w / 2 + q,
            method="SLSQP", bounds=[(0, 1)] * u, constraints=LinearConstraint(np.ones(u), batch, batch),
            options={"maxiter": 1000, "ftol": 1e-12},
        )  # fmt: skip
        state.update_regression(programme.x)
        last, chosen = chosen, set(blocks.candidates[np.argsort(-programme.x)[:batch]])
    assert set(pick(SPAL(mu=mu, pace=(1e9, 0.0)), pool, batch)) == chosen


def test_hard_rows_are_left_out_by_pace():
    state = Alternation(KernelBlocks(breast_cancer()), 10, 0.1, pace=0.05)
    state.w[:] = 1
    state.update_easiness()
    np.testing.assert_allclose(state.v, np.clip(1 - state.cost / 0.05, 0, 1))
    assert 0 < (state.v == 0).mean() < 1


def test_projection_is_the_nearest_feasible_point():
    rng = np.random.default_rng(0)
    x, v = rng.normal(size=6), rng.random(6)
    w = project(x, v, 1.5)
    assert v @ w == pytest.approx(1.5)
    assert w.min() >= 0
    assert w.max() <= 1
    for _ in range(200):
        other = project(rng.normal(size=6), v, 1.5)
        assert np.linalg.norm(x - w) <= np.linalg.norm(x - other) + 1e-9
    assert project(x, v, 100.0).tolist() == np.clip(x, 0, 1).tolist()


def test_the_regression_of_spal_is_optimal():
    blocks = KernelBlocks(breast_cancer())
    state = Alternation(blocks, 5, 0.1, 1e9)
    weight = np.zeros(len(blocks.UU))
    weight[:5] = 0.7

    def value(theta):
        f = blocks.UL[:5] @ theta
        fit = np.square(blocks.Y - blocks.LL @ theta).sum() + 0.1 * np.square(theta).sum()
        return fit + 0.7 * (f**2 + 2 * np.abs(f)).sum()

    state.update_regression(weight)
    best, rng = value(state.theta), np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        for _ in range(50):
            assert value(state.theta + size * rng.normal(size=state.theta.shape)) > best - 1e-4
