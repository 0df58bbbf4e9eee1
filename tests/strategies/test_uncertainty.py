"""Margin, least confidence, entropy and query by committee."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC, LinearSVC

from mheal.strategies import Entropy, Margin, Pool, QueryByCommittee, get
from mheal.strategies.common import smallest_first
from mheal.uncertainty import decision_values, margins, probabilities
from picks import pick


class Table:
    """A model that reads class probabilities from the columns of X."""

    classes_ = np.arange(3)

    def predict_proba(self, X):
        return X


def line(model):
    """Rows on a line with labels at both ends, the model's threshold in between."""
    X = np.linspace(-1.0, 1.3, 47)[:, None]
    labeled = np.array([0, 1, 2, 44, 45, 46])
    labels = (X[labeled, 0] > 0).astype(int)
    return Pool(X, labeled, labels, model.fit(X[labeled], labels))


def test_a_model_predicts_in_blocks():
    pool = line(LogisticRegression())
    for rows in (np.arange(47), np.array([46, 3, 3])):
        np.testing.assert_allclose(
            probabilities(pool, rows, numbers=10), pool.model.predict_proba(pool.X[rows]), rtol=1e-12
        )


@pytest.mark.parametrize("name", ["margin", "least-confidence", "entropy"])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearSVC(), SVC(kernel="linear")], ids=repr)
def test_on_a_line_the_row_nearest_the_threshold_is_picked(name, model):
    pool = line(model)
    expected = np.argsort(np.abs(pool.model.decision_function(pool.X)))
    expected = expected[~np.isin(expected, pool.labeled)][:5]
    np.testing.assert_array_equal(pick(get(name)(), pool, 5), expected)


def test_three_scores_of_three_rows():
    X = np.array([[0.5, 0.5, 0.0], [0.4, 0.3, 0.3], [0.45, 0.1, 0.45], [0.9, 0.05, 0.05]])
    pool = Pool(X, model=Table())
    first = {name: int(pick(get(name)(), pool, 1)[0]) for name in ("margin", "least-confidence", "entropy")}
    assert first["margin"] in (0, 2)
    assert first["least-confidence"] == 1
    assert first["entropy"] == 1
    assert pick(Entropy(), pool, 4).tolist() == [1, 2, 0, 3]


def test_margins_of_one_class_two_and_three():
    assert margins(np.array([[1.0], [1.0]])).tolist() == [1.0, 1.0]
    np.testing.assert_allclose(margins(np.array([[0.2, 0.8]])), [0.6])
    np.testing.assert_allclose(margins(np.array([[0.2, 0.5, 0.3]])), [0.2])


def test_decision_values_become_probabilities():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = LogisticRegression().fit(X, y)
    np.testing.assert_allclose(
        softmax(decision_values(Pool(X, model=model), np.arange(len(X))), axis=1), model.predict_proba(X), atol=1e-12
    )
    ridge = RidgeClassifier().fit(*load_iris(return_X_y=True))
    P = probabilities(Pool(load_iris().data, model=ridge), np.arange(150))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    np.testing.assert_array_equal(P.argmax(axis=1), ridge.predict(load_iris().data))


def test_unusable_models_are_refused_in_one_line():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="object has neither predict_proba nor decision_function"):
        pick(Margin(), Pool(X, model=object()), 1)
    pairs = SVC(decision_function_shape="ovo").fit(np.vstack([X, X[:50] + 50]), np.r_[y, np.full(50, 3)])
    with pytest.raises(ValueError, match=r"6\) for .* 4 classes: .*one-vs-rest"):
        pick(Margin(), Pool(X, model=pairs), 1)


def test_ties_are_broken_by_chance_alone():
    pool = Pool(np.zeros((50, 1)), rng=np.random.default_rng(0))
    picks = smallest_first(pool, np.arange(50), np.repeat([1.0, 0.0], 25), 5)
    assert picks.min() >= 25
    assert sorted(picks) != list(range(25, 30))


def test_the_committee_picks_where_it_is_divided():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal([-4, 0], 0.5, (30, 2)), rng.normal([4, 0], 0.5, (30, 2)), rng.normal(0, 0.3, (10, 2))])
    labeled = np.r_[0:8, 30:38]
    picks = pick(QueryByCommittee(), Pool(X, labeled, (labeled >= 30).astype(int)), 5)
    assert picks.min() >= 60


def test_a_committee_that_knows_one_class_picks_at_random():
    pool = Pool(np.arange(20.0)[:, None], np.array([0, 1]), np.array([7, 7]))
    assert len(set(pick(QueryByCommittee(), pool, 18))) == 18
