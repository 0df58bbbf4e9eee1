"""Clusters that share the budget equally."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from mheal import MHEAL, PaperMHEAL

X = load_digits().data.astype(np.float32)
MODES = {
    "paper": PaperMHEAL(10, random_state=0),
    "balanced": MHEAL(balance_clusters=True, random_state=0),
    "balanced in clusters without density": MHEAL(
        density_power=None, balance_clusters=True, across_clusters=False, random_state=0
    ),
}


@pytest.mark.parametrize("budget", [7, 100, 333])
@pytest.mark.parametrize("mode", MODES)
def test_shares_sum_to_the_budget_and_are_balanced(mode, budget):
    picks = clone(MODES[mode]).set_params(n_clusters=10).select(X, budget)
    counts = np.bincount(picks.cluster, minlength=10)
    assert counts.sum() == budget
    assert counts.max() - counts.min() <= 1
    for t in range(1, budget + 1):  # prefixes are balanced too, since clusters alternate
        prefix = np.bincount(picks.cluster[:t], minlength=10)
        assert prefix.max() - prefix.min() <= 1


def test_remainder_goes_to_the_largest_clusters():
    sizes = np.bincount(MODES["paper"].select(X, len(X)).cluster)
    picks = MODES["paper"].select(X, 13)
    counts = np.bincount(picks.cluster, minlength=10)
    assert set(np.flatnonzero(counts == 2)) == set(np.argsort(-sizes, kind="stable")[:3])


def test_small_clusters_give_their_share_to_others():
    rng = np.random.default_rng(0)
    Y = np.vstack([[[1.0, 0, 0], [1.01, 0, 0]], rng.standard_normal((300, 3)) + np.array([0, 9, 9])])
    picks = MHEAL(2, balance_clusters=True, scaling="raw", random_state=0).select(Y, 40)
    assert sorted(np.bincount(picks.cluster)) == [2, 38]
