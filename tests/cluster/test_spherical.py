"""SphericalKMeans is a scikit-learn clusterer, and bounds and quantized rows do not change its results."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from mheal import SphericalKMeans
from mheal.backends.cpu.nearest_centers import pack, two_nearest
from mheal.backends.cpu.points import Points


@njit
def nearest(*arguments):
    """`two_nearest` is a part of kernels: Python cannot call it."""
    two_nearest(*arguments)


def mixture(n=3000, d=20, k=12, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((k, d))[rng.integers(k, size=n)] + 0.6 * rng.standard_normal((n, d))).astype(dtype)


@parametrize_with_checks([SphericalKMeans(n_clusters=3, random_state=0)])
def test_check_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("k", [1, 3, 8, 9, 16, 17, 32, 33, 40, 65, 120])
def test_equals_plain_lloyd(k):
    """With numbers of centres just below and above those that fill a vector or a panel."""
    X = mixture()
    start = X[np.random.default_rng(1).choice(len(X), k, replace=False)]
    fitted = SphericalKMeans(k, init=start, max_iter=8, tol=0).fit(X)
    centers, labels, inertia = reference.spherical_kmeans(X, start.copy(), 8)
    np.testing.assert_array_equal(fitted.labels_, labels)
    np.testing.assert_allclose(fitted.cluster_centers_, centers, atol=1e-9)
    assert fitted.inertia_ == pytest.approx(inertia, rel=1e-9)


@pytest.mark.parametrize("k", [1, 2, 5, 8, 9, 12, 13, 15, 16, 17, 32, 33, 48, 49, 64, 65, 129])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_two_nearest_equals_a_sort(k, dtype):
    """Every tile width, and every number of rows left over."""
    rng = np.random.default_rng(k)
    d = (7, 8)[k % 2] if k > 16 else 8  # with few centres, a multiple of 4 columns runs other code
    C = rng.integers(-3, 4, (k, d)).astype(dtype)
    panels, bias = pack(C)
    for n in (1, 5, 8, 9, 13, 50):
        X = rng.integers(-3, 4, (60, d)).astype(dtype)
        rows = rng.permutation(60)[:n]
        best, second, where = np.empty(n, dtype), np.empty(n, dtype), np.empty(n, np.int32)
        nearest(X, rows, n, panels, bias, k, best, second, where)
        scores = X[rows] @ C.T
        ordered = np.sort(scores, axis=1)
        np.testing.assert_array_equal(best, ordered[:, -1])
        np.testing.assert_array_equal(scores[np.arange(n), where], best)
        if k > 1:
            np.testing.assert_array_equal(second, ordered[:, -2])


@pytest.mark.parametrize("k", [7, 60])
def test_float32_reaches_the_same_objective(k):
    X = mixture(dtype=np.float32)
    start = X[:k]
    single = SphericalKMeans(k, init=start, max_iter=10, tol=0).fit(X)
    double = SphericalKMeans(k, init=start, max_iter=10, tol=0).fit(X.astype(np.float64))
    assert single.cluster_centers_.dtype == np.float32
    assert single.inertia_ == pytest.approx(double.inertia_, rel=1e-4)
    assert np.mean(single.labels_ == double.labels_) > 0.99


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 30))
def test_objective_never_rises(seed, k):
    X = mixture(400, 8, 6, seed)
    start = X[:k]
    values = [SphericalKMeans(k, init=start, max_iter=i, tol=0).fit(X).inertia_ for i in range(1, 8)]
    assert all(b <= a + 1e-9 * len(X) for a, b in itertools.pairwise(values))


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10_000))
def test_row_scale_invariance(seed):
    X = mixture(300, 6, 5, seed)
    scale = np.random.default_rng(seed).uniform(0.1, 10, (300, 1))
    a = SphericalKMeans(5, random_state=0).fit(X)
    b = SphericalKMeans(5, random_state=0).fit(X * scale)
    np.testing.assert_array_equal(a.labels_, b.labels_)


def test_one_cluster_is_the_mean_direction():
    X = mixture(500, 5)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    mean = U.mean(0) / np.linalg.norm(U.mean(0))
    np.testing.assert_allclose(SphericalKMeans(1).fit(X).cluster_centers_[0], mean, atol=1e-9)


def test_equals_euclidean_kmeans_on_unit_rows_up_to_centre_length():
    """With well separated clusters both objectives have the same partition."""
    rng = np.random.default_rng(0)
    X = np.repeat(np.eye(4), 50, axis=0) + 0.05 * rng.standard_normal((200, 4))
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    start = U[::50]
    ours = SphericalKMeans(4, init=start).fit(U)
    theirs = KMeans(4, init=start, n_init=1).fit(U)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    unit = theirs.cluster_centers_ / np.linalg.norm(theirs.cluster_centers_, axis=1, keepdims=True)
    np.testing.assert_allclose(ours.cluster_centers_, unit, atol=1e-6)


def test_same_result_for_any_number_of_threads(monkeypatch):
    X = mixture(40_000, 16, 20, dtype=np.float32)
    runs = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("MHEAL_NUM_THREADS", threads)
        runs.append(SphericalKMeans(30, random_state=0, max_iter=10).fit(X))
    for run in runs[1:]:
        np.testing.assert_array_equal(run.labels_, runs[0].labels_)
        np.testing.assert_array_equal(run.cluster_centers_, runs[0].cluster_centers_)


def test_memmap_equals_in_memory(tmp_path):
    X = mixture(dtype=np.float32)
    np.save(tmp_path / "x.npy", X)
    a = SphericalKMeans(5, random_state=0).fit(X)
    b = SphericalKMeans(5, random_state=0).fit(np.load(tmp_path / "x.npy", mmap_mode="r"))
    np.testing.assert_array_equal(a.labels_, b.labels_)


@pytest.mark.parametrize("init", ["k-means++", "random", "given"])
def test_sparse_equals_dense(init):
    rng = np.random.default_rng(0)
    S = sparse.random(600, 300, density=0.05, random_state=0, format="csr")
    start = S[rng.choice(600, 6, replace=False)].toarray() if init == "given" else init
    a = SphericalKMeans(6, init=start, n_init=1, random_state=0).fit(S)
    b = SphericalKMeans(6, init=start, n_init=1, random_state=0).fit(S.toarray())
    assert a.inertia_ == pytest.approx(b.inertia_, rel=1e-6)
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.predict(S), b.predict(S.toarray()))


@pytest.mark.parametrize("spread", [0.3, 1e-3, 1e-5])
def test_inertia_of_sparse_rows_in_tight_and_loose_clusters(spread):
    rng = np.random.default_rng(1)
    X = np.eye(12)[rng.integers(4, size=900)] + spread * rng.standard_normal((900, 12))
    X[::9], weight = 0, rng.random(900)
    fitted = SphericalKMeans(4, init=np.eye(12)[:4]).fit(sparse.csr_matrix(X), sample_weight=weight)
    U = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-30)
    squared = np.square(U - fitted.cluster_centers_[fitted.labels_]).sum(axis=1) * X.any(axis=1)
    assert fitted.inertia_ == pytest.approx(weight @ squared / 2, rel=1e-5)


def test_predict_agrees_with_labels_and_transform():
    X = mixture()
    fitted = SphericalKMeans(9, random_state=0).fit(X)
    np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    chords = fitted.transform(X)
    np.testing.assert_array_equal(chords.argmin(1), fitted.labels_)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(chords[:, 0], np.linalg.norm(U - fitted.cluster_centers_[0], axis=1), atol=1e-7)
    assert fitted.score(X) == pytest.approx(-fitted.inertia_)


def test_weights_equal_repetition():
    X = mixture(200, 6, 4)
    times = np.random.default_rng(0).integers(0, 4, 200)
    a = SphericalKMeans(4, random_state=0).fit(X, sample_weight=times)
    b = SphericalKMeans(4, random_state=0).fit(np.repeat(X, times, axis=0))
    assert a.inertia_ == pytest.approx(b.inertia_)


@pytest.mark.parametrize("exponent", [130, 1000, -170, -1000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_of_any_size_give_the_same_clusters(exponent, dtype):
    X = mixture(200, 6, 4, dtype=dtype)
    weight = np.random.default_rng(0).uniform(0.5, 1, 200)
    a, b = (SphericalKMeans(4, random_state=0).fit(X, sample_weight=w) for w in (weight, np.ldexp(weight, exponent)))
    np.testing.assert_array_equal(a.labels_, b.labels_)
    np.testing.assert_array_equal(a.cluster_centers_, b.cluster_centers_)
    assert np.ldexp(a.inertia_, exponent) == b.inertia_


@pytest.mark.parametrize("scale", [1e30, 1e-30])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_too_long_or_short_are_refused(scale, dtype):
    with pytest.raises(ValueError, match="rescale"):
        SphericalKMeans(4).fit((mixture(200) * scale).astype(dtype))


def test_zero_rows_do_not_disturb():
    X = mixture(500, 6, 4)
    with_zeros = np.vstack([X, np.zeros((20, 6))])
    for make in (np.asarray, sparse.csr_matrix):
        a = SphericalKMeans(4, init=X[:4]).fit(make(X))
        b = SphericalKMeans(4, init=X[:4]).fit(make(with_zeros))
        np.testing.assert_array_equal(b.labels_[:500], a.labels_)
        np.testing.assert_allclose(b.cluster_centers_, a.cluster_centers_, atol=1e-12)
        assert b.inertia_ == pytest.approx(a.inertia_)
        assert b.score(make(with_zeros)) == pytest.approx(-b.inertia_)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_no_centre_is_zero_when_directions_are_few(make):
    X = np.vstack([np.repeat(np.eye(3)[:2], 5, axis=0), np.zeros((30, 3))])
    stored = make(X)
    if sparse.issparse(stored):  # zeros that are stored are still zeros
        stored = sparse.csr_matrix((X.ravel(), np.tile(np.arange(3), 40), np.arange(0, 121, 3)), shape=X.shape)
    fitted = SphericalKMeans(10, random_state=0).fit(stored)
    np.testing.assert_allclose(np.linalg.norm(fitted.cluster_centers_, axis=1), 1)
    assert fitted.inertia_ == pytest.approx(0, abs=1e-12)
    nothing = SphericalKMeans(2, random_state=0).fit(make(np.zeros((5, 3))))
    np.testing.assert_allclose(np.linalg.norm(nothing.cluster_centers_, axis=1), 1)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_empty_clusters_are_reseeded(make):
    """Of two equal initial centres, one would stay empty."""
    X = np.vstack([np.tile([1.0, 0, 0], (50, 1)), np.tile([0, 1.0, 0], (50, 1)), np.tile([0, 0, 1.0], (50, 1))])
    X += 0.01 * np.random.default_rng(0).standard_normal(X.shape)
    start = np.array([[1.0, 0, 0], [-1.0, -1, -1], [-1.0, -1, -1]])
    fitted = SphericalKMeans(3, init=start).fit(make(X))
    assert len(np.unique(fitted.labels_)) == 3
    assert fitted.inertia_ < 0.1


def test_more_clusters_than_different_rows():
    X = np.repeat(np.eye(2), 5, axis=0)
    fitted = SphericalKMeans(5, random_state=0).fit(X)
    assert fitted.inertia_ == pytest.approx(0, abs=1e-12)


def test_n_init_keeps_the_best():
    X = mixture(800, 6, 10)
    rng = np.random.RandomState(0)  # the same stream of starts, one run at a time
    one = [SphericalKMeans(10, init="random", n_init=1, random_state=rng).fit(X).inertia_ for _ in range(5)]
    many = SphericalKMeans(10, init="random", n_init=5, random_state=np.random.RandomState(0)).fit(X).inertia_
    assert many == min(one) < max(one)


def test_plus_plus_starts_better_than_random():
    X = mixture(2000, 10, 30)
    random = [
        SphericalKMeans(30, init="random", n_init=1, max_iter=1, random_state=s).fit(X).inertia_ for s in range(8)
    ]
    plus = [SphericalKMeans(30, n_init=1, max_iter=1, random_state=s).fit(X).inertia_ for s in range(8)]
    assert np.mean(plus) < np.mean(random)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(n_clusters=0), "'n_clusters' parameter of SphericalKMeans"),
        (dict(n_clusters=99), "at most 50 clusters"),
        (dict(tol=-1), "'tol' parameter"),
        (dict(n_init=0), "'n_init' parameter"),
        (dict(init="nearest"), "'init' parameter"),
        (dict(init=np.ones((2, 2))), "init has shape"),
    ],
)
def test_bad_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        SphericalKMeans(**(dict(n_clusters=3) | changes)).fit(mixture(50, 4))


def test_points_standardized_are_clustered_like_a_scaled_copy():
    X = mixture() * 7 + 100
    Z = (X - X.mean(0)) / X.std(0)
    a = SphericalKMeans(6, random_state=0).fit_rows(Points.standardized(X))
    b = SphericalKMeans(6, random_state=0).fit(Z)
    np.testing.assert_array_equal(a.labels_, b.labels_)
