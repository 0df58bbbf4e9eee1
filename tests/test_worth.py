"""MHEAL.select(worth=…): some rows count for more than others."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mheal import MHEAL

X = load_digits().data.astype(np.float32)


def test_rows_of_equal_worth_change_nothing():
    plain = MHEAL(random_state=0).select(X, 300)
    same = MHEAL(random_state=0).select(X, 300, worth=np.full(len(X), 7))
    np.testing.assert_array_equal(same.indices, plain.indices)


@pytest.mark.parametrize("mode", [MHEAL(cover=0, trim=0, random_state=0), MHEAL(charge=None, random_state=0)])
def test_rows_of_no_worth_come_last_where_nothing_is_covered(mode):
    worth = np.arange(len(X)) % 3 == 0
    n = int(worth.sum())
    picks = mode.select(X, n + 40, worth=worth).indices
    assert worth[picks[:n]].all()
    assert not worth[picks[n:]].any()


def test_what_is_worth_more_is_picked_more():
    dear = X[:, 20] > np.median(X[:, 20])
    worth = np.where(dear, 1.0, 0.3)
    for mode in (MHEAL(random_state=0), MHEAL(cover=0, random_state=0)):
        assert dear[mode.select(X, 100, worth=worth).indices].mean() > dear[mode.select(X, 100).indices].mean() + 0.15


@pytest.mark.parametrize(
    ("worth", "message"),
    [
        ([1, 2], "utility has shape \\(2,\\), but X has 1797 rows"),
        (np.where(np.arange(1797) == 5, -1.0, 1.0), "utility is .*-1.0.* at row 5: it must be a number ≥ 0"),
        (np.where(np.arange(1797) == 5, np.nan, 1.0), "at row 5"),
        (np.zeros(1797), "utility is 0 for every row: leave it out"),
    ],
)
def test_bad_worth_is_told_with_a_remedy(worth, message):
    with pytest.raises(ValueError, match=message):
        MHEAL().select(X, 10, worth=worth)
