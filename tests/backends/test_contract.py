"""What every backend must do: the same checks over rows in memory, on a torch device and on a Dask cluster.

Sizes are so small that pools of a few hundred rows take the ways of large ones.
"""

import numpy as np
import pytest

import reference
from mheal import SphericalKMeans
from mheal.algorithms.density import DensityWeights, density_weights, local_spacing
from mheal.algorithms.facility_location import representatives
from mheal.algorithms.farthest_first import extend, spread, traverse
from mheal.algorithms.within_clusters import spread_balanced, spread_within_clusters
from mheal.backends.cpu.points import Points, Sizes
from mheal.cluster.lloyd import lloyd
from mheal.cluster.sampled import sampled_clusters
from mheal.runtime.checkpoint import NullCheckpoint

SMALL = Sizes(pass_rows=64, front_rows=40, task_rows=32, span_bytes=1, together=4)
NONE = np.empty(0, np.int64)


class Memory:
    """Rows in this process."""

    def raw(self, X, sizes=SMALL):
        return Points.raw(X, sizes=sizes)

    def standardized(self, X):
        return Points.standardized(X, sizes=SMALL)


class Torch:
    """Rows on a torch device, or on the host and streamed through it."""

    def __init__(self, device, streamed=False):
        torch = pytest.importorskip("torch")
        self.tensor, self.device, self.streamed = torch.as_tensor, device, streamed

    def _made(self, make, X):
        from mheal.backends.torch.rows import Sizes

        small = Sizes(chunk=1, scores=1, picks=7, catch_up=50, share=4, first=3, burst=5, cached=8)
        if self.streamed:
            return make(X, self.device, X.nbytes / 3, small)
        return make(self.tensor(np.array(X), device=self.device), sizes=small)

    def raw(self, X):
        from mheal.backends.torch import Points

        return self._made(Points.raw, X)

    def standardized(self, X):
        from mheal.backends.torch import Points

        return self._made(Points.standardized, X)


class Dask:
    """Rows on the workers of a cluster, in parts of unequal length."""

    def __init__(self, client):
        self.client = client

    def _made(self, X, scaling):
        import dask.array

        from mheal.backends.dask import DaskRows
        from mheal.backends.dask.partitioned import Sizes

        n = len(X)
        cuts = tuple(np.diff([0, *sorted({min(n, 1 + n // 3), min(n, 2 + n // 3), n})]).tolist())
        small = Sizes(front_rows=40, front_bytes=0, group_rows=3, local_bytes=0)
        return DaskRows.scaled(dask.array.from_array(X, chunks=(cuts, -1)), scaling, self.client, small)

    def raw(self, X):
        return self._made(X, "raw")

    def standardized(self, X):
        return self._made(X, "standard")


@pytest.fixture(
    params=["cpu", "torch", "torch, streamed", "dask", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def backend(request):
    if request.param == "cpu":
        return Memory()
    if request.param == "dask":
        pytest.importorskip("dask.array")
        return Dask(request.getfixturevalue("client"))
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return Torch("cuda" if request.param == "cuda" else "cpu", "streamed" in request.param)


def mixture(n=400, d=9, seed=0, integer=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = 3 * rng.normal(size=(5, d))[rng.integers(5, size=n)] + rng.normal(size=(n, d))
    return (np.round(X) if integer else X).astype(dtype)


def unit(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1)


# Rows


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
    chord2 = ((U - C[labels]) ** 2).sum(axis=1)
    assert fitting.squared_chords() == pytest.approx(mine @ chord2, rel=1e-9)
    chord2[17] = -1
    np.testing.assert_allclose(fitting.worst(5), U[np.argsort(-chord2, kind="stable")[:5]], atol=1e-9)


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


# Farthest first


def random_pool(seed):
    """Small integers with masses of ties and duplicates, where every distance is exact."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(60, 700)), int(rng.integers(1, 24))
    X = rng.integers(0, rng.integers(2, 6), (n, d)) + 1000.0 * (seed % 2)
    weight, candidate = np.exp2(rng.integers(-1, 2, n)), np.exp2(rng.integers(-4, 2, n))
    return X, rng.choice(n, int(rng.integers(1, 4)), replace=False), DensityWeights(weight, candidate)


@pytest.mark.parametrize("seed", range(8))
def test_picks_equal_the_plain_loop_with_ties_to_the_lowest_row(backend, seed):
    X, chosen, weights = random_pool(seed)
    n = min(len(X) - len(chosen) - 1, 150)
    rows, score, left = traverse(backend.raw(X), n, chosen, weights)
    expected, gains = reference.max_min(X, n + 1, chosen, *weights)
    np.testing.assert_array_equal(rows, expected[:n])
    np.testing.assert_array_equal(np.append(score, left), gains)


def test_all_rows_can_be_picked(backend):
    X = np.repeat(mixture(30, integer=True), 3, axis=0)
    rows, _, left = traverse(backend.raw(X), 89, np.array([4]))
    np.testing.assert_array_equal(rows, reference.max_min(X, 89, [4])[0])
    assert left == 0


@pytest.mark.parametrize("count", [1, 40, 150])
def test_radii_and_scores_to_go_on_from(backend, count):
    X, _, (weight, candidate) = random_pool(count)
    chosen = np.random.default_rng(1).choice(len(X), min(count, len(X) // 2), replace=False)
    rows = backend.raw(X)
    picks = rows.picks(len(chosen))
    picks.add(chosen, weight[chosen])
    radius, first = picks.radii(candidate)
    distance2 = ((X[chosen, None] - X) ** 2).sum(axis=2) * weight[chosen, None] * candidate
    left = np.minimum.accumulate(distance2)
    np.testing.assert_allclose(radius, np.sqrt(left.max(axis=1)), rtol=1e-6, atol=1e-6)
    if first is not None:
        np.testing.assert_allclose(first.score, left[-1], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(first.norm2, (X**2).sum(axis=1), rtol=1e-9)
    found = traverse(rows, 40, chosen, DensityWeights(weight, candidate), first=first)[0]
    np.testing.assert_array_equal(found, reference.max_min(X, 40, chosen, weight, candidate)[0])


@pytest.mark.parametrize("burst", [1, 4])
def test_groups_that_share_their_picks_take_turns(backend, burst):
    X, _, (weight, candidate) = random_pool(5)
    groups = [np.arange(0, len(X), 2), np.arange(1, len(X), 2)]
    rows = backend.raw(X)
    picks = rows.picks(60)
    picks.add(np.array([4]), weight[[4]])
    both = picks.candidates(candidate, weight, groups=groups)
    both[0].exclude(np.array([4]))
    picked, score = [4], ((X - X[4]) ** 2).sum(axis=1) * candidate * weight[4]
    for turn in range(12):
        for row in extend(both[turn % 2], burst)[0]:
            own = np.setdiff1d(groups[turn % 2], picked)
            assert row == own[score[own].argmax()]
            picked.append(int(row))
            score = np.minimum(score, ((X - X[row]) ** 2).sum(axis=1) * candidate * weight[row])


def test_work_on_groups_gets_their_rows(backend):
    X = mixture(200)
    groups = [np.arange(0, 200, 3), np.arange(1, 200, 3)]
    found = backend.raw(X).map_groups(summed, groups, [(2.0,), (np.ones(9),)], "group", NullCheckpoint())
    for result, rows, more in zip(found, groups, (2.0, 1.0), strict=True):
        np.testing.assert_allclose(result["total"], X[rows].sum(axis=0) + more)


def summed(rows, more, workers):
    return {"total": rows.array().sum(axis=0) + more}


# The same picks on every backend


def prepared(rows):
    labels, centers = sampled_clusters(rows, SphericalKMeans(5, random_state=0), 300, np.random.RandomState(0))
    return labels, centers, density_weights(local_spacing(rows, labels, 5))


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("labeled", [NONE, np.array([499, 3, 400])], ids=["", "labelled"])
def test_representatives_and_then_the_farthest_rows(backend, integer, labeled):
    X = mixture(500, integer=integer)

    def pick(rows):
        labels, _, weights = prepared(rows)
        lead = representatives(rows, 10, labeled, np.random.RandomState(0))
        return labels, spread(rows, 80, labeled, weights, lead), spread(rows, 20, labeled)

    for found, expected in zip(pick(backend.raw(X)), pick(Memory().raw(X)), strict=True):
        assert_same(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("labeled", [NONE, np.array([499, 3, 400])], ids=["", "labelled"])
def test_clusters_that_share_the_budget(backend, weighted, labeled):
    X = unit(mixture(500))

    def pick(rows):
        labels, centers, weights = prepared(rows)
        weights = weights if weighted else None
        yield spread_balanced(rows, 30, labeled, labels, 5, weights)
        for balance in (False, True):
            yield spread_within_clusters(
                rows, 30, labeled, labels, centers, weights, balance_clusters=balance, n_starts=4, start_length="quota",
                direction="tangent", rng=np.random.RandomState(0),
            )  # fmt: skip

    for found, expected in zip(pick(backend.raw(X)), pick(Memory().raw(X)), strict=True):
        assert_same(found, expected)


def assert_same(found, expected):
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
        return
    np.testing.assert_array_equal(found.rows, expected.rows)
    np.testing.assert_allclose(found.gain, expected.gain, rtol=1e-6)
    np.testing.assert_allclose(found.radius, expected.radius, rtol=1e-6, atol=1e-7)
