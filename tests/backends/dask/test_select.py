"""The picks from a Dask array are those from the same rows in memory."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import mheal  # noqa: E402
from mheal.algorithms.farthest_first import traverse  # noqa: E402
from mheal.backends.cpu.points import Points  # noqa: E402
from mheal.backends.dask import DaskRows, Partitions  # noqa: E402
from mheal.backends.dask.rows import Sizes  # noqa: E402
from mheal.backends.dask.traversal import Traversal  # noqa: E402

UNEVEN = (400, 1, 599, 300, 200)
MODES = {
    "default": {},
    "no representatives": {"n_representatives": 0},
    "raw": {"scaling": "raw"},
    "unit": {"scaling": "unit"},
    "no weights": {"density_power": None},
    "no weights, raw": {"density_power": None, "scaling": "raw"},
    "balanced": {"balance_clusters": True},
    "balanced, no weights": {"balance_clusters": True, "density_power": None},
    "within clusters": {"across_clusters": False},
    "within clusters, balanced": {"across_clusters": False, "balance_clusters": True, "density_power": None},
}


def rows_apart(X, chunks=UNEVEN):
    return da.from_array(X, chunks=(chunks, -1))


def assert_same(model, X, n, labeled=None, chunks=UNEVEN):
    expected = model.select(X, n, labeled=labeled, random_state=0)
    picks = model.select(rows_apart(X, chunks), n, labeled=labeled, random_state=0)
    np.testing.assert_array_equal(picks.indices, expected.indices)
    np.testing.assert_array_equal(picks.cluster, expected.cluster)
    np.testing.assert_allclose(picks.gain, expected.gain, rtol=1e-3)
    np.testing.assert_allclose(picks.radius, expected.radius, rtol=1e-3)
    return picks


@pytest.mark.parametrize("mode", MODES)
def test_picks_are_those_in_memory_where_every_tie_is_exact(client, make_pool, mode):
    assert_same(mheal.MHEAL(**MODES[mode]), make_pool(integer=True), 80 if "balanced" in mode else 320)


@pytest.mark.parametrize("mode", ["default", "unit", "no weights", "balanced", "within clusters, balanced"])
def test_picks_are_those_in_memory(client, make_pool, mode):
    assert_same(mheal.MHEAL(**MODES[mode]), make_pool(), 80 if "balanced" in mode else 320)


def test_clusters_of_a_pool_that_is_larger_than_their_sample(client, make_pool):
    assert_same(mheal.MHEAL(), make_pool(n=17_000, d=4), 40, chunks=(9000, 8000))


@pytest.mark.parametrize("mode", ["default", "balanced", "within clusters", "no weights"])
def test_labelled_rows_are_kept_away_from(client, make_pool, mode):
    labeled = [1499, 3, 400]
    picks = assert_same(mheal.MHEAL(**MODES[mode]), make_pool(dtype=np.float64), 40, labeled)
    assert not set(picks.indices) & set(labeled)


def test_the_published_algorithm_fits_its_clusters_on_all_rows(client, make_pool):
    X = make_pool()
    assert_same(mheal.PaperMHEAL(5), X, 40)
    assert_same(mheal.PaperMHEAL(5, init=X[:5]), X, 40)
    assert_same(mheal.PaperMHEAL(5, init="k-means++"), X, 40)


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("integer", [False, True], ids=["float", "integer"])
def test_small_fronts_take_many_epochs_and_pick_the_same(client, make_pool, keep, integer, monkeypatch):
    """Whether workers keep their parts or read them anew in every pass."""
    epochs, plain = [], Traversal.epoch
    monkeypatch.setattr(Traversal, "epoch", lambda self: epochs.append(1) or plain(self))
    X = make_pool(integer=integer)
    small = Sizes(front_rows=40, front_bytes=0, group_rows=3)
    rows = DaskRows.raw(Partitions(rows_apart(X), client, keep), small)
    picked, score, left = traverse(rows, 150, np.array([20]))
    assert len(epochs) > 5
    expected = traverse(Points.raw(X), 150, np.array([20]))
    np.testing.assert_array_equal(picked, expected[0])
    np.testing.assert_allclose(np.append(score, left), np.append(*expected[1:]), rtol=1e-5)


def test_nearly_all_rows_with_duplicates(client, make_pool):
    X = np.repeat(make_pool(n=100, integer=True), 3, axis=0)
    picks = assert_same(mheal.MHEAL(), X, 299, chunks=(100, 120, 80))
    assert len(set(picks.indices)) == 299


def test_rows_at_the_mean_belong_somewhere(client, make_pool):
    X = make_pool(n=600)
    X -= X.mean(axis=0)
    X[[5, 300, 599]] = 0
    assert_same(mheal.MHEAL(scaling="raw"), X, 100, chunks=(200, 400))


def test_clusters_do_not_depend_on_the_chunks(client, make_pool):
    X = make_pool()
    runs = [
        mheal.SphericalKMeans(8, random_state=0).fit_rows(
            DaskRows.raw(Partitions(rows_apart(X, chunks), client), Sizes(local_bytes=0))
        )
        for chunks in (UNEVEN, (750, 750))
    ]
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    np.testing.assert_array_equal(runs[0].labels_, mheal.SphericalKMeans(8, random_state=0).fit(X).labels_)


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


@pytest.mark.parametrize("scaling", ["standard", "raw"])
def test_a_nan_is_refused_by_its_place_in_the_whole_pool(client, make_pool, scaling):
    X = make_pool()
    X[1203, 7] = np.nan
    model = mheal.MHEAL(scaling=scaling)
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
    reports = []
    mheal.select(rows_apart(make_pool()), 300, progress=lambda *report: reports.append(report))
    assert reports[0] == (0, 0, "reading")
    assert reports[-1][:2] == (300 - 256, 300 - 256)
