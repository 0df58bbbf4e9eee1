from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.linear_model import LogisticRegression

import mheal
from mheal.estimators import fit_on_pool
from mheal.evaluate import CurveFit, Resampled, learning_curve
from mheal.evaluate.learning_curve import _in_proportion
from mheal.exceptions import DataWarning
from mheal.scaling import comparable

X, y = load_digits(return_X_y=True)
FEW = np.random.default_rng(0).permutation(len(y))[:150]


def test_estimates_what_held_out_digits_show():
    curve = learning_curve(X, y[FEW], labeled=FEW, repeats=3)
    assert (np.diff(curve.labels) > 0).all()
    assert (curve.labels[0], curve.labels[-1]) == (30, 120)
    assert curve.right.shape == (150, len(curve.labels))
    rest = np.setdiff1d(np.arange(len(y)), FEW)
    scale = X.std(axis=0) + 1e-9
    Z = (X - X.mean(axis=0)) / scale
    truth = LogisticRegression(max_iter=1000).fit(Z[FEW[:120]], y[FEW[:120]]).score(Z[rest], y[rest])
    assert curve.accuracy[-1] == pytest.approx(truth, abs=0.06)
    assert curve.accuracy[0] < curve.accuracy[-1] - 0.1
    fit = curve.fit()
    assert fit.predict(120).low <= truth <= fit.predict(120).high


def test_intervals_hold_the_truth_in_at_least_80_percent_of_real_cases():
    held = []
    for load, starts in ((load_digits, [50]), (load_wine, [25, 50]), (load_breast_cancer, [25, 50])):
        X, y = load(return_X_y=True)
        for seed, n in product((0, 1), starts):
            order = np.random.default_rng(seed).permutation(len(y))
            pool, rest = np.split(order, [int(0.7 * len(y))])
            picks = mheal.select(X[pool], 2 * n, random_state=seed).indices
            fit = learning_curve(X[pool], y[pool][picks[:n]], labeled=picks[:n], repeats=2, seed=seed).fit()
            for more in (n, 2 * n):
                model = fit_on_pool("logistic", seed, X[pool], picks[:more], y[pool][picks[:more]])
                expected = fit.predict(more)
                assert 0 < expected.low <= expected.value <= expected.high < 1
                assert expected.high - expected.low < 0.45
                held.append(expected.low <= model.score(X[rest], y[rest]) <= expected.high)
    assert np.mean(held) >= 0.8


def test_the_curve_passes_through_its_points():
    rng = np.random.default_rng(0)
    for n in (40, 80, 150):
        rows = rng.permutation(len(y))[:n]
        curve = learning_curve(X, y[rows], labeled=rows, repeats=2)
        gaps = np.array([curve.fit().predict(size).value for size in curve.labels]) - curve.accuracy
        assert np.abs(gaps).mean() < 0.02
        assert np.abs(gaps).max() < 0.05


def test_a_row_counts_by_the_share_of_the_pool_nearest_to_it():
    labelled = mheal.select(X, 30).indices
    curve = learning_curve(X, y[labelled], labeled=labelled, repeats=1)
    points = comparable(X)
    gaps = np.square(points.take(np.arange(len(X)))[:, None] - points.take(labelled)[None]).sum(axis=2)
    share = np.bincount(gaps.argmin(axis=1), minlength=30) / len(X)
    assert curve.weights == pytest.approx((share + 1 / 30) / 2)
    assert curve.accuracy == pytest.approx(curve.weights @ curve.right)
    assert learning_curve(X[labelled], y[labelled], repeats=1).weights == pytest.approx(np.full(30, 1 / 30))


def test_balanced_accuracy_is_the_mean_over_the_classes():
    right = np.array([[1.0, 1.0], [0.5, 1.0], [0.0, 0.2]])
    curve = Resampled(np.array([2, 3]), right, np.array([0.3, 0.3, 0.4]), np.array(["a", "a", "b"]))
    assert curve.largest_class == pytest.approx(2 / 3)
    assert curve.accuracy == pytest.approx([0.45, 0.68])
    assert curve.balanced.accuracy == pytest.approx([(0.75 + 0) / 2, (1 + 0.2) / 2])
    assert curve.balanced.fit().effective < curve.fit().effective  # the only label of its class is half of all


def test_every_row_is_tested_by_models_that_have_not_seen_it():
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(120, 5)), rng.integers(2, size=120)  # nothing to learn
    curve = learning_curve(noise, coin, "knn", repeats=4)
    assert np.abs(curve.accuracy - 0.5).max() < 0.12
    assert set((curve.right * 4).ravel()) == {0, 1, 2, 3, 4}  # each row once in each repetition


def test_same_seed_same_curve():
    one, same, other = (learning_curve(X[FEW], y[FEW], repeats=1, seed=s).right for s in (0, 0, 1))
    assert one.tolist() == same.tolist()
    assert one.tolist() != other.tolist()


def test_beginnings_hold_classes_in_proportion():
    labels = np.repeat([0, 1, 2], [60, 30, 10])
    order = _in_proportion(np.arange(100), labels, np.random.default_rng(0))
    assert sorted(order) == list(range(100))
    for size in (10, 20, 50, 70):
        counts = np.bincount(labels[order[:size]], minlength=3)
        assert np.abs(counts - size * np.array([0.6, 0.3, 0.1])).max() <= 2


def test_rare_classes_and_words_are_fine():
    words = np.array(["a", "b"])[(np.arange(30) % 2)].tolist()
    words[0] = "once"
    assert learning_curve(X[:30], words, repeats=1).right.shape == (30, 6)


@pytest.mark.parametrize(
    ("rows", "labels", "words"),
    [
        (X[:19], y[:19], "19 labelled rows: label at least 20"),
        (X[:20], ["a"] * 20, "all labels are 'a'"),
        (X[:20], y[:19], "19 labels, and X has 20 rows"),
    ],
)
def test_mistakes(rows, labels, words):
    with pytest.raises(ValueError, match=words):
        learning_curve(rows, labels)


SIZES = np.array([10, 15, 25, 40, 60, 100, 150, 250])


def fitted(accuracy, n=312):
    """The fit to a known curve, observed with this number of labels."""
    right = np.repeat(np.asarray(accuracy)[None], n, axis=0)
    return Resampled(SIZES, right, np.full(n, 1 / n), np.arange(n) % 2).fit()


@pytest.mark.parametrize("truth", [(1.2, 0.6), (0.9, 0.3), (0.5, 0.0)])
def test_exact_curves_are_recovered(truth):
    b, c = truth
    fit = fitted(1 - b * SIZES.astype(float) ** -c)
    assert (fit.b, fit.c) == pytest.approx(truth, abs=1e-9)
    assert fit.predict(1000).value == pytest.approx(1 - b * 1000**-c)
    assert fit.effective == pytest.approx(312)
    if c:
        target = 1 - b * 2000**-c
        assert fit.labels_to_reach(target).value == pytest.approx(2000, rel=0.01)


def test_falling_curves_are_taken_as_flat():
    fit = fitted(0.8 - 0.001 * np.arange(8))
    assert fit.c == 0
    assert fit.predict(10_000).value == pytest.approx(1 - np.exp(np.log(0.2 + 0.001 * np.arange(8)).mean()))
    assert fit.labels_to_reach(0.9).value == np.inf


def test_no_error_in_any_label_is_not_certainty():
    few, many = fitted(np.ones(8), 40), fitted(np.ones(8), 400)
    assert few.predict(40).value == pytest.approx(1 - 1 / 40)
    assert few.predict(40).low < many.predict(400).low < 1


def test_intervals_widen_with_fewer_labels_and_farther_ahead():
    curve = 1 - 1.2 * SIZES.astype(float) ** -0.4
    for n in (312, 1000):
        widths = [np.subtract(*fitted(curve, n).predict(n * times)[:0:-1]) for times in (1, 2, 5)]
        ahead = [np.log(e / (1 - e)) for e in np.array([fitted(curve, n).predict(n * times) for times in (1, 2, 5)])]
        assert all(0 < width < 0.3 for width in widths)
        assert np.all(np.diff([high - value for value, _, high in ahead]) > 0)
        assert np.all(np.diff([low for _, low, _ in ahead]) >= 0)  # more labels do no harm
    assert CurveFit(1.0, 0.5, 40, 40).predict(40).low < CurveFit(1.0, 0.5, 40, 80).predict(40).low


def test_labels_to_reach_a_target_are_where_the_interval_reaches_it():
    fit = CurveFit(1.2, 0.6, 100, 90)
    value, low, high = fit.labels_to_reach(0.97)
    assert 100 < low < value < high < np.inf
    assert fit.predict(value).value == pytest.approx(0.97, abs=2e-3)
    assert fit.predict(low).high == pytest.approx(0.97, abs=2e-3)
    assert fit.predict(high).low == pytest.approx(0.97, abs=2e-3)
    assert CurveFit(0.5, 0.01, 100, 90).labels_to_reach(0.95) == (np.inf, np.inf, np.inf)
    with pytest.raises(ValueError, match="between 0 and 1, got 90"):
        fit.labels_to_reach(90)


def test_a_column_of_a_frame_that_holds_the_labels_is_no_feature():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(len(y), 3)), columns=[*"abc"]).assign(digit=y)
    with pytest.warns(DataWarning, match="left out digit"):
        curve = learning_curve(frame, y[FEW], labeled=FEW, repeats=1)
    assert curve.accuracy[-1] < 0.3
