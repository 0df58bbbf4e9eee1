from zlib import crc32

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import mheal.evaluate as learn
from mheal.strategies import Strategy

X, y = load_wine(return_X_y=True)
BUDGETS = [5, 10, 20]


class Spy(Strategy):
    """Takes the first free rows, and writes down what it was shown and what it was asked for."""

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
    """Margin sampling, with the smallest contract a model-based strategy has."""

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
    rows = learn.simulate(X, y, ["random"], BUDGETS, seeds=[3]).rows
    pool, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=3)
    scale = StandardScaler().fit(X[pool])
    rng = np.random.default_rng(np.random.SeedSequence((3, crc32(b"random"))))
    order = pool[rng.permutation(len(pool))]
    for row, budget in zip(rows, BUDGETS, strict=True):
        model = LogisticRegression(max_iter=1000).fit(scale.transform(X[order[:budget]]), y[order[:budget]])
        predicted = model.predict(scale.transform(X[test]))
        assert (row["strategy"], row["seed"], row["model"], row["labels"]) == ("random", 3, "logistic", budget)
        assert row["accuracy"] == np.mean(predicted == y[test])
        assert row["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y[test], predicted))
        assert row["seconds"] >= 0


def test_a_strategy_sees_only_labels_it_bought(spy):
    names = np.array(["red", "white", "rosé"])[y]
    strategy = spy(needs_model=True)
    learn.simulate(X, names, [strategy], BUDGETS, seeds=1)
    pool_rows, _ = train_test_split(np.arange(len(y)), test_size=0.3, stratify=names, random_state=0)
    bought = None
    for pool, _, picks in strategy.seen:
        if bought is not None:
            assert pool.labeled.tolist() == bought
        assert pool.labels.tolist() == names[pool_rows[pool.labeled]].tolist()
        assert pool.labels.base is None  # no view into the hidden labels
        known = [value for value in vars(pool).values() if isinstance(value, np.ndarray) and value.dtype.kind == "U"]
        assert [len(value) for value in known] == [len(pool.labeled)]
        assert set(pool.model.classes_) == set(pool.labels)
        bought = [*pool.labeled, *picks]


def test_strategies_are_asked_as_their_kind_says(spy):
    ranked, one_shot, adaptive = spy(name="r", kind="ranked"), spy(name="o", kind="one-shot"), spy(name="a")
    learn.simulate(X, y, [ranked, one_shot, adaptive], BUDGETS, seeds=1)
    assert [budget for _, budget, _ in ranked.seen] == [20]
    assert [budget for _, budget, _ in one_shot.seen] == [5, 10, 20]
    assert [budget for _, budget, _ in adaptive.seen] == [5, 5, 10]
    assert [len(pool.labeled) for pool, _, _ in ranked.seen + one_shot.seen] == [0, 0, 0, 0]
    assert [len(pool.labeled) for pool, _, _ in adaptive.seen] == [0, 5, 10]
    assert [pool.model is None for pool, _, _ in adaptive.seen] == [True, False, False]


def test_blind_first_rounds_are_the_same_for_all(spy):
    one, other = spy(name="one", needs_model=True), spy(name="other", needs_labels=True)
    curves = learn.simulate(X, y, [one, other], BUDGETS, seeds=2)
    first = [pool.labeled.tolist() for pool, _, _ in one.seen if len(pool.labeled) == 5]
    assert first == [pool.labeled.tolist() for pool, _, _ in other.seen if len(pool.labeled) == 5]
    assert first[0] != first[1]
    assert curves.values("one").tolist() == curves.values("other").tolist()


def test_resumed_equals_uninterrupted():
    strategies = ["random", LeastSure(), "mheal-paper", "coreset"]
    whole = list(learn.runs(X, y, strategies, BUDGETS, seeds=3))
    assert len(whole) == 12
    begun = flat(whole[:5])
    done = learn.Curves(begun).done(BUDGETS)
    rest = flat(learn.runs(X, y, strategies[::-1], BUDGETS[::-1], seeds=[2, 1, 0], done=done))
    key = lambda row: (row["strategy"], row["seed"], row["labels"])  # noqa: E731
    assert sorted(measured(begun + rest), key=key) == sorted(measured(flat(whole)), key=key)


def test_a_one_shot_budget_does_not_depend_on_the_others():
    alone = learn.simulate(X, y, ["mheal-paper"], [20], seeds=2).values("mheal-paper")
    assert (
        learn.simulate(X, y, ["mheal-paper"], BUDGETS, seeds=2).values("mheal-paper")[:, -1:].tolist() == alone.tolist()
    )


def test_rows_come_as_they_are_finished(spy):
    first, second = spy(name="first"), spy(name="second")
    units = learn.runs(X, y, [first, second], BUDGETS, seeds=1)
    assert first.seen == []
    assert [row["labels"] for row in next(units)] == BUDGETS
    assert len(first.seen) == 3
    assert second.seen == []


def test_instances_keep_their_name_and_parameters():
    plain = mheal_named("mheal-plain", charge=None)
    curves = learn.simulate(X, y, ["mheal", plain], [10], seeds=1)
    assert curves.strategies == ("mheal", "mheal-plain")


def mheal_named(name, **parameters):
    from mheal.strategies import get

    strategy = get("mheal")(**parameters)
    strategy.name = name
    return strategy


def test_strings_and_numbers_give_the_same_curves():
    words = [f"class {label}" for label in y]
    by_word = learn.simulate(X, words, ["random", LeastSure()], BUDGETS, seeds=2)
    assert measured(by_word.rows) == measured(
        learn.simulate(X, y.astype(float), ["random", LeastSure()], BUDGETS, seeds=2).rows
    )


def test_sizes_are_capped(spy):
    strategy = spy()
    digits = load_digits(return_X_y=True)
    learn.simulate(*digits, [strategy], [20], seeds=1, max_pool=300, max_test=100)
    assert strategy.seen[0][0].X.shape == (300, 64)
    scores = learn.simulate(*digits, ["random"], [20], seeds=1, max_test=100).values("random")
    assert round(float(scores[0, 0]) * 100, 9) % 1 == 0  # a hundredth each


def test_the_pool_alone_is_standardised(spy):
    strategy = spy()
    learn.simulate(np.column_stack([X, np.full(len(X), 3.0)]), y, [strategy], [5], seeds=1)
    seen = strategy.seen[0][0].X
    assert seen[:, :-1].mean(axis=0) == pytest.approx(np.zeros(13), abs=1e-9)
    assert seen[:, :-1].std(axis=0) == pytest.approx(np.ones(13))
    assert not seen[:, -1].any()


def test_mheal_beats_random_on_digits():
    curves = learn.simulate(*load_digits(return_X_y=True), ["mheal", "random"], [10, 20, 40, 80], seeds=5)
    assert curves.verdict().startswith("mheal beats random")


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
        (dict(budgets=[]), "budgets is empty"),
        (dict(budgets=[2.5], error=TypeError), "a budget must be a whole number, got 2.5"),
        (dict(strategies=["best"]), "no strategy 'best'"),
        (dict(strategies="random", error=TypeError), "must be a list"),
        (dict(strategies=[]), "strategies is empty"),
        (dict(strategies=[3], error=TypeError), "3 is neither"),
        (dict(strategies=["random", "random"]), "two strategies are called 'random'"),
        (dict(model="mlp"), "no model 'mlp'"),
        (dict(seeds=0), "seeds must be"),
        (dict(seeds=[1, 1]), "without repetitions"),
        (dict(seeds=[-1]), "between 0 and"),
        (dict(test_size=30), "share between 0 and 1"),
        (dict(max_test=2), "cannot hold all 3 classes"),
        (dict(X=np.where(np.arange(178)[:, None] == 7, np.nan, X)), "NaN at row 7"),
    ],
)
def test_mistakes_are_named_before_anything_runs(changes, words):
    given = dict(X=X, y=y, strategies=["random"], budgets=BUDGETS) | changes
    with pytest.raises(given.pop("error", ValueError), match=words):
        learn.runs(**given)


def test_a_strategy_that_repeats_rows_is_caught():
    class Stutter(Spy):
        name, kind = "stutter", "ranked"

        def _pick(self, pool, budget):
            return np.zeros(budget, np.int64)

    with pytest.raises(ValueError, match="stutter was asked for 5 new rows"):
        learn.simulate(X, y, [Stutter()], [5], seeds=1)
