import numpy as np
import pytest
from numba import njit

from mheal import SphericalKMeans
from mheal.backends.cpu import quantized
from mheal.backends.cpu.points import Points
from mheal.cluster.spherical import lloyd
from mheal.runtime.memory import MemoryLimit

pytestmark = pytest.mark.skipif(not quantized.usable(10_000, 32, 8), reason="this CPU has no VNNI")


@njit
def quantize(*arguments):
    """These are parts of kernels: Python cannot call them."""
    quantized.quantize(*arguments)


@njit
def two_nearest(*arguments):
    quantized.two_nearest_quantized(*arguments)


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize(("d", "k"), [(16, 2), (33, 10), (64, 12), (127, 23), (128, 100)])
def test_two_nearest_are_found_within_the_tolerance(d, k):
    rng = np.random.default_rng(d)
    X = rng.normal(size=(70, d)).astype(np.float32) * rng.uniform(0.1, 100, (70, 1)).astype(np.float32)
    C = unit(rng.normal(size=(k, d))).astype(np.float32)
    inverse = 1 / np.linalg.norm(X, axis=1)
    small = quantized.empty_rows(len(X), d)
    for lo in range(0, 96, quantized.LANES):
        n = min(quantized.LANES, max(0, len(X) - lo))
        quantize(X[lo:], n, inverse[lo:], small, lo // quantized.LANES)
    best, second, where = (np.empty(96, np.int32) for _ in range(3))
    two_nearest(small, 0, len(X), *quantized.quantize_centers(C), best, second, where)
    cosine = unit(X.astype(np.float64)) @ C.T
    top = np.sort(cosine, axis=1)
    off = quantized.tolerance(d) / quantized.UNIT**2
    assert np.abs(best[:70] / quantized.UNIT**2 - top[:, -1]).max() < off
    assert np.abs(second[:70] / quantized.UNIT**2 - top[:, -2]).max() < off
    sure = top[:, -1] - top[:, -2] > 2 * off
    assert (where[:70] == cosine.argmax(axis=1))[sure].all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [2, 10, 60])
@pytest.mark.parametrize("standardized", [False, True])
def test_same_clusters_with_and_without_quantized_rows(k, dtype, standardized):
    """Within a memory limit rows are not quantized."""
    rng = np.random.default_rng(k)
    X = (rng.normal(size=(5003, 30)) + 2 * rng.normal(size=(20, 30))[rng.integers(20, size=5003)]).astype(dtype)
    X[[7, 4000]] = 0  # rows without a direction
    start = unit(X[100 : 100 + k])
    points, limited = (
        (Points.standardized if standardized else Points.raw)(X, limit=limit) for limit in (None, MemoryLimit(2**62))
    )
    assert points.fitting(k).quantized.size
    assert not limited.fitting(k).quantized.size
    quick, plain = (lloyd(rows, start, max_iter=15, tol=0.0) for rows in (points, limited))
    np.testing.assert_array_equal(quick.labels, plain.labels)
    np.testing.assert_allclose(quick.centers, plain.centers, atol=1e-6)
    assert quick.inertia == pytest.approx(plain.inertia, rel=1e-6)


def test_ties_go_to_the_first_centre():
    X = np.tile(np.eye(32, dtype=np.float32), (200, 1))
    labels = SphericalKMeans(4, init=np.eye(32)[[3, 5, 3, 5]], max_iter=1).fit(X).labels_
    assert set(labels[3::32]) == {0}
    assert set(labels[5::32]) == {1}


def test_they_are_given_up_where_rows_lie_between_centres():
    rng = np.random.default_rng(0)
    a, b = unit(rng.normal(size=(2, 64)))
    X = a + b + 1e-5 * rng.normal(size=(5000, 64))
    fitting = Points.raw(X).fitting(2)
    assert fitting.quantized.size
    fitting.assign(np.stack([a, b]))
    assert not fitting.quantized.size
    np.testing.assert_array_equal(fitting.labels(), (X @ np.stack([a, b]).T).argmax(axis=1))


@pytest.mark.parametrize("spread", [1.0, 1e-3, 1e-6])
def test_inertia_of_tight_and_loose_clusters(spread):
    rng = np.random.default_rng(1)
    centers = unit(rng.normal(size=(5, 24)))
    X = centers[rng.integers(5, size=6000)] + spread * rng.normal(size=(6000, 24))
    fitted = SphericalKMeans(5, init=centers).fit(X)
    chord = np.linalg.norm(unit(X) - fitted.cluster_centers_[fitted.labels_], axis=1)
    assert fitted.inertia_ == pytest.approx((chord**2).sum() / 2, rel=1e-6)
