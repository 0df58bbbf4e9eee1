"""Every backend scales and clusters rows, and measures their local spacing, as the plain loops do."""

import numpy as np
import pytest

import reference
from mheal import SphericalKMeans
from mheal.cluster.sampled import sampled_clusters
from mheal.cluster.spherical import lloyd
from stores import Memory, mixture, unit


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_and_their_lengths(backend, dtype):
    X = mixture(dtype=dtype)
    X[[3, 250]] = 0
    rows, some = backend.raw(X), np.array([7, 399, 7, 0, 250, 133])
    assert rows.shape == X.shape
    assert rows.dtype == dtype
    np.testing.assert_array_equal(rows.take(some), X[some])
    np.testing.assert_array_equal(rows.array(), X)
    np.testing.assert_array_equal(rows.subset(some).array(), X[some])
    np.testing.assert_allclose(rows.norms(), np.linalg.norm(X, axis=1), rtol=1e-5)
    np.testing.assert_array_equal(rows.nonzero(), X.any(axis=1))
    np.testing.assert_allclose(rows.directions(some), unit(X[some]), atol=1e-6)
    np.testing.assert_allclose(rows.unit().array(), unit(X), atol=1e-6)
    np.testing.assert_allclose(rows.mean(), X.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(rows.mean(np.sort(some[1:])), X[some[1:]].mean(axis=0), atol=1e-5)


def test_standardized_rows(backend):
    X = mixture() * 7 + 100
    X[:, 4] = 5.0  # a constant column becomes 0
    Z = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    rows = backend.standardized(X)
    np.testing.assert_allclose(rows.array(), Z, atol=1e-9)
    assert not rows.constant()
    np.testing.assert_allclose(rows.unit().take(np.arange(50)), unit(Z[:50]), atol=1e-9)


@pytest.mark.parametrize("make", ["raw", "standardized"])
def test_nan_is_refused_by_its_place(backend, make):
    X = mixture()
    X[303, 7] = np.nan
    with pytest.raises(ValueError, match="NaN at row 303, column 7"):
        getattr(backend, make)(X).norms()


def test_squared_distances_to_a_point(backend):
    X, point = mixture(), np.arange(9.0)
    rows, some = backend.raw(X), np.arange(0, 400, 7)
    expected = ((X - point) ** 2).sum(axis=1)
    np.testing.assert_allclose(rows.squared_distances_to(point), expected, rtol=1e-9)
    np.testing.assert_allclose(rows.squared_distances_to(point, some), expected[some], rtol=1e-9)


# Clusters


def test_nearest_centres(backend):
    X = mixture(dtype=np.float32)
    X[17] = 0
    C = unit(mixture(20, seed=1)).astype(np.float32)
    expected = (X.astype(np.float64) @ C.T).argmax(axis=1)
    expected[17] = -1
    np.testing.assert_array_equal(backend.raw(X).assign(C), expected)


def test_of_equally_near_centres_the_first_wins(backend):
    X = np.tile(np.eye(9), (30, 1))
    np.testing.assert_array_equal(backend.raw(X).assign(np.eye(9)[[3, 5, 3, 5]])[3:6], [0, 0, 1])


def test_one_pass_assigns_rows_and_adds_up_their_directions(backend):
    X = mixture()
    X[17] = 0
    C, weight = unit(mixture(12, seed=1)), np.random.default_rng(0).random(400)
    fitting = backend.raw(X).fitting(12, weight)
    fitting.assign(C)
    U, mine = unit(X), weight * X.any(axis=1)
    labels = (U @ C.T).argmax(axis=1)
    np.testing.assert_array_equal(np.delete(fitting.labels(), 17), np.delete(labels, 17))
    sums = np.zeros((12, 9))
    np.add.at(sums, labels, U * mine[:, None])
    np.testing.assert_allclose(fitting.sums, sums, atol=1e-9)
    np.testing.assert_allclose(fitting.mass, np.bincount(labels, mine, 12), atol=1e-9)
    chords = np.linalg.norm(U - C[labels], axis=1) * X.any(axis=1)
    np.testing.assert_allclose(fitting.chords(), chords, atol=1e-9)


@pytest.mark.parametrize("k", [1, 6])
def test_lloyd_equals_the_plain_iterations(backend, k):
    X = mixture()
    start = unit(X[:k])
    found = lloyd(backend.raw(X), start, max_iter=6, tol=0.0)
    centers, labels, inertia = reference.spherical_kmeans(X, start.copy(), 6)
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_allclose(found.centers, centers, atol=1e-9)
    assert found.inertia == pytest.approx(inertia, rel=1e-9)


def test_empty_clusters_move_to_the_rows_that_are_served_worst(backend):
    X = unit(mixture(200))
    start = np.concatenate([X[:2], -np.ones((3, 9)) / 3])  # three centres without rows
    start[2:] = start[2]
    expected = lloyd(Memory().raw(X), start, max_iter=4, tol=0.0)
    found = lloyd(backend.raw(X), start, max_iter=4, tol=0.0)
    assert len(np.unique(found.labels)) == 5
    np.testing.assert_array_equal(found.labels, expected.labels)


@pytest.mark.parametrize("spread_of", [0.3, 1e-4])
def test_inertia_of_tight_clusters_does_not_cancel(backend, spread_of):
    rng = np.random.default_rng(1)
    X = np.eye(9)[rng.integers(4, size=300)] + spread_of * rng.standard_normal((300, 9))
    found = lloyd(backend.raw(X), np.eye(9)[:4], max_iter=5, tol=0.0)
    chord2 = ((unit(X) - found.centers[found.labels]) ** 2).sum(axis=1)
    assert found.inertia == pytest.approx(chord2.sum() / 2, rel=1e-6)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_clusters_are_those_in_memory(backend, init):
    X = mixture(600)
    fit = SphericalKMeans(7, init=init, n_init=2, random_state=3).fit_rows
    expected = fit(Memory().raw(X)).labels_
    np.testing.assert_array_equal(fit(backend.raw(X)).labels_, expected)


def test_rows_without_a_direction_belong_to_the_cluster_nearest_to_the_origin(backend):
    X = mixture(300)
    X[[5, 200, 299]] = 0
    labels = [
        sampled_clusters(rows, SphericalKMeans(4, random_state=0), 100, np.random.RandomState(0))[0]
        for rows in (backend.raw(X), Memory().raw(X))
    ]
    np.testing.assert_array_equal(*labels)
    assert (labels[0] >= 0).all()


# Spacing


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_spacing_is_the_mean_distance_to_the_nearest_references(backend, dtype):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((500, 9)).astype(dtype)
    X[5] = X[12]
    labels = (np.minimum(rng.geometric(0.3, 500), 6) - 1).astype(np.int32)
    references = [np.flatnonzero(labels == c)[:: 1 + c % 3] for c in range(6)]
    references[0] = np.arange(0, 500, 40)  # in the whole pool
    neighbours = [min(3 + c, len(rows) - 1) for c, rows in enumerate(references)]
    expected = np.empty(500)
    for i, c in enumerate(labels):
        others = references[c][references[c] != i]
        distance = np.linalg.norm(X[others].astype(np.float64) - X[i].astype(np.float64), axis=1)
        expected[i] = np.sort(distance)[: neighbours[c]].mean()
    found = backend.raw(X).spacing(labels, references, neighbours)
    np.testing.assert_allclose(found, expected, rtol=2e-4 if dtype == np.float32 else 1e-9)
