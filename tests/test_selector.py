"""MHEAL: the default, the paper's mode, and what both promise."""

import multiprocessing
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits

import mheal
import reference
from mheal import MHEAL, PaperMHEAL
from mheal.algorithms.facility_location import representatives
from mheal.backends import open_rows
from mheal.runtime.checkpoint import NullCheckpoint

X = load_digits().data.astype(np.float32)

MODES = {
    "default": MHEAL(random_state=0),
    "paper": PaperMHEAL(random_state=0),
    "balanced": MHEAL(balance_clusters=True, random_state=0),
    "balanced in clusters": MHEAL(balance_clusters=True, across_clusters=False, random_state=0),
    "by gain": MHEAL(across_clusters=False, random_state=0),
    "without density": MHEAL(density_power=None, random_state=0),
    "balanced without density": MHEAL(density_power=None, balance_clusters=True, random_state=0),
    "balanced in clusters without density": MHEAL(
        density_power=None, balance_clusters=True, across_clusters=False, random_state=0
    ),
    "without duplicates": MHEAL(deduplicate=True, random_state=0),
    "raw": MHEAL(scaling="raw", random_state=0),
    "unit": MHEAL(scaling="unit", random_state=0),
}
each_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
PREFIX = [name for name in MODES if name != "paper"]  # its start depends on the budget: see PaperMHEAL.start_length


def clusters_of(mode, Y):
    """The cluster of every row."""
    picks = mode.select(Y, len(Y))
    labels = np.empty(len(Y), int)
    labels[picks.indices] = picks.cluster
    return labels


def test_default_represents_first_and_then_spreads():
    labeled = np.arange(0, 300, 10)
    for before in ([], labeled):
        picks = MHEAL(n_representatives=50, random_state=0).select(X, 90, labeled=before)
        lead = 50 - len(before)
        rng = np.random.RandomState(0)
        rng.randint(2**31)  # select draws one seed before anything else
        with open_rows(X) as store:
            rows, *_ = MHEAL()._measured(store, "auto", rng, NullCheckpoint())
        covering = representatives(rows, lead, np.array(before, np.int64), rng)
        np.testing.assert_array_equal(picks.indices[:lead], covering)
        spread = MHEAL(n_representatives=0, random_state=0).select(X, 90 - lead, labeled=[*before, *covering])
        np.testing.assert_array_equal(picks.indices[lead:], spread.indices)
        np.testing.assert_allclose(picks.gain[lead:], spread.gain, rtol=1e-5)
        np.testing.assert_allclose(picks.radius[lead:], spread.radius, rtol=1e-5)
        assert picks.radius[lead - 1] == pytest.approx(spread.gain[0], rel=1e-4)


@each_mode
def test_budget_different_rows_of_X(mode):
    picks = mode.select(X, 75)
    assert len(picks) == len(set(picks.indices)) == 75
    assert picks.indices.dtype == np.int64
    assert picks.indices.min() >= 0
    assert picks.indices.max() < len(X)


@each_mode
def test_deterministic(mode):
    assert mode.select(X, 40) == clone(mode).select(X, 40)


@pytest.mark.parametrize("name", PREFIX)
def test_prefix_property(name):
    np.testing.assert_array_equal(MODES[name].select(X, 30).indices, MODES[name].select(X, 90).indices[:30])


@each_mode
def test_warm_start_avoids_labelled_rows(mode):
    labeled = np.random.default_rng(0).choice(len(X), 50, replace=False)
    picks = mode.select(X, 60, labeled=labeled)
    assert not set(picks.indices) & set(labeled)
    mask = np.zeros(len(X), bool)
    mask[labeled] = True
    assert len(mode.select(X, 60, labeled=mask)) == 60


def test_labelling_in_two_rounds_equals_one_round():
    """Without known classes, labelling 20 rows and then 20 more gives the same rows as picking 40."""
    both = MHEAL(random_state=0).select(X, 40)
    first = MHEAL(random_state=0).select(X, 20)
    second = MHEAL(random_state=0).select(X, 20, labeled=first.indices)
    np.testing.assert_array_equal(np.r_[first.indices, second.indices], both.indices)


def test_two_rounds_equal_one_also_among_the_sparsest_rows():
    both = MHEAL(random_state=0).select(X[:300], 300)
    first = MHEAL(random_state=0).select(X[:300], 290)  # past the border: 15 rows come last
    second = MHEAL(random_state=0).select(X[:300], 10, labeled=first.indices)
    np.testing.assert_array_equal(np.r_[first.indices, second.indices], both.indices)


def test_picks_in_a_cluster_of_outliers_do_not_keep_picks_out_of_others():
    """All rows of that cluster are outliers; once picked, their weight must be that of any other row."""
    rng = np.random.default_rng(0)
    Y = np.vstack(
        [rng.standard_normal((980, 4)) * 0.5 + [4, 0, 0, 0], 3 * rng.standard_normal((45, 4)) - [12, 0, 0, 0]]
    )
    picks = MHEAL(2, balance_clusters=True, scaling="raw", random_state=0).select(Y, 60)
    dense = Y[picks.indices[picks.indices < 980]]
    gaps = np.linalg.norm(dense[:, None] - dense[None], axis=-1)
    np.fill_diagonal(gaps, np.inf)
    loose = Y[mheal.farthest_first(Y[:980], len(dense))]
    best = np.linalg.norm(loose[:, None] - loose[None], axis=-1)
    np.fill_diagonal(best, np.inf)
    assert gaps.min(1).mean() > 0.4 * best.min(1).mean()


@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("density_power", ["auto", None])
def test_a_cluster_that_is_labelled_through_and_through(balanced, density_power):
    mode = MHEAL(5, balance_clusters=balanced, density_power=density_power, across_clusters=False, random_state=0)
    labels = clusters_of(mode, X)
    labeled = np.flatnonzero(labels == 2)
    picks = mode.select(X, 40, labeled=labeled)
    assert not set(picks.indices) & set(labeled)
    assert np.isfinite(picks.radius[-1])
    everything = mode.select(np.vstack([X[:100], X[:100]]), 200)  # budget = n, with duplicates
    assert sorted(everything.indices) == list(range(200))


@each_mode
def test_radius_ends_at_zero_when_everything_is_picked(mode):
    picks = clone(mode).set_params(n_clusters=4).select(X[:150], 150)
    assert picks.radius[-1] == pytest.approx(0, abs=1e-6)


def test_works_in_a_forked_child():
    mheal.select(X, 5)  # the parent has threads now
    with multiprocessing.get_context("fork").Pool(1) as pool:
        rows = pool.apply_async(_select_in_child).get(timeout=60)
    np.testing.assert_array_equal(rows, mheal.select(X, 5).indices)


def _select_in_child():
    return mheal.select(X, 5).indices


@each_mode
def test_gain_and_radius_say_what_is_left(mode):
    picks = mode.select(X, 60)
    assert np.all(picks.radius[1:] <= picks.radius[:-1] * (1 + 1e-5) + 1e-6)
    assert np.isinf(picks.gain[0])
    finite = np.isfinite(picks.gain[1:]) & np.isfinite(picks.radius[:-1])
    assert np.all(picks.gain[1:][finite] <= picks.radius[:-1][finite] * (1 + 1e-5) + 1e-5)


def test_radius_is_the_cover_radius_of_the_pool():
    picks = MHEAL(density_power=None, scaling="raw", random_state=0).select(X, 25)
    for t in (0, 9, 24):
        nearest = np.sqrt(((X[:, None] - X[picks.indices[: t + 1]][None]) ** 2).sum(-1)).min(1)
        assert picks.radius[t] == pytest.approx(nearest.max(), rel=1e-4)


def test_spreading_equals_its_definition():
    """Standardise, local spacing inside clusters, density weights, densest start, farthest-first: written out."""
    Y = np.random.default_rng(3).standard_normal((700, 6)) ** 3
    Z = (Y - Y.mean(0)) / Y.std(0)
    default = MHEAL(4, n_representatives=0, random_state=0)
    labels = clusters_of(default, Y)
    assert 20 < np.bincount(labels).min() <= np.bincount(labels).max() <= 512  # every row is a possible neighbour
    spacing = reference.spacing(Z, labels, 20)
    weight = np.maximum(spacing / np.median(spacing), 0.01) ** (-1 / 1.25)
    weight[spacing > np.quantile(spacing, 0.95)] *= 1e-6  # the sparsest rows come last
    start = int(spacing.argmin())
    rows, score = reference.max_min(Z, 49, [start], weight)
    picks = default.select(Y, 50)
    np.testing.assert_array_equal(picks.indices, np.r_[start, rows])
    np.testing.assert_allclose(picks.gain[1:], np.sqrt(score), rtol=1e-6)


@pytest.mark.parametrize("space", ["standard", "unit"])
@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 1000))
def test_column_scale_and_shift_invariance(space, seed):
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((300, 5))
    mode = MHEAL(scaling=space, random_state=0)
    moved = Y * rng.uniform(0.1, 10, 5) + rng.uniform(-100, 100, 5)
    np.testing.assert_array_equal(mode.select(Y, 20).indices, mode.select(moved, 20).indices)


@settings(deadline=None, max_examples=8)
@given(seed=st.integers(0, 1000))
def test_permutation_equivariance(seed):
    """Clusters, spacing and picks do not depend on the order of rows, in pools that are not sampled."""
    rng = np.random.default_rng(seed)
    Y = rng.standard_normal((120, 5))
    order = rng.permutation(120)
    mode = MHEAL(1, random_state=0)
    np.testing.assert_array_equal(order[mode.select(Y[order], 20).indices], mode.select(Y, 20).indices)


@each_mode
def test_exact_duplicates_never_both_while_anything_else_is_left(mode):
    Y = np.random.default_rng(0).standard_normal((60, 6)).astype(np.float32)
    doubled = np.vstack([Y, Y, Y])
    quotas = getattr(mode, "balance_clusters", True) or not mode.across_clusters
    picks = clone(mode).set_params(n_clusters=1 if quotas else "auto").select(doubled, 60)
    assert len(set(picks.indices % 60)) == 60


def test_whole_pool_can_be_asked_for():
    picks = mheal.select(X[:200], 200)
    assert sorted(picks.indices) == list(range(200))
    assert picks.radius[-1] == 0


def test_one_row():
    picks = MHEAL(scaling="raw").select(np.ones((1, 3)), 1)
    np.testing.assert_array_equal(picks.indices, [0])


def test_same_picks_for_any_number_of_threads(monkeypatch):
    Y = np.random.default_rng(0).standard_normal((30_000, 12)).astype(np.float32)
    for mode in (MHEAL(random_state=0), PaperMHEAL(4, init="k-means++", random_state=0)):
        runs = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("MHEAL_NUM_THREADS", threads)
            runs.append(mode.select(Y, 120))
        assert runs[0] == runs[1] == runs[2]


def test_containers_give_the_same_picks(tmp_path):
    wide = X.astype(np.float64)
    expected = mheal.select(wide, 30).indices
    np.save(tmp_path / "pool.npy", wide)
    containers = {
        "memmap": np.load(tmp_path / "pool.npy", mmap_mode="r"),
        "fortran": np.asfortranarray(wide),
        "list": wide.tolist(),
        "pandas": pd.DataFrame(wide),
        "polars": pl.DataFrame(wide),
        "integers": wide.astype(np.int64),
        "sparse": sparse.csr_matrix(wide),
        "big endian": wide.astype(">f8"),
    }
    for name, container in containers.items():
        np.testing.assert_array_equal(mheal.select(container, 30).indices, expected, err_msg=name)


def test_wide_sparse_text_is_reduced():
    text = sparse.random(400, 5000, density=0.01, random_state=0, format="csr")
    picks = mheal.select(text, 20)
    assert len(set(picks.indices)) == 20


def test_n_classes_sets_the_clusters():
    assert set(mheal.select(X, 200, n_classes=4).cluster) == {0, 1, 2, 3}


def test_estimator_manners():
    mode = MHEAL(n_clusters=7, density_power=2.0)
    assert clone(mode).get_params() == mode.get_params()
    assert repr(mode) == "MHEAL(density_power=2.0, n_clusters=7)"
    assert pickle.loads(pickle.dumps(MHEAL(random_state=0))).select(X, 10) == MHEAL(random_state=0).select(X, 10)


@pytest.mark.parametrize("mode", ["default", "paper"])
def test_a_row_at_the_mean_joins_the_cluster_with_the_nearest_mean(mode):
    """After standardising, the row has length 0 and no direction. It joins the cluster whose mean is nearest to it."""
    rng = np.random.default_rng(0)
    half = np.round(8 * (rng.standard_normal((200, 3)) * 0.3 + [3, 0, 0])) / 8  # so that the mean is exactly 0
    Y = np.vstack([half, -half, np.zeros((1, 3)), [[0.0625, 0.875, 0], [-0.0625, -0.875, 0]] * 20])
    picks = clone(MODES[mode]).set_params(n_clusters=3).select(Y, len(Y))
    cluster = np.empty(len(Y), int)
    cluster[picks.indices] = picks.cluster
    Z = (Y - Y.mean(0)) / Y.std(0)
    means = [np.linalg.norm(Z[(cluster == c) & (np.arange(len(Y)) != 400)].mean(0)) for c in range(3)]
    assert cluster[400] == int(np.argmin(means))


def test_constant_columns_do_not_matter():
    extended = np.hstack([X, np.full((len(X), 2), 3.25, np.float32)])
    np.testing.assert_array_equal(mheal.select(extended, 20).indices, mheal.select(X, 20).indices)
