import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mheal.evaluate import fit_curve, learning_curve, stop_advice
from mheal.evaluate.learning_curve import _in_proportion, _least_squares

X, y = load_digits(return_X_y=True)
FEW = np.random.default_rng(0).permutation(len(y))[:150]


def test_estimates_what_held_out_digits_show():
    curve = learning_curve(X[FEW], y[FEW], repeats=3)
    assert curve.labels.tolist() == sorted(set(curve.labels.tolist()))
    assert curve.labels[-1] == 120
    assert curve.right.shape == (150, len(curve.labels))
    rest = np.setdiff1d(np.arange(len(y)), FEW)
    scale = X[FEW].std(axis=0) + 1e-9
    Z = (X - X[FEW].mean(axis=0)) / scale
    Z[:, X[FEW].std(axis=0) == 0] = 0
    truth = LogisticRegression(max_iter=1000).fit(Z[FEW[:120]], y[FEW[:120]]).score(Z[rest], y[rest])
    assert curve.accuracy[-1] == pytest.approx(truth, abs=0.06)
    assert curve.accuracy[0] < curve.accuracy[-1] - 0.2
    fit = fit_curve(curve.labels, curve.right)
    assert fit.predict(120).low <= truth <= fit.predict(120).high


def test_every_row_is_tested_by_models_that_have_not_seen_it():
    rng = np.random.default_rng(0)
    noise, coin = rng.normal(size=(120, 5)), rng.integers(2, size=120)  # nothing to learn
    curve = learning_curve(noise, coin, "knn", sizes=[10, 90], repeats=4)
    assert np.abs(curve.accuracy - 0.5).max() < 0.12
    assert set((curve.right * 4).ravel()) == {0, 1, 2, 3, 4}  # each row once in each repetition


def test_same_seed_same_curve():
    one, same, other = (learning_curve(X[FEW], y[FEW], sizes=[20, 80], repeats=1, seed=s).right for s in (0, 0, 1))
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
    assert learning_curve(X[:30], words, sizes=[5, 10, 20], repeats=1).right.shape == (30, 3)


@pytest.mark.parametrize(
    ("rows", "labels", "options", "words"),
    [
        (X[:19], y[:19], {}, "19 labelled rows: label at least 20"),
        (X[:20], ["a"] * 20, {}, "all labels are 'a'"),
        (X[:20], y[:19], {}, "19 labels, but X has 20 rows"),
        (X[:20], y[:20], dict(sizes=[17]), "between 1 and 16"),
        (X[:20], y[:20], dict(folds=1), "folds must be 2 to 20"),
    ],
)
def test_mistakes(rows, labels, options, words):
    with pytest.raises(ValueError, match=words):
        learning_curve(rows, labels, **options)


SIZES = np.array([10, 15, 25, 40, 60, 100, 150, 250])


def power(labels, a, b, c):
    return a - b * np.asarray(labels, float) ** -c


@pytest.mark.parametrize("truth", [(0.95, 1.2, 0.6), (0.9, 2.0, 0.8), (1.0, 0.9, 0.3), (0.8, 4.0, 1.5)])
def test_exact_curves_are_recovered(truth):
    fit = fit_curve(SIZES, power(SIZES, *truth))
    assert (fit.a, fit.b, fit.c) == pytest.approx(truth, rel=2e-3)
    a, b, c = truth
    needed = fit.labels_to_reach(a - 0.02)
    assert needed.value == pytest.approx((b / 0.02) ** (1 / c), rel=5e-3)
    assert fit.predict(1000).value == pytest.approx(power(1000, *truth), abs=1e-4)


def test_fit_is_as_good_as_scipys():
    from scipy.optimize import least_squares

    rng = np.random.default_rng(0)
    for _ in range(20):
        y = np.clip(power(SIZES, 0.9, 1.2, 0.6) + 0.02 * rng.normal(size=len(SIZES)), 0, 1)
        ours = _least_squares(SIZES.astype(float), y[None])[:, 0]
        bounds = ([0, 0, 0.01], [1, np.inf, 5])
        starts = [(0.9, 1, c) for c in (0.1, 0.5, 1.0, 2.0)]
        theirs = min(least_squares(lambda p: power(SIZES, *p) - y, s, bounds=bounds).cost for s in starts)  # noqa: B023
        assert 0.5 * np.sum((power(SIZES, *ours) - y) ** 2) <= theirs * (1 + 1e-4)


@pytest.mark.parametrize("repeats", [1, 10])
def test_intervals_cover_the_truth(repeats):
    truth, target = (0.95, 1.2, 0.6), 0.9
    needed = (1.2 / 0.05) ** (1 / 0.6)
    inside = 0
    for trial in range(100):
        noise = np.random.default_rng(trial).normal(size=(repeats, len(SIZES)))
        y = power(SIZES, *truth) + 0.005 * np.sqrt(repeats) * noise
        estimate = fit_curve(SIZES, y if repeats > 1 else y[0], level=0.9).labels_to_reach(target)
        inside += estimate.low <= needed <= estimate.high
    assert 85 <= inside <= 98  # wider than asked for would be no good either


def test_flat_curve_says_stop():
    y = 0.8 + 0.002 * np.random.default_rng(0).normal(size=len(SIZES))
    advice = stop_advice(fit_curve(SIZES, y), now=250, batch=50)
    assert not advice.go_on
    assert advice.gain.value < 0.005
    assert all(fact in str(advice) for fact in ("50 labels", "0.0 points", "90%"))


def test_rising_curve_says_go_on():
    y = power(SIZES, 0.98, 1.5, 0.4) + 0.002 * np.random.default_rng(0).normal(size=len(SIZES))
    advice = stop_advice(fit_curve(SIZES, y), now=250, batch=100, target=0.85)
    assert advice.go_on
    truth = power(350, 0.98, 1.5, 0.4) - power(250, 0.98, 1.5, 0.4)
    assert advice.gain.low <= truth <= advice.gain.high
    assert all(fact in advice.sentence for fact in ("100 labels", f"{100 * advice.gain.value:.1f} points", "85.0%"))


def test_target_above_the_ceiling_is_not_reachable():
    y = power(SIZES, 0.8, 2.0, 1.0) + 0.001 * np.random.default_rng(0).normal(size=len(SIZES))
    fit = fit_curve(SIZES, y)
    assert fit.labels_to_reach(0.9) == (np.inf, np.inf, np.inf)
    sentence = stop_advice(fit, 100, 50, target=0.9).sentence
    assert "90.0%" in sentence
    assert f"{fit.ceiling().value:.1%}" in sentence


def test_target_that_is_reached_says_stop():
    fit = fit_curve(SIZES, power(SIZES, 0.95, 1.2, 0.4))
    advice = stop_advice(fit, 100, 100, target=0.7)
    assert not advice.go_on
    assert "70.0% is reached" in advice.sentence


def test_doubt_about_the_ceiling_is_said():
    y = power(SIZES, 0.92, 1.2, 0.6) + 0.01 * np.random.default_rng(1).normal(size=len(SIZES))
    fit = fit_curve(SIZES, y)
    needed = fit.labels_to_reach(0.91)
    assert needed.low < np.inf
    assert needed.high == np.inf
    sentence = stop_advice(fit, 250, 50, target=0.91).sentence
    assert "91.0%" in sentence
    assert "inf" not in sentence


def test_same_seed_same_interval():
    y = power(SIZES, 0.95, 1.2, 0.6) + 0.01 * np.random.default_rng(0).normal(size=len(SIZES))
    one, same, other = (fit_curve(SIZES, y, seed=s).predict(500) for s in (0, 0, 1))
    assert one == same
    assert one != other


@pytest.mark.parametrize(
    ("labels", "accuracy", "words"),
    [
        ([10, 20, 30], [0.5, 0.6, 0.7], "at least 4 different"),
        ([10, 20, 30, 40], [0.5, 0.6, 0.7], "column for each of the 4"),
        ([10, 20, 30, 40], [50, 60, 70, 80], "between 0 and 1"),
        ([10, 20, 30, 40], [0.5, np.nan, 0.7, 0.8], "between 0 and 1"),
        ([0, 20, 30, 40], [0.5, 0.6, 0.7, 0.8], "each at least 1"),
    ],
)
def test_bad_curves_are_refused(labels, accuracy, words):
    with pytest.raises(ValueError, match=words):
        fit_curve(labels, accuracy)


def test_bad_questions_are_refused():
    fit = fit_curve(SIZES, power(SIZES, 0.95, 1.2, 0.6))
    with pytest.raises(ValueError, match="between 0 and 1, got 90"):
        fit.labels_to_reach(90)
    with pytest.raises(ValueError, match="at least 1 label"):
        stop_advice(fit, 100, 0)
