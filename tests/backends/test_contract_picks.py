"""Every backend picks the rows that the plain loops of reference.py pick."""

import numpy as np
import pytest

import reference
from mheal import SphericalKMeans
from mheal.algorithms.density import DensityWeights, density_weights, local_spacing
from mheal.algorithms.facility_location import representatives
from mheal.algorithms.farthest_first import extend, spread, traverse
from mheal.algorithms.within_clusters import spread_balanced, spread_within_clusters
from mheal.cluster.sampled import sampled_clusters
from mheal.runtime.checkpoint import NullCheckpoint
from stores import Memory, mixture, summed, unit

NONE = np.empty(0, np.int64)


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
                rows, 30, labeled, labels, centers, weights, balance_clusters=balance, n_starts=4,
                start_length="balanced", direction="tangent", rng=np.random.RandomState(0),
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
