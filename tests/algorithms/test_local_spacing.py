"""Local spacing: mean distance to the nearest neighbours inside the cluster."""

import numpy as np
import pytest

import reference
from mheal.algorithms.density import local_spacing
from mheal.backends.cpu import neighbours
from mheal.backends.cpu.points import Points
from mheal.backends.cpu.staging import Sizes


@pytest.mark.parametrize("k", [1, 4])
def test_equals_brute_force(k):
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((300, 7)), rng.integers(k, size=300).astype(np.int32)
    found = local_spacing(Points.raw(X), labels, k, references=10_000)
    np.testing.assert_allclose(found, reference.spacing(X, labels, 20), rtol=1e-6)


def test_thinned_references_estimate_the_same_density():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((3000, 5)), 6 * rng.standard_normal((3000, 5))])
    labels = np.zeros(6000, np.int32)
    thinned = local_spacing(Points.raw(X), labels, 1)
    exact = reference.spacing(X[::10], labels[::10], 20)
    assert np.corrcoef(np.log(thinned[::10]), np.log(exact))[0, 1] > 0.95


class Recording:
    """A store that only records the references passed to it."""

    def spacing(self, labels, references, neighbours):
        return [len(rows) for rows in references]


@pytest.mark.parametrize(("n", "count"), [(400, 400), (1024, 256), (1500, 174), (3000, 128)])
def test_large_pools_have_fewer_references(n, count):
    assert local_spacing(Recording(), np.zeros(n, np.int32), 1, comparisons=1 << 18) == [count]


def by_cluster(X, labels, k, references, fewest=8):
    """Spacing computed cluster by cluster: every s-th member, in ascending order, is a possible neighbour."""
    out = np.empty(len(X))
    for c in range(k):
        members = np.flatnonzero(labels == c)
        candidates = members if len(members) > fewest else np.arange(len(X))
        thin = candidates
        if len(candidates) > references:
            thin = candidates[np.linspace(0, len(candidates) - 1, references).astype(int)]
        wanted = max(1, min(len(thin) - 1, 20, max(fewest, round(20 * len(thin) / len(candidates)))))
        distance = np.sqrt(((X[members][:, None] - X[thin][None]) ** 2).sum(-1))
        distance[members[:, None] == thin[None]] = np.inf
        out[members] = np.sort(distance, axis=1)[:, :wanted].mean(1)
    return out


@pytest.mark.parametrize("k", [1, 3, 40])
def test_a_file_read_in_the_order_of_rows_gives_what_clusters_one_by_one_give(k, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 6))
    labels = rng.choice(k, 3000, p=rng.dirichlet(np.ones(k))).astype(np.int32)
    labels[labels == k - 1] = 0
    labels[[5, 700, 2900]] = k - 1  # a tiny cluster
    np.save(tmp_path / "X.npy", X)
    small = Sizes(span_bytes=1, task_rows=64, together=16)
    mapped = Points.raw(np.load(tmp_path / "X.npy", mmap_mode="r"), sizes=small)
    spans, grouped = [], neighbours.grouped
    monkeypatch.setattr(neighbours, "grouped", lambda *args: spans.append(args[2:]) or grouped(*args))
    read = local_spacing(mapped, labels, k)
    assert len(spans) > 4
    np.testing.assert_array_equal(read, local_spacing(Points.raw(X), labels, k))
    np.testing.assert_allclose(read, by_cluster(X, labels, k, 512), rtol=1e-6)


def test_tiny_clusters_borrow_the_pool():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((200, 4)), [[50.0, 0, 0, 0]]])
    labels = np.r_[np.zeros(200), 1].astype(np.int32)
    r = local_spacing(Points.raw(X), labels, 2)
    assert r[-1] > 40
    assert r[:-1].max() < 5


@pytest.mark.parametrize("size", [9, 15, 20, 21])
def test_a_small_tight_cluster_is_dense(size):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((3000, 4)), 0.01 * rng.standard_normal((size, 4)) + 9])
    labels = np.r_[np.zeros(3000), np.ones(size)].astype(np.int32)
    r = local_spacing(Points.raw(X), labels, 2)
    assert r[3000:].max() < r[:3000].min()


def test_duplicates_have_spacing_zero():
    X = np.vstack([np.zeros((50, 3)), np.random.default_rng(0).standard_normal((50, 3))])
    r = local_spacing(Points.raw(X), np.zeros(100, np.int32), 1)
    np.testing.assert_allclose(r[:50], 0, atol=1e-6)
    assert (r[50:] > 0.1).all()
