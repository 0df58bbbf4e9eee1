"""`mheal.select` with labels, an estimator or probabilities: it prefers rows that a model is uncertain about."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mheal
from mheal import estimators as models
from mheal.strategies import get
from mheal.uncertainty import FewLabelsWarning

X, y = load_digits(return_X_y=True)
FIRST = np.random.default_rng(0).permutation(len(X))[:100]
PROBA = LogisticRegression(max_iter=300).fit(X[FIRST], y[FIRST]).predict_proba(X)
QUERIED = mheal.select(X, 30, labeled=FIRST, proba=PROBA)


def uncertainty(picks):
    top = np.sort(PROBA[picks.indices], axis=1)
    return float((1 - top[:, -1] + top[:, -2]).mean())


def test_picks_go_where_the_model_is_in_uncertainty():
    assert uncertainty(QUERIED) > 1.5 * uncertainty(mheal.select(X, 30, labeled=FIRST))
    assert not set(QUERIED.indices) & set(FIRST)


def test_a_smaller_budget_gives_the_first_of_them():
    few = mheal.select(X, 12, labeled=FIRST, proba=PROBA)
    np.testing.assert_array_equal(few.indices, QUERIED.indices[:12])


def test_few_labels_leave_the_model_unasked_with_a_warning():
    with pytest.warns(FewLabelsWarning, match="64 .* 40"):
        picks = mheal.select(X, 30, labeled=FIRST[:40], proba=PROBA)
    assert picks == mheal.select(X, 30, labeled=FIRST[:40])


def test_without_labelled_rows_the_model_is_trusted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert uncertainty(mheal.select(X, 30, proba=PROBA)) > 1.5 * uncertainty(mheal.select(X, 30))


def test_a_model_without_doubt_changes_nothing():
    assert mheal.select(X, 30, labeled=FIRST, proba=np.eye(10)[y]) == mheal.select(X, 30, labeled=FIRST)


@pytest.mark.parametrize(
    ("pool", "proba"),
    [
        (X, PROBA.tolist()),
        (X, pd.DataFrame(PROBA)),
        (X, np.asfortranarray(PROBA)),
        (pd.DataFrame(X), PROBA),
        (X.tolist(), PROBA),
        (csr_matrix(X), PROBA),
    ],
    ids=["list", "frame", "columns first", "frame of rows", "list of rows", "sparse rows"],
)
def test_arrays_of_every_kind_give_the_same(pool, proba):
    mask = np.isin(np.arange(len(X)), FIRST)
    expected = mheal.select(pool, 30, labeled=mask, proba=PROBA)
    assert mheal.select(pool, 30, labeled=mask, proba=proba) == expected
    if not isinstance(pool, csr_matrix):  # whose columns are projected
        np.testing.assert_array_equal(expected.indices, QUERIED.indices)


def test_tensors_do_as_well_with_their_gradients():
    torch = pytest.importorskip("torch")
    logits = torch.tensor(np.log(PROBA), dtype=torch.float32, requires_grad=True)
    picks = mheal.select(torch.tensor(X), 30, labeled=FIRST, proba=logits.softmax(1))
    np.testing.assert_array_equal(picks.indices, QUERIED.indices)
    half = mheal.select(X, 30, labeled=FIRST, proba=logits.softmax(1).bfloat16())
    assert len(set(half.indices) & set(QUERIED.indices)) > 20


def test_rounded_probabilities_are_good_enough():
    rounded = mheal.select(X, 30, labeled=FIRST, proba=PROBA.round(2))
    assert len(set(rounded.indices) & set(QUERIED.indices)) > 20
    assert (np.abs(PROBA.round(2).sum(1) - 1) > 0.02).any()


def changed(row, value):
    return np.where(np.arange(len(X))[:, None] == row, value, PROBA)


@pytest.mark.parametrize(
    ("proba", "error", "words"),
    [
        (changed(7, np.nan), ValueError, "has a NaN at row 7"),
        (changed(70_000 % 1797, -0.1), ValueError, "has -0.1 at row 1714"),
        (changed(3, 0.2), ValueError, "adds up to 2 at row 3"),
        (PROBA[:, 0], ValueError, "a column for each class"),
        (PROBA[:-1], ValueError, r"shape \(1796, 10\), but X has 1797 rows"),
        (csr_matrix(PROBA), TypeError, "proba.toarray"),
        (PROBA.astype(object), TypeError, "predict_proba"),
        (np.ma.masked_less(PROBA, 0.01), ValueError, "masked"),
    ],
)
def test_what_are_no_probabilities_is_refused_by_its_row(proba, error, words):
    with pytest.raises(error, match=words):
        mheal.select(X, 30, labeled=FIRST, proba=proba)


@pytest.mark.parametrize("bad", [None, np.float64(3), 5])
def test_what_is_no_pool_is_refused_as_a_pool(bad):
    with pytest.raises((TypeError, ValueError)) as without:
        mheal.select(bad, 3)
    with pytest.raises(type(without.value)) as refused:
        mheal.select(bad, 3, proba=PROBA)
    assert str(refused.value) == str(without.value)


def test_a_dask_array_has_no_use_for_it():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="without a model"):
        mheal.select(da.from_array(X), 3, proba=PROBA)


@pytest.mark.parametrize("kind", ["array", "list", "frame", "sparse", "tensor"])
def test_labels_do_where_there_is_no_model(kind):
    if kind == "tensor":
        pytest.importorskip("torch")
    pools = {
        "array": lambda: X,
        "list": lambda: X.tolist(),
        "frame": lambda: pd.DataFrame(X),
        "sparse": lambda: csr_matrix(X),
        "tensor": lambda: __import__("torch").as_tensor(X),
    }
    ours = models.fit_on_pool("logistic+knn", 0, X, FIRST, y[FIRST]).predict_proba(X)
    pool = pools[kind]()
    wanted = mheal.select(pool, 30, labeled=FIRST, proba=ours)
    assert mheal.select(pool, 30, labeled=FIRST, y=y[FIRST]) == wanted
    assert wanted != mheal.select(pool, 30, labeled=FIRST)


def test_labels_go_with_the_rows_of_a_mask():
    mask = np.isin(np.arange(len(X)), FIRST)
    in_order = np.sort(FIRST)
    assert mheal.select(X, 30, labeled=mask, y=y[mask]) == mheal.select(X, 30, labeled=in_order, y=y[in_order])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (y[FIRST[:63]], "64 .* 63"),
        (["cat"] * 100, "labels"),
        (FIRST, "100 different values"),
        (np.linspace(0, 1, 100), "measurements"),
    ],
    ids=["few", "one class", "names", "measurements"],
)
def test_labels_that_teach_nothing_leave_it_at_mheal_with_a_warning(labels, words):
    rows = FIRST[: len(labels)]
    with pytest.warns(FewLabelsWarning, match=words):
        picks = mheal.select(X, 30, labeled=rows, y=labels)
    assert picks == mheal.select(X, 30, labeled=rows)


def test_tensors_of_16_bits_do_as_well():
    torch = pytest.importorskip("torch")
    small = torch.as_tensor(X).bfloat16()  # digits are whole numbers up to 16: exact
    exact = mheal.select(torch.as_tensor(X).float(), 30, labeled=FIRST, y=y[FIRST])
    np.testing.assert_array_equal(mheal.select(small, 30, labeled=FIRST, y=y[FIRST]).indices, exact.indices)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": y[FIRST]}, "100 labels, and X has 1797 rows"),
        ({"y": y[FIRST][1:], "labeled": FIRST}, "99 labels, but labeled names 100 rows"),
        ({"y": [None, *y[FIRST][1:]], "labeled": FIRST}, f"no label for row {FIRST[0]}"),
        ({"estimator": LogisticRegression(), "labeled": FIRST, "proba": PROBA}, "give one of them"),
        ({"estimator": LogisticRegression(), "labeled": FIRST}, "is not fitted"),
        ({"strategy": "margin"}, "needs a model"),
        ({"strategy": "qbc"}, "learns from labels"),
        ({"strategy": "random", "proba": PROBA}, "no use for class probabilities"),
        ({"strategy": "random", "utility": np.ones(len(X))}, "no use for a utility"),
        ({"strategy": "random", "device": "cuda"}, "on the CPU only"),
        ({"strategy": "random", "deduplicate": True}, "does not look for duplicates"),
        ({"strategy": "random", "n_classes": 3}, "leave out n_classes"),
        ({"strategy": "random", "checkpoint": "folder"}, "no intermediate results"),
        ({"strategy": "kmeans", "memory_limit": 10**9}, "memory limit"),
        ({"checkpoint": "folder", "random_state": None}, "integer random_state"),
        ({"strategy": "no such"}, "no strategy 'no such'"),
    ],
)
def test_labels_that_are_no_use_get_one_line(arguments, words):
    with pytest.raises(ValueError, match=words):
        mheal.select(X, 30, **arguments)


def test_labels_for_every_row_say_which_rows_are_labelled():
    column = [None] * len(X)
    for row in FIRST:
        column[row] = str(y[row])
    floats = np.where(np.isin(np.arange(len(X)), FIRST), y, np.nan)
    rows = np.sort(FIRST)
    expected = mheal.select(X, 30, labeled=rows, y=y[rows])
    assert mheal.select(X, 30, y=column) == expected
    assert mheal.select(X, 30, y=floats) == expected
    assert mheal.select(X, 30, labeled=rows, y=floats) == expected


@pytest.mark.parametrize("strategy", ["mheal", "margin", "badge"])
def test_an_estimator_is_fitted_on_the_labels(strategy):
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
    fitted = clone(model).fit(X[FIRST], y[FIRST])
    given = mheal.select(X, 20, strategy=strategy, labeled=FIRST, y=y[FIRST], estimator=fitted)
    assert mheal.select(X, 20, strategy=strategy, labeled=FIRST, y=y[FIRST], estimator=model) == given
    assert not hasattr(model[-1], "classes_")  # a clone was fitted


def test_a_model_may_have_decision_values_only():
    picks = mheal.select(X, 20, labeled=FIRST, y=y[FIRST], estimator=RidgeClassifier())
    assert picks != mheal.select(X, 20, labeled=FIRST)


def test_every_seed_of_numpy_does():
    for strategy in ("mheal", "random", "kmeans"):
        first = mheal.select(X, 20, strategy=strategy, random_state=np.random.default_rng(3))
        assert first == mheal.select(X, 20, strategy=strategy, random_state=np.random.default_rng(3))
        older = mheal.select(X, 20, strategy=strategy, random_state=np.random.RandomState(3))
        assert older == mheal.select(X, 20, strategy=strategy, random_state=np.random.RandomState(3))
    assert mheal.select(X, 20, random_state=np.random.RandomState(3)) == mheal.select(X, 20, random_state=3)


def test_classes_can_be_called_by_the_name_or_by_an_instance():
    for name in ("mheal", "mheal-paper", "coreset"):
        assert mheal.select(X, 20, strategy=name) == mheal.select(X, 20, strategy=get(name)())
    assert mheal.MHEAL(5, random_state=2).select(X, 20) == mheal.select(X, 20, strategy=mheal.MHEAL(5), random_state=2)
    assert mheal.select(X, 20, n_classes=4) == mheal.select(X, 20, strategy=mheal.MHEAL(4))


def test_progress_is_reported():
    seen = []
    mheal.select(X, 20, progress=lambda done, total, what: seen.append(what))
    assert len(set(seen)) > 1


def test_a_checkpoint_folder_is_gone_after_the_run(tmp_path):
    for strategy in ("mheal", "mheal-paper"):
        picks = mheal.select(X, 20, strategy=strategy, checkpoint=tmp_path / "unfinished")
        assert picks == mheal.select(X, 20, strategy=strategy)
        assert not (tmp_path / "unfinished").exists()


def test_a_memory_limit_changes_nothing():
    assert mheal.select(X, 20, memory_limit=2**34) == mheal.select(X, 20)


def test_strategies_pick_from_a_frame_as_select_does():
    frame = pd.DataFrame(X[:300, 20:40]).assign(label=y[:300], customer_id=np.arange(300))
    frame.loc[7, 3] = np.nan
    rows = np.arange(100, 200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        door = mheal.select(frame, 20, labeled=rows, y=y[rows], missing="drop")
        own = mheal.MHEAL().select(frame, 20, labeled=rows, y=y[rows], missing="drop", random_state=0)
    assert door.indices.tolist() == own.indices.tolist()
    assert 7 not in set(door)


def test_an_instance_keeps_its_own_seed():
    A = np.random.default_rng(0).normal(size=(9_000, 6))
    own = mheal.MHEAL(random_state=7).select(A, 10)
    assert mheal.select(A, 10, strategy=mheal.MHEAL(random_state=7)).indices.tolist() == own.indices.tolist()
    assert mheal.select(A, 10).indices.tolist() != own.indices.tolist()
