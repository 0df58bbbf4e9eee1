"""MHEAL(copies="once"): an image that is there twice is worth one label, and no more than others."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mheal import MHEAL
from mheal.strategies import Pool, get

X = load_digits().data.astype(np.float32)
rng = np.random.default_rng(0)
ORDER = rng.permutation(len(X) + 400)
ROW = np.append(np.arange(len(X)), rng.choice(len(X), 400, replace=False))[ORDER]  # of X, of each row of the pool
POOL = X[ROW]
FIRST = np.sort(np.unique(ROW, return_index=True)[1])


def once(**more):
    return MHEAL(copies="once", random_state=0, **more)


@pytest.mark.parametrize("more", [{}, {"charge": None}, {"quota": True}, {"quota": True, "global_repulsion": False}])
def test_it_is_the_pool_without_copies(more):
    picks, alone = once(**more).select(POOL, 300), MHEAL(random_state=0, **more).select(POOL[FIRST], 300)
    np.testing.assert_array_equal(picks.indices, FIRST[alone.indices])
    for column in ("cluster", "gain", "radius"):
        np.testing.assert_array_equal(getattr(picks, column), getattr(alone, column))


def test_where_there_are_no_copies_nothing_changes():
    assert once().select(X, 100) == MHEAL(random_state=0).select(X, 100)


def test_copies_are_bought_less_readily_than_when_they_count():
    twice = np.isin(ROW, ROW[np.unique(ROW, return_counts=True)[1][ROW] > 1])
    share = {
        how: twice[MHEAL(copies=how, random_state=0).select(POOL, 256).indices].mean() for how in ("count", "once")
    }
    assert share["count"] > 0.3
    assert share["once"] < 0.28  # 400 of 1,797 images are there twice


def test_copies_of_labelled_rows_are_not_bought():
    first = once().select(POOL, 100).indices
    other = np.array([np.flatnonzero(row == ROW)[-1] for row in ROW[first]])  # the same images, often by another row
    assert (other != first).any()
    picks = once().select(POOL, 200, labeled=other)
    assert not np.isin(ROW[picks.indices], ROW[other]).any()
    np.testing.assert_array_equal(picks.indices, once().select(POOL, 200, labeled=first).indices)


def test_copies_come_last():
    picks = once().select(POOL[:600], 600 - 3, labeled=[5, 6, 7])
    assert len(set(picks.indices)) == 597
    images = ROW[picks.indices]
    new = len(set(ROW[:600]) - set(ROW[[5, 6, 7]]))
    assert len(set(images[:new])) == new
    assert np.isin(images[new:], np.append(images[:new], ROW[[5, 6, 7]])).all()
    assert (picks.gain[new:] == 0).all()
    assert (picks.radius[new:] == 0).all()
    by_image = dict(zip(images[:new], picks.cluster[:new], strict=True))
    assert all(by_image.get(image, cluster) == cluster for image, cluster in zip(images, picks.cluster, strict=True))


def test_worth_is_that_of_the_first():
    worth = rng.random(len(X))[ROW]
    picks = once().select(POOL, 300, worth=worth)
    alone = MHEAL(random_state=0).select(POOL[FIRST], 300, worth=worth[FIRST] / worth.max())
    np.testing.assert_array_equal(picks.indices, FIRST[alone.indices])


def test_tensors_give_the_same_picks():
    torch = pytest.importorskip("torch")
    picks = once().select(torch.tensor(POOL), 100)
    np.testing.assert_array_equal(picks.indices, once().select(POOL, 100).indices)


@pytest.mark.parametrize("name", ["mheal", "mheal-asking"])
def test_strategies_pass_it_on(name):
    pool = Pool(POOL, np.empty(0, np.int64), np.empty(0), None, np.random.default_rng(0))
    picks = get(name)(copies="once").select(pool, 256).indices
    assert np.isin(picks, FIRST).all()


def test_bad_input_is_refused_in_one_line(tmp_path):
    with pytest.raises(ValueError, match=r"^copies must be one of count, once, got 'twice'$"):
        MHEAL(copies="twice").select(POOL, 5)
    with pytest.raises(ValueError, match=r"nothing left to pick$"):
        once().select(POOL[[0, 0, 1, 1]], 1, labeled=[0, 3])
    with pytest.raises(ValueError, match=r"leave out the workspace, or let copies count$"):
        once().select(POOL, 5, workspace=tmp_path / "unfinished")
    bad = POOL.copy()
    bad[700, 3] = np.nan
    with pytest.raises(ValueError, match=r"NaN at row 700, column 3"):
        once().select(bad, 5)


def test_a_dask_array_counts_them():
    dask = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match=r"^copies in a Dask array count"):
        once().select(dask.from_array(POOL), 5)
