"""Uncertainty of a model, and a utility of the user's own: some rows count more than others."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import mheal
from mheal import MHEAL
from mheal.exceptions import UserError
from mheal.strategies import Pool
from mheal.uncertainty import FewLabelsWarning, GivenProbabilities, margins, uncertainty

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
FIRST = np.random.default_rng(0).permutation(len(X))[:300]
MODEL = LogisticRegression(max_iter=200).fit(X[FIRST], y[FIRST])


def uncertainty_of(proba, power=2):
    return uncertainty(Pool(proba, model=GivenProbabilities(proba)), power)


def mean_uncertainty(picks):
    return uncertainty_of(MODEL.predict_proba(X[picks]), power=1).mean()


def test_rows_of_equal_utility_change_nothing():
    plain = MHEAL(random_state=0).select(X, 300)
    same = MHEAL(random_state=0).select(X, 300, utility=np.full(len(X), 7))
    np.testing.assert_array_equal(same.indices, plain.indices)


@pytest.mark.parametrize(
    "mode", [MHEAL(n_representatives=0, outlier_fraction=0, random_state=0), MHEAL(density_power=None, random_state=0)]
)
def test_rows_of_no_utility_come_last_where_rows_are_spread(mode):
    utility = np.arange(len(X)) % 3 == 0
    n = int(utility.sum())
    picks = mode.select(X, n + 40, utility=utility).indices
    assert utility[picks[:n]].all()
    assert not utility[picks[n:]].any()


def test_rows_of_larger_utility_are_picked_more_often():
    useful = X[:, 20] > np.median(X[:, 20])
    utility = np.where(useful, 1.0, 0.3)
    for mode in (MHEAL(random_state=0), MHEAL(n_representatives=0, random_state=0)):
        more = useful[mode.select(X, 100, utility=utility).indices].mean()
        assert more > useful[mode.select(X, 100).indices].mean() + 0.15


@pytest.mark.parametrize(
    ("utility", "message"),
    [
        ([1, 2], "shape \\(2,\\), but X has 1797 rows"),
        (np.where(np.arange(1797) == 5, -1.0, 1.0), "-1.0.* at row 5"),
        (np.where(np.arange(1797) == 5, np.nan, 1.0), "at row 5"),
        (np.zeros(1797), "0 for every row: leave it out"),
    ],
)
def test_bad_utility_gets_one_line_with_a_remedy(utility, message):
    with pytest.raises(ValueError, match=message):
        MHEAL().select(X, 10, utility=utility)


def test_a_model_of_few_labels_is_not_used():
    few = FIRST[:63]
    with pytest.warns(FewLabelsWarning, match="64 .* 63"):
        picks = mheal.select(X, 40, labeled=few, y=y[few], estimator=MODEL)
    assert picks == mheal.select(X, 40, labeled=few)
    one_more = FIRST[:64]
    assert mheal.select(X, 40, labeled=one_more, y=y[one_more], estimator=MODEL) != mheal.select(
        X, 40, labeled=one_more
    )


def test_picks_are_uncertain_and_yet_farther_apart_than_the_most_uncertain_rows():
    given = {"labeled": FIRST, "y": y[FIRST], "estimator": MODEL}
    plain, ours, margin = mheal.select(X, 40, labeled=FIRST), mheal.select(X, 40, **given), mheal.select(
        X, 40, strategy="margin", **given
    )  # fmt: skip
    assert mean_uncertainty(plain) < mean_uncertainty(ours) < mean_uncertainty(margin)

    def nearest(picks):
        distance = np.sqrt(((X[picks][:, None] - X[picks][None]) ** 2).sum(-1)) + 1e9 * np.eye(len(picks))
        return distance.min(axis=1).mean()

    assert nearest(ours) > nearest(margin)


def test_a_model_that_is_certain_of_everything_changes_nothing():
    class Certain:
        classes_ = np.array([0, 1])

        def fit(self, X, y):
            return self

        def predict_proba(self, X):
            return np.tile([1.0, 0.0], (len(X), 1))

    picks = mheal.select(X, 40, labeled=FIRST, y=y[FIRST], estimator=Certain())
    np.testing.assert_array_equal(picks.indices, mheal.select(X, 40, labeled=FIRST).indices)


class Own:
    """A user's model that returns what it is given."""

    classes_ = np.array([0, 1])

    def __init__(self, result):
        self.result = result

    def fit(self, X, y):
        return self

    def predict(self, X):
        return np.zeros(len(X), int)

    def predict_proba(self, X):
        return self.result(X)


class OwnDecisions(Own):
    predict_proba = property()

    def decision_function(self, X):
        return self.result(X)


@pytest.mark.parametrize("strategy", ["mheal", "margin"])
@pytest.mark.parametrize("model", [Own, OwnDecisions])
@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda X: X @ np.ones(3), "fails .ValueError: .*matmul"),
        (lambda X: {}["weights"], "fails .KeyError: 'weights'.: "),
        (lambda X: np.ones((len(X), 3)), r", 3\) for .* rows and 2 classes: "),
        (lambda X: np.ones((2, len(X), 2)), r"2\) for .* 2 classes: "),
        (lambda X: 0.5, r"shape \(\) for"),
        (lambda X: np.full((len(X), 2), np.nan), "NaN for row 0: "),
    ],
)
def test_a_model_that_fails_or_returns_a_wrong_shape_is_named(strategy, model, result, message):
    with pytest.raises(UserError, match=rf"^{model.__name__}\.(predict_proba|decision_function) .*{message}"):
        mheal.select(X, 5, labeled=FIRST, y=y[FIRST], estimator=model(result), strategy=strategy)


def test_margins_and_uncertainty():
    proba = np.array([[0.5, 0.5, 0.0], [0.8, 0.1, 0.1], [1.0, 0.0, 0.0]])
    np.testing.assert_allclose(margins(proba), [0, 0.7, 1])
    np.testing.assert_allclose(uncertainty_of(proba, power=2), [1, 0.09, 0])
    assert uncertainty_of(np.eye(3)) is None
    np.testing.assert_allclose(margins(np.ones((2, 1))), [1, 1])


@pytest.mark.parametrize("factor", [1e-300, 1e-39, 1e39, 1e300])
def test_the_unit_of_a_utility_does_not_matter(factor):
    rng = np.random.default_rng(0)
    X, utility = rng.normal(size=(300, 4)), rng.uniform(0.1, 1, 300)
    picks = mheal.select(X, 9, utility=utility)
    assert mheal.select(X, 9, utility=factor * utility).indices.tolist() == picks.indices.tolist()
