import numpy as np
import pytest

import mheal
from mheal.one_hot import block_deviation, one_hot_blocks, sample_rows


def table(n=600, seed=0):
    """Two numbers, a category of four values, a number, a category of two values, and a single column of 0 and 1."""
    rng = np.random.default_rng(seed)
    first, second = rng.choice(4, n, p=[0.7, 0.2, 0.09, 0.01]), rng.integers(0, 2, n)
    parts = [rng.normal(size=(n, 2)), np.eye(4)[first], rng.normal(size=(n, 1)), np.eye(2)[second]]
    return np.column_stack([*parts, rng.integers(0, 2, n)])


def test_blocks_are_found():
    X = table()
    assert one_hot_blocks(X.mean(0), X.std(0), X) == [(2, 6), (7, 9)]
    assert one_hot_blocks(X.mean(0), X.std(0), X[sample_rows(len(X))][:50]) == [(2, 6), (7, 9)]


@pytest.mark.parametrize("spoil", [0.5, -1, 2])
def test_other_numbers_are_no_block(spoil):
    X = table()
    X[500, 3] = spoil  # beyond the sample: only the moments show it
    assert one_hot_blocks(X.mean(0), X.std(0), X[:100]) == [(7, 9)]


def test_digits_have_no_blocks():
    X = np.random.default_rng(0).integers(0, 2, (200, 12)).astype(float)
    assert one_hot_blocks(X.mean(0), X.std(0), X) == []


def test_a_category_has_the_variance_of_one_number():
    X = table()
    Z = (X - X.mean(0)) / block_deviation(X.mean(0), X.std(0), X)
    variance = Z.var(axis=0)
    assert variance[[0, 1, 6, 9]] == pytest.approx(np.ones(4))
    assert variance[2:6].sum() == pytest.approx(1)
    assert variance[7:9].sum() == pytest.approx(1)
    assert len(set(np.round(X.std(0)[2:6] / variance[2:6] ** 0.5, 6))) == 1  # rare values count no more than others


@pytest.mark.parametrize("strategy", ["mheal", "coreset", "kmedoids"])
def test_picks_do_not_depend_on_how_a_category_is_written(strategy):
    X = table()
    split = np.column_stack([X[:, :6], X[:, 6:7], X[:, 7:8], X[:, 9]])  # the category of two values as one column
    assert mheal.select(X, 30, strategy=strategy).indices.tolist() == (
        mheal.select(split, 30, strategy=strategy).indices.tolist()
    )


def blocks_by_definition(X):
    """From each column, the shortest block that sums to 1 in every row."""
    blocks, at = [], 0
    while at < X.shape[1]:
        totals = X[:, at:].cumsum(axis=1)
        binary = np.cumprod(((X[:, at:] == 0) | (X[:, at:] == 1)).all(axis=0)).astype(bool)
        full = np.flatnonzero((totals == 1).all(axis=0) & binary)
        if len(full) and full[0] > 0:
            blocks.append((at, at + int(full[0]) + 1))
        at += int(full[0]) + 1 if len(full) else 1
    return blocks


def test_blocks_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(300):
        rows = int(rng.integers(1, 9))
        kinds = [
            lambda n: rng.integers(0, 2, (n, 1)), lambda n: np.zeros((n, 1)), lambda n: np.ones((n, 1)),
            lambda n: rng.normal(size=(n, 1)), lambda n: np.eye(3)[rng.integers(3, size=n)],
        ]  # fmt: skip
        X = np.hstack([kinds[k](rows) for k in rng.integers(len(kinds), size=8)]).astype(float)
        expected = blocks_by_definition(X)
        assert one_hot_blocks(X.mean(0), X.std(0), X) == expected
        found += len(expected)
    assert found > 300
