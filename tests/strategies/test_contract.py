"""Tests that run on every strategy: each keeps what `mheal.select` promises."""

import subprocess
import sys
import warnings
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_blobs
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import mheal
from mheal.exceptions import UserError
from mheal.strategies import get, names
from mheal.strategy import Strategy

# On small pools without ties these use random numbers only for the labelled rows, so the order of the others has no
# influence.
ORDER_FREE = {"coreset", "maxherding", "support-points", "margin", "least-confidence", "entropy"}
ORDER_FREE |= {"uherding", "ted", "gen", "spal", "aldr"}
ORDER_FREE |= {"max-entropy", "variation-ratios", "bald", "batchbald", "cdal-coreset"}

with_torch = pytest.mark.skipif(find_spec("torch") is None, reason="trains a network: needs mheal[deep]")
every = pytest.mark.parametrize(
    "name", [pytest.param(name, marks=with_torch if name in ("cdal-rl", "vaal") else ()) for name in names()]
)
LABELED = np.arange(0, 24, 2)
pytestmark = pytest.mark.filterwarnings("ignore::mheal.uncertainty.FewLabelsWarning")


def wine():
    X, y = load_wine(return_X_y=True)
    order = np.random.default_rng(3).permutation(len(X))
    return X[order], y[order]


def pick(name, X, y, n, labeled=LABELED, estimator=None, seed=0):
    """Picks of a strategy that may use everything: labels and a model."""
    estimator = estimator or make_pipeline(StandardScaler(), LogisticRegression())
    return mheal.select(
        X, n, labeled=labeled, y=y[labeled], estimator=estimator, strategy=short(name), random_state=seed
    )


def short(name):
    """The strategy, with few training steps."""
    return get(name)(**{"vaal": {"iterations": 20}, "cdal-rl": {"epochs": 2}}.get(name, {}))


def check(picks, rows, n, labeled=LABELED):
    assert isinstance(picks, mheal.Selection)
    assert picks.indices.dtype == np.int64
    assert len(picks) == n == len(set(picks.indices.tolist()))
    assert not set(picks.indices.tolist()) & set(np.asarray(labeled).tolist())
    assert picks.indices.min() >= 0
    assert picks.indices.max() < rows


@every
@pytest.mark.parametrize("n", [1, 7, 60])
def test_picks_are_n_different_unlabelled_rows(name, n):
    X, y = wine()
    check(pick(name, X, y, n), len(X), n)


@every
def test_all_rows_that_are_left_can_be_picked_and_no_more(name):
    X, y = wine()
    X, y = X[:70], y[:70]
    check(pick(name, X, y, 58), 70, 58)
    for n in (59, 0):
        with pytest.raises(UserError) as error:
            pick(name, X, y, n)
        assert "\n" not in str(error.value)


@every
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_and_infinity_are_refused(name, value):
    X, y = wine()
    X[100, 3] = value
    fitted = LogisticRegression(max_iter=10).fit(*wine())
    with pytest.raises(UserError, match=r"X has (NaN|infinity) at row 100, column 3"):
        pick(name, X, y, 5, estimator=fitted)


@every
def test_one_row_that_is_left_is_picked(name):
    X, y = wine()
    labeled = np.array([row for row in range(30) if row != 17])
    assert pick(name, X[:30], y[:30], 1, labeled).indices.tolist() == [17]


@every
def test_a_pool_without_labels(name):
    X, _ = wine()
    cls = get(name)
    if cls.needs_model or cls.needs_labels:
        with pytest.raises(UserError, match="label") as error:
            mheal.select(X, 5, strategy=name)
        assert "\n" not in str(error.value)
    else:
        check(mheal.select(X, 5, strategy=name), len(X), 5, [])


@every
def test_labels_alone_are_enough(name):
    X, y = wine()
    check(mheal.select(X, 5, labeled=LABELED, y=y[LABELED], strategy=short(name)), len(X), 5)


@every
def test_picks_are_the_same_for_a_seed_and_leave_the_global_random_state_alone(name):
    X, y = wine()
    np.random.seed(7)  # noqa: NPY002  the global state is what is tested
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first, again, other = (pick(name, X, y, 12, seed=seed).indices for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    if name == "random":
        assert first.tolist() != other.tolist()


@every
def test_the_number_of_threads_does_not_matter(name, monkeypatch):
    X, y = make_blobs(1500, 6, centers=5, random_state=0)  # enough rows that distances are computed in several blocks
    picks = []
    for threads in ("1", "3"):
        monkeypatch.setenv("MHEAL_NUM_THREADS", threads)
        picks.append(pick(name, X, y, 12).indices)
    np.testing.assert_array_equal(*picks)


@every
def test_classes_may_be_strings(name):
    X, y = wine()
    numbers, words = (pick(name, X, labels, 8).indices for labels in (y, np.array(["a", "b", "c"])[y]))
    np.testing.assert_array_equal(numbers, words)


@every
@pytest.mark.parametrize("n", [20, 50])
def test_duplicates_in_the_pool_are_different_rows(name, n):
    X, y = load_iris(return_X_y=True)
    X, y = np.repeat(X[::5], 2, axis=0), np.repeat(y[::5], 2)  # 60 rows, at most 30 of them distinct
    labeled = np.array([0, 30, 58])
    check(pick(name, X, y, n, labeled), 60, n, labeled)


@every
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float32_and_float64_are_read_and_never_written(name, dtype):
    X, y = wine()
    X = X.astype(dtype)
    before = X.copy()
    X.flags.writeable = False
    check(pick(name, X, y, 9), len(X), 9)
    np.testing.assert_array_equal(X, before)


@every
@pytest.mark.parametrize("columns", [[0], [0, 13, 14]], ids=["one column", "constant columns"])
def test_pools_with_one_column_that_varies(name, columns):
    X, y = wine()
    X = np.column_stack([X, np.full(len(X), 3.25), np.zeros(len(X))])[:, columns]
    check(pick(name, X, y, 11), len(X), 11)


@every
def test_a_model_without_probabilities(name):
    X, y = wine()
    check(pick(name, X, y, 6, estimator=make_pipeline(StandardScaler(), LinearSVC())), len(X), 6)


@every
def test_probabilities_instead_of_a_model(name):
    X, y = wine()
    labeled = np.arange(70)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[labeled], y[labeled])
    given = {"labeled": labeled, "proba": model.predict_proba(X), "strategy": short(name)}
    if get(name).uses_proba:
        check(mheal.select(X, 6, **given), len(X), 6, labeled)
    else:
        with pytest.raises(UserError, match=f"{name} .*proba"):
            mheal.select(X, 6, **given)


@pytest.mark.parametrize("name", sorted(ORDER_FREE & set(names())))
def test_the_order_of_the_rows_does_not_matter(name):
    X, y = load_breast_cancer(return_X_y=True)
    order = np.random.default_rng(2).permutation(len(X))
    labeled = np.arange(20)
    place = np.empty(len(X), np.int64)
    place[order] = np.arange(len(X))
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X[labeled], y[labeled])
    straight = pick(name, X, y, 15, labeled, model).indices
    shuffled = pick(name, X[order], y[order], 15, place[labeled], model).indices
    assert set(order[shuffled].tolist()) == set(straight.tolist())


@every
def test_the_kind_is_true(name):
    """If ranked, picks of a small budget are a prefix. If not adaptive, labels and model do not change the picks."""
    X, y = wine()
    cls = get(name)
    if cls.kind == "ranked":
        many = pick(name, X, y, 40).indices
        for n in (1, 2, 13):
            np.testing.assert_array_equal(pick(name, X, y, n).indices, many[:n])
    if cls.kind != "adaptive":
        assert (cls.needs_model, cls.needs_labels, cls.uses_model) == (False, False, False)
        blind = mheal.select(X, 8, labeled=LABELED, strategy=name).indices
        np.testing.assert_array_equal(blind, pick(name, X, y, 8).indices)


@every
def test_a_strategy_can_be_given_by_name_or_as_an_instance_and_cloned(name):
    X, y = wine()
    cls = get(name)
    assert issubclass(cls, Strategy)
    assert clone(cls()).get_params() == cls().get_params()
    if not cls.needs_torch:
        given = {"labeled": LABELED, "y": y[LABELED], "random_state": 3}
        by_name = mheal.select(X, 5, strategy=name, **given)
        assert by_name == mheal.select(X, 5, strategy=cls(), **given) == cls().select(X, 5, **given)


@every
def test_bad_parameters_get_one_line(name):
    X, y = wine()
    cls = get(name)
    for parameter in set(cls().get_params()) - {"random_state"}:
        with pytest.raises(UserError, match=parameter) as error, warnings.catch_warnings():
            mheal.select(X, 5, labeled=LABELED, y=y[LABELED], strategy=cls(**{parameter: object()}))
        assert "\n" not in str(error.value)


MEASURE = """
import sys
import numpy as np
import mheal
from resource import RUSAGE_SELF, getrusage
from sklearn.linear_model import LogisticRegression

rng = np.random.default_rng(0)
X = rng.standard_normal((20_000, 64)).astype(np.float32)
labeled = np.arange(100)
y = (X[labeled, 0] > 0).astype(int) + (X[labeled, 1] > 1)
given = {"labeled": labeled, "y": y, "estimator": LogisticRegression(max_iter=500), "strategy": sys.argv[1]}
mheal.select(X[:500], 2, **given)  # compiles and imports
before = getrusage(RUSAGE_SELF).ru_maxrss
mheal.select(X, 50, **given)
print((getrusage(RUSAGE_SELF).ru_maxrss - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="ru_maxrss is in kB there")
@every
def test_twenty_thousand_rows_stay_below_a_gigabyte(name):
    """A matrix of all pairs would take 1.6 GB, which exceeds the limit."""
    run = subprocess.run([sys.executable, "-c", MEASURE, name], check=True, capture_output=True, text=True)
    assert float(run.stdout) < 1000
