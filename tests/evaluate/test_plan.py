import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

import mheal
from mheal.estimators import fit_on_pool
from mheal.evaluate import AccuracyPlan, CoveragePlan, CurveFit, accuracy_plan, coverage_plan, horizon, learning_curve
from mheal.evaluate.plan import about_target, steps

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
ROWS = np.random.default_rng(0).permutation(400)[:80]
PNG = b"\x89PNG\r\n\x1a\n"


def test_coverage_falls_and_its_knee_is_shown():
    plan = coverage_plan(X, 100)
    assert len(plan.radius) == 100
    assert (np.diff(plan.radius) <= 1e-9).all()
    assert [row[0] for row in plan.table.rows] == ["10", "20", "50", "100"]
    assert plan.table.rows[-1][1] == f"{plan.radius[-1]:.2f}"
    assert any(f"{plan.knee} labels" in sentence for sentence in plan.sentences)
    assert plan.picture().startswith(PNG)


def test_coverage_beside_labelled_rows():
    plan = coverage_plan(X, 30, labeled=ROWS, target=0.8)
    assert plan.n_labeled == 80
    assert plan.radius[0] < coverage_plan(X, 30).radius[0]
    assert "80" in plan.table.caption
    assert any("80.0%" in sentence for sentence in plan.sentences)


def test_accuracy_is_extrapolated_from_the_labels():
    plan = accuracy_plan(X, y[ROWS], labeled=ROWS, ahead=300, batch=30, target=0.9)
    fit = learning_curve(X, y[ROWS], labeled=ROWS).fit()
    assert plan.table.columns[1:] == ["accuracy", "80% interval"]
    assert [row[0] for row in plan.table.rows] == ["80", "110", "130", "180", "280", "380"]
    assert plan.table.rows[3][1] == f"{100 * fit.predict(180).value:.1f}"
    assert plan.table.rows[3][2] == f"{100 * fit.predict(180).low:.1f} to {100 * fit.predict(180).high:.1f}"
    assert plan.gains == {"accuracy": fit.predict(110).value - fit.predict(80).value}
    assert f"30 labels are expected to add {100 * plan.gains['accuracy']:.1f} points" in plan.sentences[0]
    assert about_target(fit, 0.9) in plan.sentences
    assert "800" in plan.sentences[-1]  # so far the interval was checked
    assert plan.picture().startswith(PNG)


def test_balanced_accuracy_stands_beside_accuracy_where_one_class_is_most_labels():
    three = np.where(y == 3, "three", "other")
    plan = accuracy_plan(X, three[ROWS], labeled=ROWS, ahead=300, batch=30)
    curve = learning_curve(X, three[ROWS], labeled=ROWS)
    assert plan.table.columns == ["labels", "accuracy", "80% interval", "balanced accuracy", "80% interval"]
    first = plan.table.rows[0]
    assert first[1] == f"{100 * curve.fit().predict(80).value:.1f}"
    assert first[3] == f"{100 * curve.balanced.fit().predict(80).value:.1f}"
    assert float(first[3]) < float(first[1])
    share = max(np.mean(three[ROWS] == "other"), 0.6)
    assert any(f"{share:.1%}" in sentence for sentence in plan.sentences)
    assert plan.picture() != accuracy_plan(X, y[ROWS], labeled=ROWS, ahead=300).picture()


def test_accuracy_of_an_own_estimator_on_strings():
    words = np.array([f"digit {label}" for label in y])[ROWS]
    plan = accuracy_plan(X[ROWS], words, estimator=GaussianNB(), ahead=50)
    assert plan.estimator == "GaussianNB"
    assert plan.now == 80
    again = accuracy_plan(X[ROWS], words, estimator="sklearn.naive_bayes:GaussianNB", ahead=50)
    assert again.curves["accuracy"].right.tolist() == plan.curves["accuracy"].right.tolist()


def test_the_next_batch_is_advised_while_it_gains_and_the_target_is_not_expected():
    words = {}
    for name, labels in dict(learns=y[ROWS], noise=np.random.default_rng(0).integers(2, size=80)).items():
        words[name] = accuracy_plan(X, labels, labeled=ROWS, ahead=100)
    assert words["learns"].go_on
    assert words["learns"].sentences[0].startswith("Go on")
    assert not words["noise"].go_on
    assert words["noise"].gains["accuracy"] < 0.005
    assert words["noise"].sentences[0].startswith("Stop")
    there = accuracy_plan(X, y[ROWS], labeled=ROWS, ahead=100, target=0.5)
    assert not there.go_on
    assert there.gains["accuracy"] > 0.005
    assert there.sentences[0].startswith("Stop")
    assert "50.0%" in there.sentences[0]


class Line:
    """A curve that is known."""

    def __init__(self, rise):
        self.rise, self.largest_class = rise, 0.8

    def fit(self):
        return CurveFit(0.5, self.rise, 100, 90)


@pytest.mark.parametrize(
    ("now", "rises", "go_on"),
    [(100, [0.0], False), (100, [0.3], True), (100, [0.0, 0.3], True), (100, [0.0, 0.0], False), (30, [0.0], True)],
)
def test_neither_a_rise_of_balanced_accuracy_nor_few_labels_are_a_reason_to_stop(now, rises, go_on):
    curves = dict(zip(("accuracy", "balanced accuracy"), map(Line, rises), strict=False))
    plan = AccuracyPlan(curves, "logistic", now, 100, 50, None)
    assert plan.go_on == go_on
    assert plan.sentences[0].startswith("Go on" if go_on else "Stop")
    assert plan.sentences[0].count("points") == len(rises)
    assert ("too few" in plan.sentences[0]) == (now < 64)


@pytest.mark.parametrize(
    ("fit", "target", "facts"),
    [
        (CurveFit(1.2, 0.6, 100, 90), 0.95, ["95.0%", "about 200 labels", "100 to "]),
        (CurveFit(1.2, 0.2, 100, 90), 0.8, ["80.0%", "about 7,800 labels", "or more"]),
        (CurveFit(0.5, 0.0, 100, 90), 0.6, ["60.0%", "not expected", "or more"]),
        (CurveFit(0.5, 0.0, 100, 90), 0.95, ["95.0%", "not expected", "over a million or more"]),
        (CurveFit(1.2, 0.6, 100, 90), 0.5, ["50.0%", "expected to be reached already."]),
        (CurveFit(1.2, 0.6, 100, 90), 0.9, ["90.0%", "expected to be reached already", "the interval begins at 8"]),
    ],
)
def test_what_is_said_about_a_target_is_what_the_interval_says(fit, target, facts):
    sentence = about_target(fit, target)
    assert all(fact in sentence for fact in facts), sentence


def test_digits_at_50_labels():
    X, y = load_digits(return_X_y=True)
    picks = mheal.select(X, 50).indices
    rest = np.setdiff1d(np.arange(len(y)), picks)
    truth = fit_on_pool("logistic", 0, X, picks, y[picks]).score(X[rest], y[rest])
    expected = accuracy_plan(X, y[picks], labeled=picks).fits["accuracy"].predict(50)
    assert expected.low <= truth <= expected.high


def test_horizon():
    assert horizon(10_000) == 1000
    assert horizon(400) == 200
    assert horizon(400, 350) == 50
    assert horizon(400, 0, 399) == 399
    with pytest.raises(ValueError, match="400"):
        horizon(400, 0, 401)


def test_steps():
    assert steps(1000) == [10, 20, 50, 100, 200, 500, 1000]
    assert steps(230) == [10, 20, 50, 100, 200, 230]
    assert steps(7) == [1, 2, 5, 7]
    assert steps(1) == [1]


def test_mistakes():
    with pytest.raises(ValueError, match=r"write 0\.9 for 90 %"):
        coverage_plan(X, target=90)
    with pytest.raises(ValueError, match="19 labelled rows: label at least 20"):
        accuracy_plan(X, y[:19], labeled=range(19))
    with pytest.raises(ValueError, match="at least 1 label"):
        accuracy_plan(X, y, batch=0)


def knee(radius):
    return CoveragePlan(np.asarray(radius, float), 0).knee


@pytest.mark.parametrize("at", [1, 3, 7])
def test_knee_of_two_straight_lines_is_where_they_meet(at):
    y = np.interp(np.arange(10), [0, at, 9], [9.0, 1.0, 0.5])
    assert knee(y) == at + 1
    assert knee(100 * y - 3) == at + 1  # units do not matter


def test_no_knee():
    assert knee([3, 2, 1]) is None  # straight
    assert knee([3, 2.9, 2.5, 0]) is None  # bulges upwards
    assert knee([1, 2, 3]) is None  # rises
    assert knee([1, 1, 1]) is None
    assert knee([2, 1]) is None
    assert knee(1 - np.arange(1, 8) * 0.1) is None  # straight but for rounding
    assert knee([np.inf, 2, 1]) is None
