"""`mheal.select(proba=…)` and `mheal.select(labels=…)`: picks where a model is in doubt."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import mheal
from mheal import estimators as models

X, y = load_digits(return_X_y=True)
FIRST = np.random.default_rng(0).permutation(len(X))[:100]
PROBA = LogisticRegression(max_iter=300).fit(X[FIRST], y[FIRST]).predict_proba(X)
ASKED = mheal.select(X, 30, labeled=FIRST, proba=PROBA)


def doubt(picks):
    top = np.sort(PROBA[picks.indices], axis=1)
    return float((1 - top[:, -1] + top[:, -2]).mean())


def test_picks_go_where_the_model_is_in_doubt():
    assert doubt(ASKED) > 1.5 * doubt(mheal.select(X, 30, labeled=FIRST))
    assert not set(ASKED.indices) & set(FIRST)


def test_a_smaller_budget_gives_the_first_of_them():
    few = mheal.select(X, 12, labeled=FIRST, proba=PROBA)
    np.testing.assert_array_equal(few.indices, ASKED.indices[:12])


def test_few_labels_leave_the_model_unasked_with_a_warning():
    with pytest.warns(UserWarning, match="from 64 labelled rows on, and labeled names 40"):
        picks = mheal.select(X, 30, labeled=FIRST[:40], proba=PROBA)
    assert picks == mheal.select(X, 30, labeled=FIRST[:40])


def test_without_labelled_rows_the_model_is_trusted():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert doubt(mheal.select(X, 30, proba=PROBA)) > 1.5 * doubt(mheal.select(X, 30))


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
        np.testing.assert_array_equal(expected.indices, ASKED.indices)


def test_tensors_do_as_well_with_their_gradients():
    torch = pytest.importorskip("torch")
    logits = torch.tensor(np.log(PROBA), dtype=torch.float32, requires_grad=True)
    picks = mheal.select(torch.tensor(X), 30, labeled=FIRST, proba=logits.softmax(1))
    np.testing.assert_array_equal(picks.indices, ASKED.indices)
    half = mheal.select(X, 30, labeled=FIRST, proba=logits.softmax(1).bfloat16())
    assert len(set(half.indices) & set(ASKED.indices)) > 20


def test_rounded_probabilities_are_good_enough():
    rounded = mheal.select(X, 30, labeled=FIRST, proba=PROBA.round(2))
    assert len(set(rounded.indices) & set(ASKED.indices)) > 20
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
    with pytest.raises(ValueError, match="no use for proba"):
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
    ours = models.fit_on_pool(models.ASKED, 0, X, FIRST, y[FIRST]).predict_proba(X)
    pool = pools[kind]()
    wanted = mheal.select(pool, 30, labeled=FIRST, proba=ours)
    assert mheal.select(pool, 30, labeled=FIRST, labels=y[FIRST]) == wanted
    assert wanted != mheal.select(pool, 30, labeled=FIRST)


def test_labels_go_with_the_rows_of_a_mask():
    mask = np.isin(np.arange(len(X)), FIRST)
    in_order = np.sort(FIRST)
    assert mheal.select(X, 30, mask, labels=y[mask]) == mheal.select(X, 30, in_order, labels=y[in_order])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (y[FIRST[:63]], "labels are looked at from 64 on, and there are 63: picking without a model"),
        (["cat"] * 100, "there is nothing to learn from one class: picking without a model"),
        (FIRST, "ids or measurements, not classes"),
        (y[FIRST] + np.linspace(0.1, 0.9, 100), "the labels are no classes"),
    ],
    ids=["few", "one class", "names", "measurements"],
)
def test_labels_that_teach_nothing_leave_it_at_mheal_with_a_warning(labels, words):
    rows = FIRST[: len(labels)]
    with pytest.warns(UserWarning, match=words):
        picks = mheal.select(X, 30, rows, labels=labels)
    assert picks == mheal.select(X, 30, rows)


def test_tensors_of_16_bits_do_as_well():
    torch = pytest.importorskip("torch")
    small = torch.as_tensor(X).bfloat16()  # digits are whole numbers up to 16: exact
    exact = mheal.select(torch.as_tensor(X).float(), 30, FIRST, labels=y[FIRST])
    np.testing.assert_array_equal(mheal.select(small, 30, FIRST, labels=y[FIRST]).indices, exact.indices)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"labels": y[FIRST]}, "labels are those of the rows in `labeled`: name these rows"),
        ({"labels": y[FIRST][1:], "labeled": FIRST}, r"labels has shape \(99,\), but labeled names 100 rows"),
        ({"labels": y[FIRST], "labeled": FIRST, "proba": PROBA}, "give one of them"),
    ],
)
def test_labels_that_are_no_use_get_one_line(arguments, words):
    with pytest.raises(ValueError, match=words):
        mheal.select(X, 30, **arguments)
