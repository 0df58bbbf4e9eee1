"""Eq. 8: farthest-first traversal."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mheal
import reference

pools = st.integers(0, 10_000).map(lambda s: np.random.default_rng(s).standard_normal((40, 5)))


def radius(X, rows):
    return np.sqrt(((X[:, None] - X[rows][None]) ** 2).sum(-1)).min(1).max()


@pytest.mark.parametrize("pick", [mheal.farthest_first, mheal.facility_location])
@pytest.mark.parametrize("scale", [1e30, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_too_long_or_short_are_refused(pick, scale, dtype):
    X = (np.random.default_rng(0).normal(size=(500, 8)) * scale).astype(dtype)
    with pytest.raises(ValueError, match="rescale"):
        pick(X, 5)


@pytest.mark.parametrize("pick", [mheal.farthest_first, mheal.facility_location])
@pytest.mark.parametrize("exponent", [45, -45])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_picks_do_not_depend_on_the_unit(pick, exponent, dtype):
    X = np.random.default_rng(0).normal(size=(500, 8)).astype(dtype)
    np.testing.assert_array_equal(pick(np.ldexp(X, exponent), 50), pick(X, 50))


@pytest.mark.parametrize("n", [2, 7, 60, 200])
def test_farthest_first_equals_brute_incremental(n):
    X = np.random.default_rng(n).standard_normal((200, 6))
    expected = np.concatenate([[3], reference.max_min(X, n - 1, [3])[0]])
    np.testing.assert_array_equal(mheal.farthest_first(X, n, start=3), expected)


@settings(deadline=None, max_examples=30)
@given(pools)
def test_radius_non_increasing(X):
    rows = mheal.farthest_first(X, 20)
    radii = [radius(X, rows[: t + 1]) for t in range(20)]
    assert all(a >= b - 1e-12 for a, b in pairwise(radii))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 4))
def test_within_twice_the_optimal_radius(seed, n):
    X = np.random.default_rng(seed).standard_normal((14, 3))
    best = min(radius(X, list(rows)) for rows in combinations(range(14), n))
    assert radius(X, mheal.farthest_first(X, n)) <= 2 * best + 1e-9


@settings(deadline=None, max_examples=20)
@given(pools, st.integers(0, 10_000))
def test_rotation_invariance(X, seed):
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))
    np.testing.assert_array_equal(mheal.farthest_first(X, 15), mheal.farthest_first(X @ Q, 15))


@settings(deadline=None, max_examples=20)
@given(pools, st.integers(0, 10_000))
def test_permutation_equivariance(X, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    start = int(np.flatnonzero(order == 0)[0])
    rows = mheal.farthest_first(X[order], 15, start=start)
    np.testing.assert_array_equal(order[rows], mheal.farthest_first(X, 15, start=0))


@settings(deadline=None, max_examples=20)
@given(pools, st.floats(0.01, 100))
def test_scale_invariance(X, factor):
    np.testing.assert_array_equal(mheal.farthest_first(X, 15), mheal.farthest_first(X * factor, 15))


def test_prefix_property():
    X = np.random.default_rng(0).standard_normal((500, 8)).astype(np.float32)
    np.testing.assert_array_equal(mheal.farthest_first(X, 20), mheal.farthest_first(X, 100)[:20])


def test_chosen_rows_repel_and_are_not_returned():
    X = np.array([[0.0], [1.0], [9.0], [10.0], [5.0]])
    np.testing.assert_array_equal(mheal.farthest_first(X, 2, chosen=[0, 3]), [4, 1])
    np.testing.assert_array_equal(mheal.farthest_first(X, 2, start=1, chosen=[0, 3]), [1, 4])


def test_every_row_can_be_asked_for():
    X = np.random.default_rng(0).standard_normal((30, 3))
    assert sorted(mheal.farthest_first(X, 30)) == list(range(30))


def test_high_offset_does_not_spoil_picks():
    X = np.random.default_rng(0).standard_normal((300, 20))
    np.testing.assert_array_equal(mheal.farthest_first(X, 50), mheal.farthest_first(X + 1000, 50))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(n=0), "budget must be at least 1"),
        (dict(n=6), "exceeds the 5 unlabelled rows"),
        (dict(n=2, start=5), "between 0 and 4"),
        (dict(n=2, start=1, chosen=[1]), "chosen already"),
        (dict(n=2, chosen=[7]), "row 7"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        mheal.farthest_first(np.arange(10.0).reshape(5, 2), **arguments)
