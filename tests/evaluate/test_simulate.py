import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mheal
import mheal.evaluate as evaluate
from mheal.estimators import fit_on_pool
from mheal.exceptions import DataWarning, UserError
from mheal.strategies import Strategy, get
from mheal.uncertainty import FewLabelsWarning

X, y = load_wine(return_X_y=True)
BUDGETS = [5, 10, 20]


class Spy(Strategy):
    """Picks the first unlabelled rows, and records the pool and the budget that it received."""

    name, title, summary, cost = "spy", "Spy", "", ""
    kind = "adaptive"
    seen = None  # set on the class: the simulation works on copies

    def _pick(self, pool, budget):
        picks = pool.unlabeled[:budget]
        type(self).seen.append((pool, budget, picks))
        return picks


@pytest.fixture
def spy():
    return lambda **attributes: type("OneSpy", (Spy,), {"seen": [], **attributes})()


class LeastSure(Strategy):
    """Margin sampling with the least that a model-based strategy must define."""

    name, title, summary, cost = "least-sure", "Least sure", "", ""
    kind, needs_model = "adaptive", True

    def _pick(self, pool, budget):
        top = np.sort(pool.model.predict_proba(pool.X[pool.unlabeled]), axis=1)[:, -1]
        return pool.unlabeled[np.argsort(top, kind="stable")[:budget]]


def measured(rows):
    return [{k: v for k, v in row.items() if k != "seconds"} for row in rows]


def flat(units):
    return [row for unit in units for row in unit]


def test_random_by_hand():
    rows = evaluate.simulate(X, y, ["random"], BUDGETS, seeds=[3]).rows
    pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=3)
    scale = StandardScaler().fit(X[pool])
    order = pool[mheal.select(X[pool], 20, strategy="random", random_state=3).indices]
    for row, budget in zip(rows, BUDGETS, strict=True):
        model = LogisticRegression(max_iter=1000).fit(scale.transform(X[order[:budget]]), y[order[:budget]])
        predicted = model.predict(scale.transform(X[test]))
        assert (row["strategy"], row["seed"], row["estimator"], row["labels"]) == ("random", 3, "logistic", budget)
        assert row["accuracy"] == np.mean(predicted == y[test])
        assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y[test], predicted))
        assert row["largest_class"] == max(np.bincount(y[test])) / len(test)
        assert row["seconds"] >= 0


def test_a_strategy_sees_only_labels_of_the_rows_it_picked(spy):
    names = np.array(["red", "white", "rosé"])[y]
    strategy = spy(needs_model=True)
    evaluate.simulate(X, names, [strategy], BUDGETS, seeds=1)
    pool_rows, _ = train_test_split(np.arange(len(y)), test_size=0.3, stratify=names, random_state=0)
    picked = None
    for pool, _, picks in strategy.seen:
        if picked is not None:
            assert pool.labeled.tolist() == picked
        assert pool.labels.tolist() == names[pool_rows[pool.labeled]].tolist()
        assert pool.labels.base is None  # no view into the hidden labels
        known = [value for value in vars(pool).values() if isinstance(value, np.ndarray) and value.dtype.kind == "U"]
        assert [len(value) for value in known] == [len(pool.labeled)]
        assert set(pool.model.classes_) == set(pool.labels)
        picked = [*pool.labeled, *picks]


def test_strategies_are_asked_as_their_kind_says(spy):
    ranked, one_shot, adaptive = spy(name="r", kind="ranked"), spy(name="o", kind="one-shot"), spy(name="a")
    evaluate.simulate(X, y, [ranked, one_shot, adaptive], BUDGETS, seeds=1)
    assert [budget for _, budget, _ in ranked.seen] == [20]
    assert [budget for _, budget, _ in one_shot.seen] == [5, 10, 20]
    assert [budget for _, budget, _ in adaptive.seen] == [5, 5, 10]
    assert [len(pool.labeled) for pool, _, _ in ranked.seen + one_shot.seen] == [0, 0, 0, 0]
    assert [len(pool.labeled) for pool, _, _ in adaptive.seen] == [0, 5, 10]
    assert [pool.model is None for pool, _, _ in adaptive.seen] == [True, False, False]


def test_blind_first_rounds_are_the_same_for_all(spy):
    one, other = spy(name="one", needs_model=True), spy(name="other", needs_labels=True)
    curves = evaluate.simulate(X, y, [one, other], BUDGETS, seeds=2)
    first = [pool.labeled.tolist() for pool, _, _ in one.seen if len(pool.labeled) == 5]
    assert first == [pool.labeled.tolist() for pool, _, _ in other.seen if len(pool.labeled) == 5]
    assert first[0] != first[1]
    assert curves.values("one").tolist() == curves.values("other").tolist()


def test_resumed_equals_uninterrupted():
    strategies = ["random", LeastSure(), "mheal-paper", "coreset"]
    whole = list(evaluate.runs(X, y, strategies, BUDGETS, seeds=3))
    assert len(whole) == 12
    begun = flat(whole[:5])
    done = {(row["strategy"], row["seed"]) for row in begun}
    rest = flat(evaluate.runs(X, y, strategies[::-1], BUDGETS[::-1], seeds=[2, 1, 0], done=done))
    key = lambda row: (row["strategy"], row["seed"], row["labels"])  # noqa: E731
    assert sorted(measured(begun + rest), key=key) == sorted(measured(flat(whole)), key=key)


def recorded(name):
    """A strategy by name, changed to record its picks."""
    base = get(name)

    def _pick(self, pool, n):
        picks = base._pick(self, pool, n)
        type(self).seen.append((pool.labeled, n, np.asarray(getattr(picks, "indices", picks))))
        return picks

    return type("Recorded", (base,), {"seen": [], "_pick": _pick})()


@pytest.mark.parametrize(
    "name", ["random", "mheal", "mheal-paper", "coreset", "kmeans", "typiclust", "margin", "qbc", "badge"]
)
def test_every_pick_is_that_of_select(name):
    strategy, seed = recorded(name), 4
    evaluate.simulate(X, y, [strategy], [10, 70, 80], seeds=[seed])
    pool, _ = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=seed)
    Z, labels = X[pool], y[pool]
    assert strategy.seen
    for labeled, n, picks in strategy.seen:
        given = {}
        if len(labeled):
            model = fit_on_pool("logistic", seed, Z, labeled, labels[labeled])
            given = dict(labeled=labeled, y=labels[labeled], estimator=model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FewLabelsWarning)
            assert mheal.select(Z, n, strategy=name, random_state=seed, **given).indices.tolist() == picks.tolist()
    if strategy.needs_model:
        first = mheal.select(Z, 10, strategy="random", random_state=seed)
        assert strategy.seen[0][0].tolist() == first.indices.tolist()


def test_a_one_shot_budget_does_not_depend_on_the_others():
    alone = evaluate.simulate(X, y, ["mheal-paper"], [20], seeds=2).values("mheal-paper")
    assert (
        evaluate.simulate(X, y, ["mheal-paper"], BUDGETS, seeds=2).values("mheal-paper")[:, -1:].tolist()
        == alone.tolist()
    )


def test_rows_come_as_they_are_finished(spy):
    first, second = spy(name="first"), spy(name="second")
    units = evaluate.runs(X, y, [first, second], BUDGETS, seeds=1)
    assert first.seen == []
    assert [row["labels"] for row in next(units)] == BUDGETS
    assert len(first.seen) == 3
    assert second.seen == []


def test_instances_keep_their_parameters_and_a_dict_names_the_curves():
    clusters = get("kmedoids")
    curves = evaluate.simulate(X, y, {"plain": "random", "medoids": clusters()}, [10], seeds=1)
    assert curves.strategies == ("plain", "medoids")
    assert (
        curves.values("plain").tolist() == evaluate.simulate(X, y, ["random"], [10], seeds=1).values("random").tolist()
    )


def test_strings_and_numbers_give_the_same_curves():
    words = [f"class {label}" for label in y]
    by_word = evaluate.simulate(X, words, ["random", LeastSure()], BUDGETS, seeds=2)
    assert measured(by_word.rows) == measured(
        evaluate.simulate(X, y.astype(float), ["random", LeastSure()], BUDGETS, seeds=2).rows
    )


def test_sizes_are_capped(spy):
    strategy = spy()
    digits = load_digits(return_X_y=True)
    evaluate.simulate(*digits, [strategy], [20], seeds=1, max_pool=300, max_test=100)
    assert strategy.seen[0][0].X.shape == (300, 64)
    scores = evaluate.simulate(*digits, ["random"], [20], seeds=1, max_test=100).values("random")
    assert round(float(scores[0, 0]) * 100, 9) % 1 == 0  # a hundredth each


def test_strategies_and_own_estimators_see_the_columns_as_they_are(spy):
    strategy = spy(needs_model=True)
    own = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    curves = evaluate.simulate(X, y, [strategy], BUDGETS, own, seeds=[3])
    pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=3)
    seen, _, picks = strategy.seen[-1]
    assert (X[pool] == seen.X).all()
    assert isinstance(seen.model[-1], LogisticRegression)
    rows = pool[[*seen.labeled, *picks]]
    assert curves.values("spy")[0, -1] == clone(own).fit(X[rows], y[rows]).score(X[test], y[test])
    assert curves.estimator == "StandardScaler+LogisticRegression"


def test_mheal_beats_random_on_digits():
    curves = evaluate.simulate(*load_digits(return_X_y=True), ["mheal", "random"], [10, 20, 40, 80], seeds=5)
    area = curves.significance().row(0, named=True)
    assert area["difference"] > 0
    assert area["p_t_holm"] < 0.05


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (dict(y=[*y[:-1], 9]), "class 9 has 1 row only"),
        (dict(y=["a"] * len(y)), "all labels are 'a'"),
        (dict(y=y[:-1]), "177 labels, but X has 178 rows"),
        (dict(y=[None, *y[1:]]), "no label at row 0"),
        (dict(y=[*y[:-1], np.nan]), "no label at row 177"),
        (dict(y=["a", float("nan"), *["b"] * 176]), "no label at row 1"),
        (dict(y=y + np.linspace(0.1, 0.9, len(y))), "measurements .*, not classes"),
        (dict(y=["a", *y[1:]], error=TypeError), "y mixes int64 and str"),
        (dict(budgets=[5, 125]), "budget 125 exceeds the pool of 124 rows"),
        (dict(budgets=[0]), "at least 1"),
        (dict(budgets=[]), "one or more numbers of labels"),
        (dict(budgets=[2.5], error=TypeError), "a budget must be a whole number, got 2.5"),
        (dict(strategies=["best"]), "no strategy 'best'"),
        (dict(strategies="random", error=TypeError), "must be a list"),
        (dict(strategies=[]), "strategies is empty"),
        (dict(strategies=[3], error=TypeError), "3 is neither"),
        (dict(strategies=["random", "random"]), "two strategies are called 'random'"),
        (dict(estimator="mlp"), "no estimator 'mlp'"),
        (dict(metric="f1_macros"), "no metric 'f1_macros'.*f1_macro"),
        (dict(metric=3, error=TypeError), "metric must be"),
        (dict(seeds=0), "seeds must be"),
        (dict(seeds=[1, 1]), "different ones"),
        (dict(seeds=[-1]), "between 0 and"),
        (dict(test_size=30), "share between 0 and 1"),
        (dict(max_test=2), "cannot hold all 3 classes"),
        (dict(X=np.where(np.arange(178)[:, None] == 7, np.nan, X)), "NaN at row 7"),
    ],
)
def test_mistakes_are_named_before_anything_runs(changes, words):
    given = dict(X=X, y=y, strategies=["random"], budgets=BUDGETS) | changes
    with pytest.raises(given.pop("error", ValueError), match=words):
        evaluate.runs(**given)


def test_a_strategy_that_repeats_rows_is_caught():
    class Stutter(Spy):
        name, kind = "stutter", "ranked"

        def _pick(self, pool, budget):
            return np.zeros(budget, np.int64)

    with pytest.raises(UserError, match="stutter must pick 5 different"):
        evaluate.simulate(X, y, [Stutter()], [5], seeds=1)


def test_a_column_that_holds_the_labels_is_no_feature():
    words, rng = np.array(["u", "v", "w"])[y], np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(len(y), 3)), columns=[*"abc"])
    with pytest.warns(DataWarning, match="left out kind"):
        held = mheal.evaluate.simulate(frame.assign(kind=words), words, ["mheal"], [20], seeds=1)
    with warnings.catch_warnings(action="ignore", category=DataWarning):
        without = mheal.evaluate.simulate(frame, words, ["mheal"], [20], seeds=1)
    assert [row["accuracy"] for row in held.rows] == [row["accuracy"] for row in without.rows]
    assert held.rows[0]["accuracy"] < 0.7


def test_one_budget_needs_no_list():
    assert mheal.evaluate.simulate(X, y, ["random"], 9, seeds=1).budgets.tolist() == [9]
