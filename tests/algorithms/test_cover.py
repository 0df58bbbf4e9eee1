"""Covering against a plain greedy loop."""

import numpy as np
import pytest

from mheal.algorithms import facility_location as room
from mheal.algorithms.facility_location import cover
from mheal.backends.cpu.points import Points

NONE = np.empty(0, np.int64)


def attraction(X, Y, scale):
    return 1 / (1 + ((X[:, None] - Y[None]) ** 2).sum(-1) / scale)


def plain(X, n, chosen=()):
    """Try every row at every step."""
    scale = np.median(((X[:, None] - X[None]) ** 2).sum(-1))
    drawn = attraction(X, X, scale)
    picks = list(chosen)
    for _ in range(n):
        so_far = drawn[picks].max(axis=0) if picks else np.zeros(len(X))
        gain = np.maximum(drawn - so_far, 0).sum(axis=1)
        gain[picks] = -1
        equal = np.flatnonzero(gain >= gain.max() * (1 - 1e-5))  # rows that are in pairs add the same
        picks.append(int(equal[drawn[equal].sum(axis=1).argmax()]))
    return picks[len(chosen) :]


def run(X, n, chosen=NONE, seed=0):
    return cover(Points.raw(X), n, np.asarray(chosen, np.int64), np.random.RandomState(seed))


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


def test_a_sample_stands_for_a_large_pool(monkeypatch):
    X = np.random.default_rng(2).normal(size=(9000, 8)).astype(np.float32)
    chosen = np.arange(100)
    sampled = run(X, 40, chosen)
    assert len(set(sampled.tolist()) - set(chosen.tolist())) == 40
    monkeypatch.setattr(room, "REFERENCES", 9000)
    monkeypatch.setattr(room, "CANDIDATES", 9000)
    everyone = run(X, 40, chosen)

    def reached(rows):
        scale = np.median(((X[:500, None] - X[None, :500]) ** 2).sum(-1))
        return attraction(X, X[np.append(chosen, rows)], scale).max(axis=1).mean()

    def at_random(seed):
        return reached(np.random.default_rng(seed).choice(9000, 40, replace=False))

    assert reached(sampled) > max(at_random(seed) for seed in range(20))
    assert reached(sampled) == pytest.approx(reached(everyone), rel=0.02)
