"""One battery over every strategy: whatever is registered keeps the contract of strategy.py."""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from mheal import Selection, strategies
from mheal.strategies import Pool, describe, get, names

KINDS = {"ranked", "one-shot", "adaptive"}
# On small pools without ties, chance has to do with labelled rows alone, so the order of the others must not matter.
ORDER_FREE = {"coreset", "maxherding", "support-points", "margin", "least-confidence", "entropy"}
ORDER_FREE |= {"uherding", "ted", "gen", "spal", "aldr"}
ORDER_FREE |= {"max-entropy", "variation-ratios", "bald", "batchbald", "cdal-coreset"}

with_torch = pytest.mark.skipif(find_spec("torch") is None, reason="trains a network: needs mheal[deep]")
NETWORKS = {"cdal-rl", "vaal"}
every = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=with_torch if name in NETWORKS else ()) for name in names()]
)


def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(3).permutation(len(X))
    return X[order], y[order]


def make_pool(X, y, labeled=range(0, 24, 2), seed=0, model=None):
    """A pool with some labels bought and a model fitted on them."""
    labeled = np.array(labeled, np.int64)
    if model is None and len(labeled):
        model = make_pipeline(StandardScaler(), LogisticRegression())
    if model is not None:
        model = model.fit(X[labeled], y[labeled])
    return Pool(X, labeled, y[labeled], model, np.random.default_rng(seed))


def check(picks, pool, budget):
    assert isinstance(picks, Selection)
    assert picks.indices.dtype == np.int64
    assert len(picks) == budget == len(set(picks.indices.tolist()))
    assert not set(picks.indices.tolist()) & set(pool.labeled.tolist())
    assert picks.indices.min() >= 0
    assert picks.indices.max() < len(pool.X)


@every
@pytest.mark.parametrize("budget", [1, 7, 60])
def test_picks_are_new_unlabelled_rows_as_many_as_asked(name, budget):
    pool = make_pool(*wine())
    check(get(name)().select(pool, budget), pool, budget)


@every
def test_everything_that_is_left_can_be_asked_for(name):
    X, y = wine()
    pool = make_pool(X[:70], y[:70])
    picks = get(name)().select(pool, 58)
    check(picks, pool, 58)
    with pytest.raises(ValueError, match="58 unlabelled rows"):
        get(name)().select(pool, 59)


@every
def test_one_row_that_is_left_is_picked(name):
    X, y = wine()
    pool = make_pool(X[:30], y[:30], [row for row in range(30) if row != 17])
    assert get(name)().select(pool, 1).indices.tolist() == [17]


@every
def test_nothing_labelled_is_a_pool_too(name):
    X, y = wine()
    strategy = get(name)()
    pool = make_pool(X, y, [])
    if strategy.needs_model or strategy.needs_labels:
        with pytest.raises(ValueError, match="label") as error:
            strategy.select(pool, 5)
        assert "\n" not in str(error.value)
    else:
        check(strategy.select(pool, 5), pool, 5)


@every
def test_the_seed_decides(name):
    X, y = wine()
    first, again, other = (get(name)().select(make_pool(X, y, seed=s), 12).indices for s in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    if name == "random":
        assert first.tolist() != other.tolist()


@every
def test_the_number_of_threads_does_not_matter(name, monkeypatch):
    X, y = make_blobs(1500, 6, centers=5, random_state=0)  # enough rows that distances are computed in several blocks
    picks = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MHEAL_NUM_THREADS", threads)
        picks.append(get(name)().select(make_pool(X, y), 12).indices)
    np.testing.assert_array_equal(*picks)


@every
@pytest.mark.parametrize("budget", [20, 50])
def test_duplicates_in_the_pool_are_different_rows(name, budget):
    X, y = load_iris(return_X_y=True)
    X, y = np.repeat(X[::5], 2, axis=0), np.repeat(y[::5], 2)  # 60 rows, at most 30 of them distinct
    pool = make_pool(X, y, [0, 30, 58])
    check(get(name)().select(pool, budget), pool, budget)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_floating_types_are_welcome_and_stay_untouched(name, dtype):
    X, y = wine()
    X = X.astype(dtype)
    before = X.copy()
    pool = make_pool(X, y)
    X.flags.writeable = False
    check(get(name)().select(pool, 9), pool, 9)
    np.testing.assert_array_equal(X, before)


@every
@pytest.mark.parametrize("columns", [[0], [0, 13, 14]], ids=["one column", "constant columns"])
def test_poor_columns(name, columns):
    X, y = wine()
    X = np.column_stack([X, np.full(len(X), 3.25), np.zeros(len(X))])[:, columns]
    pool = make_pool(X, y)
    check(get(name)().select(pool, 11), pool, 11)


@every
def test_a_model_without_probabilities_will_do(name):
    X, y = wine()
    pool = make_pool(X, y, model=make_pipeline(StandardScaler(), LinearSVC()))
    check(get(name)().select(pool, 6), pool, 6)


@pytest.mark.parametrize("name", sorted(ORDER_FREE & set(names())))
def test_the_order_of_the_rows_does_not_matter(name):
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(2).permutation(len(X))
    labeled = np.arange(20)
    place = np.empty(len(X), np.int64)
    place[order] = np.arange(len(X))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[labeled], y[labeled])
    straight = get(name)().select(Pool(X, labeled, y[labeled], model), 15).indices
    shuffled = get(name)().select(Pool(X[order], place[labeled], y[labeled], model), 15).indices
    assert set(order[shuffled].tolist()) == set(straight.tolist())


@every
def test_the_kind_is_true(name):
    """Ranked: small budgets are prefixes. Not adaptive: labels and model make no difference."""
    X, y = wine()
    cls = get(name)
    assert cls.kind in KINDS
    if cls.kind == "ranked":
        many = cls().select(make_pool(X, y), 40).indices
        for budget in (1, 2, 13):
            np.testing.assert_array_equal(cls().select(make_pool(X, y), budget).indices, many[:budget])
    if cls.kind != "adaptive":
        assert not cls.needs_model
        assert not cls.needs_labels
        blind = Pool(X, np.arange(0, 24, 2), rng=np.random.default_rng(0))
        informed = make_pool(X, y)
        np.testing.assert_array_equal(cls().select(blind, 8).indices, cls().select(informed, 8).indices)


@every
def test_it_can_be_cloned_and_says_what_it_is(name):
    cls = get(name)
    assert cls.name == name
    assert clone(cls()).get_params() == cls().get_params()


def test_the_descriptions_fit_a_table():
    rows = describe()
    assert [row.name for row in rows] == names()
    assert len({row.title for row in rows}) == len(rows)
    for row in rows:
        assert row.needs.removesuffix(" and torch") in ("nothing", "labels", "a model")
        assert 20 < len(row.summary) <= 110
        assert 0 < len(row.cost) <= 80


def test_an_unknown_name_is_answered_with_similar_ones():
    with pytest.raises(ValueError, match="no strategy 'corset': did you mean coreset") as error:
        get("corset")
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="no strategy 'xyz': choose from mheal"):
        get("xyz")


def test_classes_are_importable():
    assert strategies.TypiClust is get("typiclust")
    assert {get(name).__name__ for name in names()} <= set(dir(strategies))
    with pytest.raises(AttributeError, match="no attribute 'Typical'"):
        _ = strategies.Typical


def test_labels_and_rows_go_together():
    with pytest.raises(ValueError, match="2 labels for 3 labelled rows"):
        Pool(np.zeros((5, 1)), np.array([0, 1, 2]), np.array([0, 1]))


MEASURE = """
import sys
import numpy as np
from resource import RUSAGE_SELF, getrusage
from sklearn.linear_model import LogisticRegression
from mheal.strategies import Pool, get

rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 64)).astype(np.float32)
labeled = np.arange(100)
labels = (X[labeled, 0] > 0).astype(int) + (X[labeled, 1] > 1)
model = LogisticRegression(max_iter=500).fit(X[labeled], labels)
small = Pool(X[:500], labeled, labels, model)
for name in sys.argv[1:]:
    get(name)().select(small, 2)  # compiles and imports
    before = getrusage(RUSAGE_SELF).ru_maxrss
    get(name)().select(Pool(X, labeled, labels, model), 50)
    print(name, (getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in kB there")
@every
def test_twenty_thousand_rows_stay_below_a_gigabyte(name):
    """The limit a matrix of all pairs (1.6 GB) would break."""
    run = subprocess.run([sys.executable, "-c", MEASURE, name], check=True, capture_output=True, text=True)
    assert float(run.stdout.split()[1]) < 1000
