"""The lazy traversal picks exactly what a plain loop picks."""

import numpy as np
import pytest

import reference
from mheal.algorithms.density import DensityWeights
from mheal.algorithms.farthest_first import traverse
from mheal.backends.cpu import traversal
from mheal.backends.cpu.points import Points
from mheal.backends.cpu.staging import Sizes


def random_pool(seed):
    """Half of the pools are small integers, with many ties and duplicates, for which every distance is exact."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(4, 900)), int(rng.integers(1, 40))
    if seed % 2:
        X = rng.integers(0, rng.integers(2, 6), (n, d))
    else:
        X = rng.standard_normal((n, d)) * rng.lognormal(size=d)
    chosen = rng.choice(n, int(rng.integers(1, 4)), replace=False)
    weight = np.exp2(rng.integers(-2, 3, n)) if seed % 3 == 0 else None
    picks = int(rng.integers(1, n - len(chosen) + 1))
    return X, picks, chosen, weight


def weights(weight, dtype=np.float64):
    return None if weight is None else DensityWeights(weight.astype(dtype), weight.astype(dtype))


def small(X, dtype=np.float64):
    """A store with sizes so small that all three nested sets are used in small pools."""
    return Points.raw(X.astype(dtype), sizes=Sizes(front_rows=40))


@pytest.mark.parametrize("seed", range(200))
def test_picks_identical_to_plain_loop_on_200_pools(seed):
    X, picks, chosen, weight = random_pool(seed)
    rows, score, left = traverse(small(X), picks, chosen, weights(weight))
    expected, expected_score = reference.max_min(X, picks, chosen, weight)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_allclose(score, expected_score, rtol=1e-9, atol=1e-9)
    available = len(X) - len(chosen)
    after = reference.max_min(X, min(picks + 1, available), chosen, weight)[1]
    assert left == pytest.approx(after[picks] if picks < available else 0.0, abs=1e-9)


@pytest.mark.parametrize("seed", range(20))
def test_a_row_has_another_weight_once_it_is_picked(seed):
    X, picks, chosen, _ = random_pool(seed)
    rng = np.random.default_rng(seed)
    weight, candidate = np.exp2(rng.integers(-2, 3, len(X))), np.exp2(rng.integers(-8, 3, len(X)))
    rows = traverse(small(X), picks, chosen, DensityWeights(weight, candidate))[0]
    np.testing.assert_array_equal(rows, reference.max_min(X, picks, chosen, weight, candidate)[0])


@pytest.mark.parametrize("seed", range(1, 40, 2))
def test_float32_is_exact_on_integers(seed):
    X, picks, chosen, weight = random_pool(seed)
    rows = traverse(small(X, np.float32), picks, chosen, weights(weight, np.float32))[0]
    np.testing.assert_array_equal(rows, reference.max_min(X, picks, chosen, weight)[0])


@pytest.mark.parametrize("seed", range(0, 20, 2))
def test_float32_picks_are_farthest_within_rounding(seed):
    X, picks, chosen, _ = random_pool(seed)
    X = X.astype(np.float32)
    rows = traverse(small(X, np.float32), picks, chosen)[0]
    wide = X.astype(np.float64)
    score = np.min([((wide - wide[c]) ** 2).sum(1) for c in chosen], axis=0)
    tolerance = 1e-5 * (wide**2).sum(1).max()
    for row in rows:
        assert score[row] >= score.max() - tolerance
        score = np.minimum(score, ((wide - wide[row]) ** 2).sum(1))


def test_large_pool_uses_lazy_epochs_and_agrees():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 9, (30_000, 12)).astype(np.float32)
    rows = traverse(Points.raw(X), 300, np.array([5]))[0]
    np.testing.assert_array_equal(rows, reference.max_min(X, 300, [5])[0])


@pytest.mark.parametrize("kind", ["normal", "integer", "sorted"])
def test_same_picks_for_any_number_of_threads(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20_000, 24)).astype(np.float32)
    if kind == "integer":
        X = np.round(X)
    if kind == "sorted":
        X = X[np.argsort(X[:, 0])]
    runs = [traverse(Points.raw(X), 200, np.array([0]), workers=w) for w in (1, 2, 3, 7)]
    for rows, score, left in runs[1:]:
        np.testing.assert_array_equal(rows, runs[0][0])
        np.testing.assert_array_equal(score, runs[0][1])
        assert left == runs[0][2]


def test_most_distances_are_never_computed(monkeypatch):
    """At most M·N of them in theory; the lazy bounds must save more than half on clustered data."""
    rng = np.random.default_rng(2)
    n, picks = 20_000, 400
    X = (rng.standard_normal((50, 32))[rng.integers(50, size=n)] * 3 + rng.standard_normal((n, 32))).astype(np.float32)
    counted = []
    catch_up = traversal.catch_up

    def counting(*args):
        todo, worker, _workers, t, seen = args[5], args[6], args[7], args[11], args[15]
        if worker == 0:
            counted.append(int((t - seen[todo]).sum()))
        catch_up(*args)

    monkeypatch.setattr(traversal, "catch_up", counting)
    traverse(Points.raw(X), picks, np.array([0]), workers=1)
    assert 0 < sum(counted) < 0.5 * n * picks


def test_duplicates_come_last():
    X = np.repeat(np.arange(6.0), 50)[:, None]
    rows = traverse(Points.raw(X), 299, np.array([0]))[0]
    assert set(X[rows[:5], 0]) == {1, 2, 3, 4, 5}
    np.testing.assert_array_equal(rows[5:], np.sort(rows[5:]))  # all at distance 0: lowest row first


def test_near_duplicates_far_from_the_origin():
    """Dot products alone would lose these distances to rounding."""
    rng = np.random.default_rng(3)
    base = rng.standard_normal(64).astype(np.float32) * 50
    X = np.vstack([base + np.float32(0.01) * rng.standard_normal((80, 64)).astype(np.float32), base * 2])
    rows = traverse(Points.raw(X), 5, np.array([80]))[0]
    np.testing.assert_array_equal(rows, reference.max_min(X, 5, [80])[0])


def test_memmap_and_read_only_pools(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((5_000, 16)).astype(np.float32)
    np.save(tmp_path / "pool.npy", X)
    mapped = np.load(tmp_path / "pool.npy", mmap_mode="r")
    in_memory = traverse(Points.raw(X), 100, np.array([0]))[0]
    np.testing.assert_array_equal(traverse(Points.raw(mapped), 100, np.array([0]))[0], in_memory)
    assert X.flags.writeable  # our read-only view does not freeze the caller's array
