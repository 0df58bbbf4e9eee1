"""Simulations with a user's own estimator, metric and labels."""

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import cohen_kappa_score, f1_score, make_scorer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mheal
from mheal import evaluate
from mheal.exceptions import UserError

X, y = load_wine(return_X_y=True)
BUDGETS = [5, 10, 20]


def measured(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


class Nearest:
    """The class of the nearest labelled row, with nothing but fit and predict."""

    def fit(self, X, y):
        self.X, self.y = X / X.std(axis=0), y
        self.scale = X.std(axis=0)
        return self

    def predict(self, X):
        return self.y[((X[:, None] / self.scale - self.X) ** 2).sum(axis=2).argmin(axis=1)]


def test_names_scale_columns_as_the_pool_does():
    units = np.geomspace(1e-3, 1e3, X.shape[1])
    one, other = (
        evaluate.simulate(Z, y, ["random", "coreset"], BUDGETS, seeds=2).values("random") for Z in (X, X * units)
    )
    assert one == pytest.approx(other)


@pytest.mark.parametrize(
    "own",
    [
        HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=2),
        make_pipeline(StandardScaler(), RidgeClassifier()),  # without predict_proba
        "sklearn.naive_bayes:GaussianNB",
        Nearest(),  # nor decision_function
    ],
)
def test_any_classifier_can_learn(own):
    curves = evaluate.simulate(X, y, ["mheal", "margin"], [20, 70, 80], own, seeds=1)
    assert curves.values("mheal")[0, -1] > 0.6
    again = evaluate.simulate(X, y, ["mheal", "margin"], [20, 70, 80], own, seeds=1)
    assert measured(again.rows) == measured(curves.rows)


def test_an_estimator_without_random_state_is_reproducible():
    forest = RandomForestClassifier(3)
    one, other = (evaluate.simulate(X, y, ["random"], [20], forest, seeds=2).values("random") for _ in range(2))
    assert one.tolist() == other.tolist()


def test_errors_of_an_own_estimator_name_it_and_the_remedy():
    with pytest.raises(UserError, match="KNeighborsClassifier cannot predict"):
        evaluate.simulate(X, y, ["random"], [3, 20], KNeighborsClassifier(5), seeds=1)
    with pytest.raises(UserError, match="GridSearchCV cannot be fitted on 5 labels"):
        evaluate.simulate(X, y, ["random"], [5], GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1]}), seeds=1)


def brier(estimator, X, y):
    """Minus the mean squared error of the probabilities; negative, so no share."""
    proba = np.zeros((len(y), 3))
    proba[:, estimator.classes_] = estimator.predict_proba(X)
    return -np.mean((proba - np.eye(3)[y]) ** 2)


@pytest.mark.parametrize(
    ("metric", "name"),
    [("f1_macro", "f1_macro"), (brier, "brier"), (make_scorer(cohen_kappa_score), "cohen_kappa_score")],
)
def test_metrics_stand_beside_accuracy(metric, name, tmp_path):
    plain = evaluate.simulate(X, y, ["random", "mheal"], [10, 40], seeds=2)
    curves = evaluate.simulate(X, y, ["random", "mheal"], [10, 40], seeds=2, metric=metric)
    assert curves.metric == name
    assert [row["accuracy"] for row in curves.rows] == [row["accuracy"] for row in plain.rows]
    assert curves.values("random")[0, -1] == curves.rows[1][name]
    assert curves.is_share == (name != "brier")
    curves.save_csv(tmp_path / "curves.csv")
    assert evaluate.Curves.from_csv(tmp_path / "curves.csv", name) == curves
    evaluate.report(curves, tmp_path / "report.html")
    assert curves.metric_title in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_f1_is_scikit_learns():
    curves = evaluate.simulate(X, y, ["random"], [10], seeds=[5], metric="f1_macro")
    pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=5)
    scale = StandardScaler().fit(X[pool])
    rows = pool[mheal.select(X[pool], 10, strategy="random", random_state=5).indices]
    model = LogisticRegression(max_iter=1000).fit(scale.transform(X[rows]), y[rows])
    assert curves.values("random")[0, 0] == f1_score(y[test], model.predict(scale.transform(X[test])), average="macro")


def test_imbalanced_strings_start_with_one_class():
    words = np.where(np.random.default_rng(0).random(len(X)) < 0.05, "rare", "frequent")
    curves = evaluate.simulate(X, words, ["random", "margin"], [2, 20], seeds=2, metric="balanced_accuracy")
    assert curves.values("random")[:, 0].tolist() == [0.5, 0.5]  # a constant prediction
    assert {row["accuracy"] > 0.8 for row in curves.rows} == {True}


def test_a_metric_that_cannot_be_measured_says_so():
    with pytest.raises(UserError, match="metric f1 cannot score"):  # three classes
        evaluate.simulate(X, y, ["random"], [20], seeds=1, metric="f1")
