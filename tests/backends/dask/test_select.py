"""A Dask array gives the picks that the same rows give in memory."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import mheal  # noqa: E402
from mheal.backends.dask import (
    partitions,
    traversal,
)

UNEVEN = (400, 1, 599, 300, 200)
SAMPLED = {"random_state": 0, "cluster_sample": 600}
MODES = {
    "default": {},
    "no cover": {"cover": 0},
    "raw": {"space": "raw"},
    "unit": {"space": "unit"},
    "no charge": {"charge": None},
    "no charge, raw": {"charge": None, "space": "raw"},
    "quota": {"quota": True},
    "quota, no charge": {"quota": True, "charge": None},
    "no repulsion": {"global_repulsion": False},
    "no repulsion, quota": {"global_repulsion": False, "quota": True, "charge": None, "space": "unit"},
}


def rows_apart(X, chunks=UNEVEN):
    return da.from_array(X, chunks=(chunks, -1))


def assert_same(model, X, budget, labeled=None, chunks=UNEVEN):
    expected = model.select(X, budget, labeled)
    picks = model.select(rows_apart(X, chunks), budget, labeled)
    np.testing.assert_array_equal(picks.indices, expected.indices)
    np.testing.assert_array_equal(picks.cluster, expected.cluster)
    np.testing.assert_allclose(picks.gain, expected.gain, rtol=1e-3)
    np.testing.assert_allclose(picks.radius, expected.radius, rtol=1e-3)
    return picks


@pytest.mark.parametrize("mode", MODES)
def test_picks_are_those_in_memory_where_every_tie_is_exact(client, make_pool, mode):
    assert_same(mheal.MHEAL(**SAMPLED, **MODES[mode]), make_pool(integer=True), 80 if "quota" in mode else 320)


@pytest.mark.parametrize("mode", ["default", "unit", "no charge", "quota", "no repulsion, quota"])
def test_picks_are_those_in_memory(client, make_pool, mode):
    assert_same(mheal.MHEAL(**SAMPLED, **MODES[mode]), make_pool(), 80 if "quota" in mode else 320)


def test_a_pool_that_the_workers_cannot_hold_is_read_in_every_pass(client, make_pool, monkeypatch):
    monkeypatch.setattr(partitions, "_memory", lambda client: 1000)
    assert_same(mheal.MHEAL(**SAMPLED), make_pool(), 300)


@pytest.mark.parametrize("mode", ["default", "quota", "no repulsion", "no charge"])
def test_labelled_rows_are_kept_away_from(client, make_pool, mode):
    labeled = [1499, 3, 400]
    picks = assert_same(mheal.MHEAL(**SAMPLED, **MODES[mode]), make_pool(dtype=np.float64), 40, labeled)
    assert not set(picks.indices) & set(labeled)


def test_the_published_algorithm_fits_its_clusters_on_all_rows(client, make_pool):
    X = make_pool()
    assert_same(mheal.MHEAL.paper(5, n_init=2, random_state=0), X, 40)
    assert_same(mheal.MHEAL.paper(5, init=X[:5], random_state=0), X, 40)


@pytest.mark.parametrize("integer", [False, True], ids=["float", "integer"])
def test_small_fronts_take_many_epochs_and_pick_the_same(client, make_pool, monkeypatch, integer):
    monkeypatch.setattr(traversal, "FRONT_MIN", 40)
    monkeypatch.setattr(traversal, "TRAVELLING", 0)
    monkeypatch.setattr(traversal, "FEWEST", 3)
    epochs = []
    plain = traversal.ClusterTraversal._epoch
    monkeypatch.setattr(traversal.ClusterTraversal, "_epoch", lambda self: epochs.append(1) or plain(self))
    X = make_pool(integer=integer)
    assert_same(mheal.MHEAL(**SAMPLED, space="raw", cover=20), X, 150)
    assert len(epochs) > 5


def test_nearly_all_rows_with_duplicates(client, make_pool):
    X = np.repeat(make_pool(n=100, integer=True), 3, axis=0)
    picks = assert_same(mheal.MHEAL(**SAMPLED), X, 299, chunks=(100, 120, 80))
    assert len(set(picks.indices)) == 299


def test_rows_at_the_mean_belong_somewhere(client, make_pool):
    X = make_pool(n=600)
    X -= X.mean(axis=0)
    X[[5, 300, 599]] = 0
    assert_same(mheal.MHEAL(random_state=0, cluster_sample=300, space="raw"), X, 100, chunks=(200, 400))


def test_clusters_of_all_rows_do_not_depend_on_the_chunks(client, make_pool):
    X = make_pool()
    model = mheal.MHEAL(8, random_state=0, cluster_sample=None)
    first, second = (model.select(rows_apart(X, chunks), 50) for chunks in (UNEVEN, (750, 750)))
    np.testing.assert_array_equal(first.indices, second.indices)
    assert len(np.unique(first.cluster)) == 8


def test_columns_in_chunks_and_other_dtypes(client, make_pool):
    X = make_pool(integer=True, dtype=np.int16)
    expected = mheal.select(X, 20)
    np.testing.assert_array_equal(mheal.select(da.from_array(X, chunks=(500, 5)), 20).indices, expected.indices)


def test_unknown_chunks_are_counted_first(client, make_pool):
    X = make_pool()
    unknown = rows_apart(X)[da.from_array(np.arange(1500) % 7 > 0, chunks=(UNEVEN,))]
    assert np.isnan(unknown.shape[0])
    np.testing.assert_array_equal(
        mheal.select(unknown, 20).indices, mheal.select(X[np.arange(1500) % 7 > 0], 20).indices
    )
    assert np.isnan(unknown.shape[0])  # the user's array is left as it was


@pytest.mark.parametrize("space", ["standard", "raw"])
def test_a_nan_is_refused_by_its_place_in_the_whole_pool(client, make_pool, space):
    X = make_pool()
    X[1203, 7] = np.nan
    model = mheal.MHEAL(space=space)
    with pytest.raises(ValueError, match="row 1203, column 7") as in_memory:
        model.select(X, 5)
    with pytest.raises(ValueError, match="row 1203, column 7") as on_cluster:
        model.select(rows_apart(X), 5)
    assert str(on_cluster.value) == str(in_memory.value)


@pytest.mark.parametrize(
    "X", [np.zeros((0, 3)), np.zeros(5), np.ones((5, 2)), np.array([["a"]]), np.zeros((2, 3, 4))], ids=str
)
def test_bad_input_is_refused_in_the_same_words(client, X):
    with pytest.raises((ValueError, TypeError)) as in_memory:
        mheal.select(X.astype(object) if X.dtype.kind == "U" else X, 1)
    with pytest.raises(type(in_memory.value)) as on_cluster:
        mheal.select(da.from_array(X), 1)
    if X.dtype.kind != "U":  # numbers are looked for in memory, but not in every chunk
        assert str(on_cluster.value) == str(in_memory.value)


def test_progress_ends_at_the_budget(client, make_pool):
    told = []
    mheal.backends.dask.select(rows_apart(make_pool()), 300, progress=lambda *said: told.append(said))
    assert told[0] == (0, 0, "reading")
    assert told[-1][0] == told[-1][1]
    assert told[-1][2] == "picking"
