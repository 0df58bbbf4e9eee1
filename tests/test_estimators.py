import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from mheal.estimators import MODELS, fit_on_pool
from mheal.evaluate import fit_model, make_model

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


@pytest.mark.parametrize("name", MODELS)
def test_learns(name):
    model = fit_model(name, 0, X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    again = clone(model).fit(X[::2], y[::2])
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_a_pool_takes_columns_in_any_unit(name):
    units = np.geomspace(1e-3, 1e4, X.shape[1]).astype(np.float32)
    rows = np.arange(0, len(X), 2)
    model = fit_on_pool(name, 0, (X * units + 3 * units).astype(np.float32), rows, y[rows])
    assert (model.predict(X * units + 3 * units) == fit_model(name, 0, X[rows], y[rows]).predict(X)).mean() > 0.98
    assert model.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", MODELS)
def test_one_class_gives_a_constant(name):
    model = fit_model(name, 0, X[:3], np.array(["red"] * 3))
    assert set(model.predict(X)) == {"red"}
    assert model.classes_.tolist() == ["red"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("name", MODELS)
def test_two_labels_are_enough(name):
    model = fit_model(name, 0, X[[0, -1]], y[[0, -1]])
    assert set(model.predict(X)) <= {0, 2}


def test_settings():
    ours = make_model("logistic", 0, y)
    assert isinstance(ours, LogisticRegression)
    assert ours.max_iter == 1000
    svm = make_model("svm", 0, y)
    assert (svm.C, svm.kernel, svm.gamma) == (10, "rbf", "scale")
    assert make_model("knn", 0, y[[0, 60, 150]]).n_neighbors == 3
    assert make_model("knn", 0, y).n_neighbors == 5
    forest = make_model("forest", 7, y)
    assert (forest.n_estimators, forest.random_state) == (200, 7)


def test_unknown_model():
    with pytest.raises(ValueError, match="no model 'mlp': choose from logistic, svm, knn, forest, logistic\\+knn"):
        make_model("mlp", 0, y)
