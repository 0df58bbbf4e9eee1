"""Rows that equal an earlier one are found, all of them and no others."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mheal import duplicates
from mheal.duplicates import distinct

small = arrays(np.float32, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.sampled_from([-0.0, 0, 1, 2]))


@given(small, st.booleans())
@settings(max_examples=200, deadline=None)
def test_the_first_of_equal_rows_stands_for_all(X, double):
    X = X.astype(np.float64) if double else X
    found = distinct(X)
    seen = {}
    for row in X:
        seen.setdefault(tuple(row + 0.0), len(seen))
    if found is None:
        assert len(seen) == len(X)
        return
    assert found.place.tolist() == [seen[tuple(row + 0.0)] for row in X]
    assert np.array_equal(X[found.first], np.array(list(seen)))
    assert found.first.tolist() == sorted({i: at for at, i in reversed(list(enumerate(found.place)))}.values())


def test_rows_of_one_hash_are_compared_until_all_is_known(monkeypatch):
    X = np.array([[0.0], [1], [2], [1], [2], [0], [1], [3]])
    monkeypatch.setattr(duplicates, "_hashes", lambda X, step: np.zeros(len(X), np.uint64))
    assert distinct(X, block=2).place.tolist() == [0, 1, 2, 1, 2, 0, 1, 3]
    assert distinct(X[[0, 1, 2, 7]], block=2) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_few_values_have_hashes_of_their_own(dtype):
    X = np.stack(np.meshgrid(*[[0, 1, 2, 0.5, -3, 7]] * 6), -1).reshape(-1, 6).astype(dtype)
    assert len(np.unique(duplicates._hashes(X, 1000))) == len(X)


def test_blocks_make_no_difference():
    X = np.random.default_rng(0).integers(0, 3, (500, 4)).astype(np.float32)
    whole = distinct(X)
    for one, other in zip(whole, distinct(X, block=12), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_left_to_others(bad):
    X = np.ones((5, 2))
    X[3, 1] = bad
    assert distinct(X) is None


def test_tensors_are_looked_at_too():
    torch = pytest.importorskip("torch")
    X = torch.arange(12, dtype=torch.float32).reshape(6, 2)
    X[4] = X[1]
    found = distinct(X)
    assert found.first.tolist() == [0, 1, 2, 3, 5]
    assert torch.equal(X[found.first], X[[0, 1, 2, 3, 5]])


def test_places_of_rows_are_named_once_in_their_order():
    X = np.array([[5.0], [3], [5], [4], [3]])
    assert distinct(X).places(np.array([4, 0, 2, 1])).tolist() == [1, 0]
