"""MHEAL(deduplicate=True): of equal rows only the first is used."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mheal
from mheal import MHEAL

X = load_digits().data.astype(np.float32)
rng = np.random.default_rng(0)
ORDER = rng.permutation(len(X) + 400)
ROW = np.append(np.arange(len(X)), rng.choice(len(X), 400, replace=False))[ORDER]  # of X, of each row of the pool
POOL = X[ROW]
FIRST = np.sort(np.unique(ROW, return_index=True)[1])


def distinct(**more):
    return MHEAL(deduplicate=True, random_state=0, **more)


@pytest.mark.parametrize(
    "more",
    [{}, {"density_power": None}, {"balance_clusters": True}, {"balance_clusters": True, "across_clusters": False}],
)
def test_it_is_the_pool_without_duplicates(more):
    picks, alone = distinct(**more).select(POOL, 300), MHEAL(random_state=0, **more).select(POOL[FIRST], 300)
    np.testing.assert_array_equal(picks.indices, FIRST[alone.indices])
    for column in ("cluster", "gain", "radius"):
        np.testing.assert_array_equal(getattr(picks, column), getattr(alone, column))


def test_without_duplicates_nothing_changes():
    assert distinct().select(X, 100) == MHEAL(random_state=0).select(X, 100)


def test_duplicated_images_are_picked_less_often():
    twice = np.isin(ROW, ROW[np.unique(ROW, return_counts=True)[1][ROW] > 1])
    plain, without = (
        twice[MHEAL(deduplicate=flag, random_state=0).select(POOL, 256).indices].mean() for flag in (False, True)
    )
    assert without < 0.27 < plain  # 400 of 1,797 images are there twice


def test_duplicates_of_labelled_rows_are_not_picked():
    first = distinct().select(POOL, 100).indices
    other = np.array([np.flatnonzero(row == ROW)[-1] for row in ROW[first]])  # the same images, often by another row
    assert (other != first).any()
    picks = distinct().select(POOL, 200, labeled=other)
    assert not np.isin(ROW[picks.indices], ROW[other]).any()
    np.testing.assert_array_equal(picks.indices, distinct().select(POOL, 200, labeled=first).indices)


def test_duplicates_come_last():
    picks = distinct().select(POOL[:600], 600 - 3, labeled=[5, 6, 7])
    assert len(set(picks.indices)) == 597
    images = ROW[picks.indices]
    new = len(set(ROW[:600]) - set(ROW[[5, 6, 7]]))
    assert len(set(images[:new])) == new
    assert np.isin(images[new:], np.append(images[:new], ROW[[5, 6, 7]])).all()
    assert (picks.gain[new:] == 0).all()
    assert (picks.radius[new:] == 0).all()
    by_image = dict(zip(images[:new], picks.cluster[:new], strict=True))
    assert all(by_image.get(image, cluster) == cluster for image, cluster in zip(images, picks.cluster, strict=True))


def test_utility_is_that_of_the_first():
    utility = rng.random(len(X))[ROW]
    picks = distinct().select(POOL, 300, utility=utility)
    alone = MHEAL(random_state=0).select(POOL[FIRST], 300, utility=utility[FIRST] / utility.max())
    np.testing.assert_array_equal(picks.indices, FIRST[alone.indices])


def test_tensors_give_the_same_picks():
    torch = pytest.importorskip("torch")
    picks = distinct().select(torch.tensor(POOL), 100)
    np.testing.assert_array_equal(picks.indices, distinct().select(POOL, 100).indices)


def test_select_passes_it_on():
    picks = mheal.select(POOL, 256, deduplicate=True)
    assert np.isin(picks.indices, FIRST).all()
    assert picks == distinct().select(POOL, 256)


def test_bad_input_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match="'deduplicate' parameter of MHEAL"):
        MHEAL(deduplicate="twice").select(POOL, 5)
    with pytest.raises(ValueError, match=r"nothing left to pick$"):
        distinct().select(POOL[[0, 0, 1, 1]], 1, labeled=[0, 3])
    with pytest.raises(ValueError, match="leave out the checkpoint"):
        distinct().select(POOL, 5, checkpoint=tmp_path / "unfinished")
    bad = POOL.copy()
    bad[700, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN at row 700, column 3"):
        distinct().select(bad, 5)


def test_a_dask_array_is_refused():
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="Dask array"):
        distinct().select(dask.from_array(POOL), 5)
