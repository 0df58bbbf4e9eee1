import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mheal.estimators import ESTIMATORS, estimator_name, fit_model, fit_on_pool, predict, resolve_estimator

X, y = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(X)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_learns(name):
    model = fit_model(name, 0, X[::2], y[::2])
    assert model.score(X[1::2], y[1::2]) > 0.9
    assert hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    again = clone(model).fit(X[::2], y[::2])
    assert (again.predict(X) == model.predict(X)).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_name_on_a_pool_takes_columns_in_any_unit(name):
    units = np.geomspace(1e-3, 1e4, X.shape[1]).astype(np.float32)
    rows = np.arange(0, len(X), 2)
    model = fit_on_pool(name, 0, (X * units + 3 * units).astype(np.float32), rows, y[rows])
    assert (model.predict(X * units + 3 * units) == fit_model(name, 0, X[rows], y[rows]).predict(X)).mean() > 0.98
    assert model.classes_.tolist() == [0, 1, 2]


def test_scaling_is_that_of_the_whole_pool():
    few = np.arange(0, len(X), 20)
    ours = fit_on_pool("logistic", 0, 7 * X + 2, few, y[few])
    scale = StandardScaler().fit(7 * X + 2)
    theirs = LogisticRegression(max_iter=1000).fit(scale.transform(7 * X[few] + 2), y[few])
    assert ours.predict_proba(7 * X + 2) == pytest.approx(theirs.predict_proba(scale.transform(7 * X + 2)), abs=1e-4)
    alone = clone(ours).fit(7 * X[few] + 2, y[few])  # a clone keeps the pool's scaling
    assert (alone.predict(7 * X + 2) == ours.predict(7 * X + 2)).all()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_one_class_gives_a_constant(name):
    model = fit_on_pool(name, 0, X, np.arange(3), np.array(["red"] * 3))
    assert set(model.predict(X)) == {"red"}
    assert model.classes_.tolist() == ["red"]
    assert model.predict_proba(X[:2]).tolist() == [[1.0], [1.0]]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_two_labels_are_enough(name):
    model = fit_model(name, 0, X[[0, -1]], y[[0, -1]])
    assert set(model.predict(X)) <= {0, 2}


def test_settings():
    logistic, svm, forest = (resolve_estimator(name)[-1] for name in ("logistic", "svm", "forest"))
    assert isinstance(logistic, LogisticRegression)
    assert logistic.max_iter == 1000
    assert (svm.C, svm.kernel, svm.gamma) == (10, "rbf", "scale")
    assert forest.n_estimators == 200
    assert fit_model("knn", 0, X[[0, 60, 150]], y[[0, 60, 150]])[-1].n_neighbors == 3
    assert fit_model("knn", 0, X, y)[-1].n_neighbors == 5


@pytest.mark.parametrize(
    "own",
    [
        make_pipeline(StandardScaler(), RidgeClassifier()),  # without predict_proba
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5),
        KNeighborsClassifier(3),
    ],
)
def test_an_own_classifier_is_cloned_and_sees_columns_as_they_are(own):
    rows = np.arange(0, len(X), 2)
    model = fit_on_pool(own, 0, 5 * X + 1, rows, y[rows])
    assert not hasattr(own, "classes_")
    assert (predict(model, 5 * X + 1) == clone(own).fit(5 * X[rows] + 1, y[rows]).predict(5 * X + 1)).all()


def test_random_states_that_are_not_set_become_the_seed():
    own = make_pipeline(StandardScaler(), RandomForestClassifier(5))
    assert fit_model(own, 7, X, y)[-1].random_state == 7
    assert fit_model(RandomForestClassifier(5, random_state=3), 7, X, y).random_state == 3
    assert own[-1].random_state is None
    assert fit_model("forest", 7, X, y)[-1].random_state == 7


def test_paths_are_imported_from_the_current_folder_too(tmp_path, monkeypatch):
    (tmp_path / "my_models_here.py").write_text(
        "from sklearn.svm import LinearSVC\nmade = LinearSVC(C=3)\n"
        "def factory():\n    return LinearSVC(C=4)\nclass Nested:\n    model = LinearSVC(C=5)\nbroken = lambda: 1 / 0\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])  # put back afterwards
    for path, C in (("LinearSVC", 1.0), ("made", 3), ("factory", 4), ("Nested.model", 5)):
        assert resolve_estimator(f"my_models_here:{path}").C == C
    with pytest.raises(ValueError, match="ZeroDivisionError"):
        resolve_estimator("my_models_here:broken")
    with pytest.raises(ValueError, match="cannot import my_models_here:other"):
        resolve_estimator("my_models_here:other")


def test_a_class_of_ones_own_needs_fit_and_predict_only():
    class Majority:
        def fit(self, X, y):
            self.most = np.unique(y)[np.unique(y, return_counts=True)[1].argmax()]
            return self

        def predict(self, X):
            return np.full(len(X), self.most)

    own = Majority()
    assert set(predict(fit_model(own, 0, X, y), X)) == {1}
    assert not hasattr(own, "most")
    assert estimator_name(own) == "Majority"


def test_names_in_tables():
    assert estimator_name("logistic+knn") == "logistic+knn"
    assert estimator_name(LogisticRegression()) == "LogisticRegression"
    assert estimator_name(make_pipeline(StandardScaler(), RidgeClassifier())) == "StandardScaler+RidgeClassifier"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("mlp", "no estimator 'mlp'"),
        ("no_such_package:Model", "no_such_package"),
        (LinearRegression(), "no classifier"),
        (StandardScaler(), "no classifier"),
        (make_pipeline(StandardScaler(), KMeans()), "no classifier"),
        (3, "no classifier"),
    ],
)
def test_what_is_no_classifier_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        resolve_estimator(given)


def test_an_error_of_an_own_classifier_says_the_remedy():
    with pytest.raises(ValueError, match=r"RidgeClassifier cannot be fitted on 6 labels of 2 classes.*more labels"):
        fit_model(RidgeClassifier(alpha=-1), 0, X[[0, 1, 2, -3, -2, -1]], y[[0, 1, 2, -3, -2, -1]])
    model = fit_model(KNeighborsClassifier(5), 0, X[[0, -1]], y[[0, -1]])
    with pytest.raises(ValueError, match=r"KNeighborsClassifier cannot predict .*more labels"):
        predict(model, X)
