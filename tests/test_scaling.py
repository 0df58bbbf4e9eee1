"""Rows of unit length are not scaled; in other pools, columns are standardised."""

import numpy as np
import pytest
from scipy.sparse import random as random_sparse
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler, normalize

import mheal
from mheal.evaluate import simulate
from mheal.scaling import comparable, on_sphere
from mheal.sphere import FEW, to_sphere
from mheal.strategies import get
from mheal.validation import as_array

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
UNIT = to_sphere((X - X.mean(axis=0)) * np.geomspace(1, 0.1, 64, dtype=np.float32))


def spoiled(row, value):
    other = UNIT.copy()
    other[row] = value
    return other


@pytest.mark.parametrize(
    ("pool", "expected"),
    [
        (UNIT, True),
        (UNIT.astype(np.float16).astype(np.float32), True),
        (spoiled(slice(0, 900, 2), 0), True),  # texts without a known word
        (UNIT[:3], True),
        (X, False),
        (UNIT * 2, False),
        (spoiled(5, 3), False),
        (spoiled(5, np.nan), False),
        (spoiled(slice(0, 900), 0), False),
        (np.ones((4, 1)), False),  # one column of ones is no direction
        (np.zeros((9, 9)), False),
        (X[:0], False),
    ],
)
def test_rows_of_unit_length_are_known(pool, expected):
    assert on_sphere(pool) == expected


def test_to_sphere_keeps_directions_zeros_and_rows_of_few_columns():
    rows = np.vstack([X[:5], np.zeros((1, 64), np.float32)])
    made = to_sphere(rows)
    assert made.dtype == np.float32
    assert to_sphere(rows.astype(np.float64)).dtype == np.float64
    np.testing.assert_allclose(made[:5], normalize(X[:5]), rtol=1e-6)
    assert not made[5].any()
    np.testing.assert_array_equal(to_sphere(X[:, : FEW - 1]), X[:, : FEW - 1])


def test_what_models_see_has_mean_squares_of_one_with_either_scaling():
    for pool in (X[:, X.std(axis=0) > 0], UNIT):
        Z = comparable(pool).array()
        assert abs((Z.astype(np.float64) ** 2).mean() - 1) < 1e-3
    np.testing.assert_allclose(comparable(UNIT).array(), 8 * UNIT, rtol=1e-6)


def test_select_takes_unit_rows_as_they_are_and_standardises_others():
    auto, raw, standard = (mheal.MHEAL(random_state=0, scaling=scaling) for scaling in ("auto", "raw", "standard"))
    assert auto.select(UNIT, 40) == raw.select(UNIT, 40)
    assert auto.select(UNIT, 40) != standard.select(UNIT, 40)
    assert auto.select(X, 40) == standard.select(X, 40)
    assert mheal.select(UNIT, 40) == raw.select(UNIT, 40)


def test_nan_far_behind_is_refused_by_its_row():
    bad = np.tile(UNIT, (2, 1))
    bad[3000, 5] = np.nan
    for call in (lambda: mheal.select(bad, 5), lambda: comparable(bad)):
        with pytest.raises(ValueError, match="row 3000"):
            call()


def test_one_row_far_behind_that_is_not_of_unit_length_decides():
    mixed = np.vstack([UNIT, 50 * UNIT[:9]])
    standard = mheal.MHEAL(random_state=0, scaling="standard")
    assert not on_sphere(mixed)
    assert mheal.select(mixed, 40) == standard.select(mixed, 40)
    dask = pytest.importorskip("dask.array")
    for pool in (mixed, np.vstack([UNIT, np.zeros((501, 64), np.float32)])):  # the latter has a partition of zeros
        wanted = mheal.select(pool, 40)
        np.testing.assert_array_equal(mheal.select(dask.from_array(pool, (500, 64)), 40).indices, wanted.indices)


def test_equal_rows_leave_nothing_to_choose():
    dask = pytest.importorskip("dask.array")
    for value in (0.5, 0.7):
        rows = np.full((50, 4), value, np.float32)
        for pool in (rows, dask.from_array(rows, (20, 4))):
            with pytest.raises(ValueError, match="all 50 rows of X are equal"):
                mheal.select(pool, 5)


def test_looking_for_duplicates_changes_nothing_where_there_are_none():
    wide = random_sparse(400, 2000, 0.02, "csr", random_state=0, dtype=np.float32)
    with_all, without = (mheal.MHEAL(random_state=3, deduplicate=look).select(wide, 30) for look in (False, True))
    assert with_all == without


def test_a_tensor_a_dask_array_and_a_checkpoint_decide_alike(tmp_path):
    wanted = mheal.select(UNIT, 40)
    torch, dask = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    np.testing.assert_array_equal(mheal.select(torch.as_tensor(UNIT), 40).indices, wanted.indices)
    np.testing.assert_array_equal(mheal.select(dask.from_array(UNIT, (500, 64)), 40).indices, wanted.indices)
    kept = mheal.MHEAL(random_state=0).select(UNIT, 40, checkpoint=tmp_path / "work")
    np.testing.assert_array_equal(kept.indices, wanted.indices)


def test_wide_sparse_rows_are_reduced_to_unit_length():
    wide = random_sparse(400, 2000, 0.02, "csr", random_state=0, dtype=np.float32)
    made = as_array(wide)
    assert made.shape == (400, 128)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, rtol=1e-5)


@pytest.mark.parametrize("name", ["mheal", "kmeans", "kmedoids", "coreset", "typiclust", "maxherding"])
def test_strategies_measure_distances_in_the_scaling_of_the_pool(name):
    def picks(pool, scaling):
        return mheal.select(pool, 30, strategy=get(name)(), scaling=scaling).indices.tolist()

    assert picks(UNIT, "auto") == picks(8 * UNIT, "raw")  # a factor of 8 is exact
    assert picks(UNIT, "auto") != picks(UNIT, "standard")
    assert picks(X, "auto") == picks(X, "standard")


def test_simulations_of_unit_rows_neither_select_nor_learn_by_standardised_columns():
    def accuracy(pool):
        rows = simulate(pool, y, ["mheal"], [30, 60], seeds=3).rows
        return np.mean([row["accuracy"] for row in rows])

    narrow = to_sphere((X - X.mean(axis=0)) @ np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2].T[:, :30])
    assert accuracy(narrow) > accuracy(StandardScaler().fit_transform(narrow)) + 0.02
