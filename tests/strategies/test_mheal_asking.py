"""MHEAL that asks a model."""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mheal.strategies import Pool, get

X, y = load_digits(return_X_y=True)
FIRST = np.random.default_rng(0).permutation(len(X))[:300]
MODEL = LogisticRegression(max_iter=200).fit(X[FIRST], y[FIRST])


def pool(model):
    return Pool(X, FIRST, y[FIRST], model, np.random.default_rng(0))


def doubt(rows):
    top = np.sort(MODEL.predict_proba(X[rows]), axis=1)
    return (1 - top[:, -1] + top[:, -2]).mean()


def test_without_a_model_it_is_mheal():
    asking, plain = (get(name)().select(pool(None), 40).indices for name in ("mheal-asking", "mheal"))
    np.testing.assert_array_equal(asking, plain)


def test_with_few_labels_it_does_not_ask():
    few = Pool(X, FIRST[:63], y[FIRST[:63]], MODEL, np.random.default_rng(0))
    without = Pool(X, FIRST[:63], y[FIRST[:63]], None, np.random.default_rng(0))
    plain = get("mheal")().select(without, 40).indices
    np.testing.assert_array_equal(get("mheal-asking")().select(few, 40).indices, plain)
    assert not np.array_equal(get("mheal-asking")(ask_from=63).select(few, 40).indices, plain)


def test_it_picks_what_the_model_doubts_and_more_so_with_a_larger_power():
    plain, asking, eager = (
        get(name)(**parameters).select(pool(MODEL), 40).indices
        for name, parameters in (("mheal", {}), ("mheal-asking", {}), ("mheal-asking", {"power": 3.0}))
    )
    assert doubt(plain) < doubt(asking) < doubt(eager)


def test_its_picks_are_farther_apart_than_the_most_doubtful():
    asking = get("mheal-asking")().select(pool(MODEL), 40).indices
    doubtful = get("margin")().select(pool(MODEL), 40).indices

    def nearest(rows):
        distance = np.sqrt(((X[rows, None] - X[None, rows]) ** 2).sum(-1)) + 1e9 * np.eye(len(rows))
        return distance.min(axis=1).mean()

    assert nearest(asking) > nearest(doubtful)


def test_a_model_without_doubt_leaves_it_as_it_is():
    class Sure:
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    sure = get("mheal-asking")().select(pool(Sure()), 40).indices
    np.testing.assert_array_equal(sure, get("mheal")().select(pool(None), 40).indices)
