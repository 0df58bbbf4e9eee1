import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from mheal.evaluate import fit_curve, learning_curve
from mheal.evaluate.learning_curve import _in_proportion

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
