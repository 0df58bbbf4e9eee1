"""Facility location against a plain greedy loop."""

import numpy as np
import pytest

import mheal
from mheal.algorithms.facility_location import lazy_greedy, representatives
from mheal.backends.cpu.points import Points

NONE = np.empty(0, np.int64)


def similarity(X):
    """Mutual neighbourhood in steps of 2^¼: the weight of every share of the rows for which two rows are near."""
    square = ((X[:, None] - X[None]) ** 2).sum(-1)
    found = np.zeros(square.shape)
    for share in (2.0 ** (-k / 4) for k in range(1, 37)):
        farthest = np.sort(square, axis=1)[:, int(np.ceil(len(X) * share)) - 1]
        near = square <= farthest[:, None] * (1 + 1e-5)
        found += (near & near.T) * round(64 * share / (share + 0.002))
    return found


def plain(X, n, chosen=()):
    """The greedy loop, which computes the gain of every row at every step."""
    similar, far = similarity(X), ((X - X.mean(axis=0)) ** 2).sum(axis=1)
    picks = list(chosen)
    for _ in range(n):
        covered = similar[picks].max(axis=0, initial=0)
        gain = np.maximum(similar - covered, 0).sum(axis=1)
        gain[picks] = -1
        equal = np.flatnonzero(gain >= gain.max() * (1 - 1e-5))  # of equal rows, the one nearest to the mean
        picks.append(int(equal[far[equal].argmin()]))
    return picks[len(chosen) :]


def run(X, n, chosen=NONE, seed=0, **sizes):
    return representatives(Points.raw(X), n, np.asarray(chosen, np.int64), np.random.RandomState(seed), **sizes)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("chosen", [[], [3, 50, 7]])
def test_equals_a_plain_greedy_loop(seed, chosen):
    X = np.random.default_rng(seed).normal(size=(150, 4)) ** 3
    assert run(X, 25, chosen).tolist() == plain(X, 25, chosen)


def test_first_picks_are_one_to_a_blob():
    rng = np.random.default_rng(0)
    centers = 20 * rng.normal(size=(6, 5))
    blob = rng.integers(6, size=600)
    picks = run(centers[blob] + rng.normal(size=(600, 5)), 6)
    assert set(blob[picks]) == set(range(6))


def test_a_lone_outlier_is_not_among_the_first():
    X = np.random.default_rng(0).normal(size=(400, 3))
    X[17] = 100
    assert 17 not in run(X, 20)


def test_duplicates_of_picks_add_nothing():
    X = np.repeat(np.random.default_rng(0).normal(size=(12, 3)), 30, axis=0)
    picks = run(X, 40)
    assert len(picks) == 12  # and then it stops: there is nothing left to gain
    assert len(np.unique(X[picks], axis=0)) == 12


def test_prefix_property():
    X = np.random.default_rng(1).normal(size=(5000, 6)).astype(np.float32)
    np.testing.assert_array_equal(run(X, 10), run(X, 60)[:10])


def test_a_sample_represents_a_large_pool():
    X = np.random.default_rng(2).normal(size=(9000, 8)).astype(np.float32)
    chosen = np.arange(100)
    sampled = run(X, 40, chosen)
    assert len(set(sampled.tolist()) - set(chosen.tolist())) == 40
    everyone = run(X, 40, chosen, sample=9000)

    def reached(rows):
        nearest = ((X[:, None] - X[np.append(chosen, rows)]) ** 2).sum(-1).min(axis=1)
        return (1 / (1 + nearest / X.var(axis=0).sum())).mean()

    def at_random(seed):
        return reached(np.random.default_rng(seed).choice(9000, 40, replace=False))

    assert reached(sampled) > max(at_random(seed) for seed in range(20))
    assert reached(sampled) == pytest.approx(reached(everyone), rel=0.02)


def test_the_public_function_goes_on_where_nothing_is_left_to_gain():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 4, axis=0)
    rows = mheal.facility_location(X, 12, labeled=[0])
    assert len(set(rows.tolist()) | {0}) == 13
    assert len(np.unique(X[np.append(rows[:4], 0)], axis=0)) == 5
    np.testing.assert_array_equal(mheal.facility_location(X, 3, labeled=[0]), rows[:3])


@pytest.mark.parametrize("batch", [1, 5, 64])
@pytest.mark.parametrize("integer", [False, True])
def test_lazy_greedy_equals_the_plain_loop(batch, integer):
    """Weighted maximum coverage; with integers, many gains are equal."""
    rng = np.random.default_rng(batch)
    similar = rng.integers(0, 3, (120, 40)).astype(float) if integer else rng.random((120, 40))
    covered = np.zeros(40)
    found = lazy_greedy(
        similar.sum(axis=1), lambda rows: np.maximum(similar[rows] - covered, 0).sum(axis=1),
        lambda row: np.maximum(covered, similar[row], out=covered), 30, batch=batch,
    )  # fmt: skip
    expected, reached = [], np.zeros(40)
    while len(expected) < 30:
        gain = np.maximum(similar - reached, 0).sum(axis=1)
        if gain.max() <= 0:
            break
        expected.append(int(gain.argmax()))
        reached = np.maximum(reached, similar[expected[-1]])
    assert found.tolist() == expected
