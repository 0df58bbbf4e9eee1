import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.naive_bayes import GaussianNB

from mheal.evaluate import accuracy_plan, coverage_plan, fit_curve, horizon, knee, learning_curve, stop_advice
from mheal.evaluate.plan import steps

X, y = load_digits(return_X_y=True)
X, y = X[:400], y[:400]
ROWS = np.random.default_rng(0).permutation(400)[:80]
PNG = b"\x89PNG\r\n\x1a\n"


def test_coverage_falls_and_its_knee_is_shown(tmp_path):
    plan = coverage_plan(X, 100)
    assert plan.labels.tolist() == list(range(1, 101))
    assert (np.diff(plan.radius) <= 1e-9).all()
    assert np.isnan(plan.energy[0])
    assert plan.knee == knee(plan.labels, plan.radius)
    assert [row[0] for row in plan.table.rows] == ["10", "20", "50", "100"]
    assert plan.table.rows[-1][1] == f"{plan.radius[-1]:.2f}"
    assert any(f"{plan.knee:.0f} labels" in sentence for sentence in plan.sentences)
    plan.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(PNG)


def test_coverage_beside_labelled_rows():
    plan = coverage_plan(X, 30, labeled=ROWS, target=0.8)
    assert plan.n_labeled == 80
    assert np.isfinite(plan.energy).all()  # the first pick has pairs already
    assert plan.radius[0] < coverage_plan(X, 30).radius[0]
    assert "80" in plan.table.caption
    assert any("80.0%" in sentence for sentence in plan.sentences)


def test_accuracy_is_extrapolated_from_the_labels(tmp_path):
    plan = accuracy_plan(X[ROWS], y[ROWS], ahead=300, batch=30, target=0.9)
    curve = learning_curve(X[ROWS], y[ROWS])
    fit = fit_curve(curve.labels, curve.right)
    assert [row[0] for row in plan.table.rows] == ["80", "110", "130", "180", "280", "380"]
    assert plan.table.rows[3][1] == f"{100 * fit.predict(180).value:.1f}"
    assert plan.sentences[0] == stop_advice(fit, 80, 30, target=0.9).sentence
    plan.plot(tmp_path / "plan.png")
    assert (tmp_path / "plan.png").read_bytes().startswith(PNG)


def test_accuracy_of_an_own_estimator_on_strings():
    words = np.array([f"digit {label}" for label in y])[ROWS]
    plan = accuracy_plan(X[ROWS], words, estimator=GaussianNB(), ahead=50)
    assert plan.estimator == "GaussianNB"
    assert plan.curve.right.shape[0] == 80
    again = accuracy_plan(X[ROWS], words, estimator="sklearn.naive_bayes:GaussianNB", ahead=50)
    assert again.curve.right.tolist() == plan.curve.right.tolist()


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
        accuracy_plan(X[:19], y[:19])
    with pytest.raises(ValueError, match="at least 1 label"):
        accuracy_plan(X, y, batch=0)


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
