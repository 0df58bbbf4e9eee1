"""All picks in one pass on the CPU: the radius after each, and scores from which a traversal continues."""

import numpy as np
import pytest

import reference
from mheal.algorithms.density import DensityWeights
from mheal.algorithms.farthest_first import traverse
from mheal.backends.cpu.points import Points
from mheal.backends.cpu.staging import Sizes


def picks_of(points, rows, weight):
    picks = points.picks(len(rows))
    picks.add(rows, weight[rows])
    return picks


@pytest.mark.parametrize(("n", "d", "count"), [(1000, 3, 5), (3000, 20, 300), (257, 9, 257)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_radii_and_scores_equal_a_plain_loop(n, d, count, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d)).astype(dtype)
    weight, candidate = rng.uniform(0.5, 2, (2, n)).astype(dtype)
    rows = rng.choice(n, count, replace=False)
    radius, (norm2, score, seen) = picks_of(Points.raw(X), rows, weight).radii(candidate)
    assert seen == count
    distance2 = ((X[:, None].astype(np.float64) - X[rows][None]) ** 2).sum(-1) * weight[rows] * candidate[:, None]
    nearest = np.minimum.accumulate(distance2, axis=1)
    np.testing.assert_allclose(radius, np.sqrt(nearest.max(axis=0)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(score, nearest[:, -1], rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(norm2, (X.astype(np.float64) ** 2).sum(1), rtol=1e-5)
    assert not score[rows].any()  # a pick is at 0 from itself, exactly


def test_far_from_the_origin_distances_do_not_cancel():
    X = (1000 + np.random.default_rng(0).standard_normal((500, 16))).astype(np.float32)
    rows = np.arange(0, 500, 5)
    got = picks_of(Points.raw(X), rows, np.ones(500)).radii(np.ones(500, np.float32))[0]
    distance = np.sqrt(((X[:, None].astype(np.float64) - X[rows][None]) ** 2).sum(-1))
    np.testing.assert_allclose(got, np.minimum.accumulate(distance, axis=1).max(axis=0), rtol=1e-4)


@pytest.mark.parametrize("d", [4, 24])
@pytest.mark.parametrize("chosen", [1, 40, 300])
def test_going_on_from_the_scores_picks_what_the_plain_loop_picks(d, chosen):
    """With integers and duplicates, dot products are exact and there are many ties, which go to the lowest row."""
    rng = np.random.default_rng(d + chosen)
    X = rng.integers(-2, 3, (4000, d)).astype(np.float32)
    X[2000:2500] = X[:500]
    weight = rng.choice([0.5, 1, 2], 4000).astype(np.float32)
    candidate = np.where(rng.uniform(size=4000) < 0.1, weight / 8, weight)
    points, rows = Points.raw(X, sizes=Sizes(front_rows=64)), rng.choice(4000, chosen, replace=False)
    _, first = picks_of(points, rows, weight).radii(candidate)
    picked, score, _ = traverse(points, 400, rows, DensityWeights(weight, candidate), first=first)
    expected, gains = reference.max_min(X, 400, rows, weight, candidate)
    np.testing.assert_array_equal(picked, expected)
    np.testing.assert_array_equal(score, gains.astype(np.float32))


def test_scores_of_all_picks_equal_those_of_a_traversal_that_has_caught_up():
    X = np.random.default_rng(0).standard_normal((5000, 12)).astype(np.float32)
    rows = np.arange(0, 5000, 50)
    points, ones = Points.raw(X), np.ones(5000, np.float32)
    _, first = picks_of(points, rows, ones).radii(ones)
    stale = picks_of(points, rows, ones).candidates(ones, ones)[0].scores().score
    assert (stale >= first.score * (1 - 1e-5)).all()
    np.testing.assert_array_equal(traverse(points, 200, rows, first=first)[0], traverse(points, 200, rows)[0])
