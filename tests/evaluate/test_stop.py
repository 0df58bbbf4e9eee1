import numpy as np
import pytest

from mheal.evaluate import fit_curve, knee, stop_advice
from mheal.evaluate.stop import _least_squares

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
    assert str(advice).startswith("Stop")
    assert all(fact in str(advice) for fact in ("50 labels", "0.0 points", "90%"))


def test_rising_curve_says_go_on():
    y = power(SIZES, 0.98, 1.5, 0.4) + 0.002 * np.random.default_rng(0).normal(size=len(SIZES))
    advice = stop_advice(fit_curve(SIZES, y), now=250, batch=100, target=0.85)
    assert advice.go_on
    truth = power(350, 0.98, 1.5, 0.4) - power(250, 0.98, 1.5, 0.4)
    assert advice.gain.low <= truth <= advice.gain.high
    assert advice.sentence.startswith("Go on")
    assert all(fact in advice.sentence for fact in ("100 labels", f"{100 * advice.gain.value:.1f} points", "85.0%"))


def test_target_above_the_ceiling_is_not_reachable():
    y = power(SIZES, 0.8, 2.0, 1.0) + 0.001 * np.random.default_rng(0).normal(size=len(SIZES))
    fit = fit_curve(SIZES, y)
    assert fit.labels_to_reach(0.9) == (np.inf, np.inf, np.inf)
    sentence = stop_advice(fit, 100, 50, target=0.9).sentence
    assert "90.0% is not reachable" in sentence
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
    assert "perhaps no number is enough" in sentence or "with luck" in sentence


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


@pytest.mark.parametrize("at", [1, 3, 7])
def test_knee_of_two_straight_lines_is_where_they_meet(at):
    x = np.arange(10, 110, 10)
    y = np.interp(x, [x[0], x[at], x[-1]], [9.0, 1.0, 0.5])
    assert knee(x, y) == x[at]
    assert knee(x**2, 3 * y + 7) is not None
    assert knee(2 * x + 5, 100 * y - 3) == 2 * x[at] + 5  # units do not matter


def test_no_knee():
    assert knee([1, 2, 3], [3, 2, 1]) is None  # straight
    assert knee([1, 2, 3, 4], [3, 2.9, 2.5, 0]) is None  # bulges upwards
    assert knee([1, 2, 3], [1, 2, 3]) is None  # rises
    assert knee([1, 2, 3], [1, 1, 1]) is None
    assert knee([1, 2], [2, 1]) is None
    assert knee(np.arange(1, 8) * 0.1, 1 - np.arange(1, 8) * 0.1) is None  # straight but for rounding


def test_bad_knees_are_refused():
    with pytest.raises(ValueError, match="same length"):
        knee([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="must increase"):
        knee([1, 1, 3], [3, 2, 1])
    with pytest.raises(ValueError, match="finite"):
        knee([1, 2, 3], [np.inf, 2, 1])
