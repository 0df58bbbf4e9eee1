"""Density weights."""

import numpy as np
import pytest

import mheal
import reference
from mheal.algorithms.density import DEMOTED, density_energy, density_weights
from mheal.cluster.sampled import auto_clusters
from mheal.exceptions import UserError


def blob_with_outliers(seed=0, n=600, outliers=30):
    rng = np.random.default_rng(seed)
    far = rng.standard_normal((outliers, 6))
    far *= 15 / np.linalg.norm(far, axis=1, keepdims=True)
    return np.vstack([rng.standard_normal((n, 6)), far]), np.r_[np.zeros(n, bool), np.ones(outliers, bool)]


def weighted(X, n, **options):
    return mheal.farthest_first(X, n, density_power=1.25, **options)


def test_density_weights_take_far_fewer_outliers():
    X, outlier = blob_with_outliers()
    plain = outlier[mheal.farthest_first(X, 40)].sum()
    assert plain >= 25
    assert outlier[weighted(X, 40)].sum() <= 0.2 * plain


def test_equal_spacing_means_equal_weights():
    weights = density_weights(np.full(7, 3.0))
    np.testing.assert_allclose(weights.weight, 1.0)
    np.testing.assert_allclose(weights.candidate, 1.0)


def test_weights_follow_the_formula():
    spacing = np.array([1.0, 2.0, 4.0, 2.0, 2.0])
    expected = (spacing / 2.0) ** (-1 / 1.25)
    np.testing.assert_allclose(density_weights(spacing, 1.25).weight, expected)
    np.testing.assert_allclose(density_weights(spacing, 1.25, 0).candidate, expected)
    np.testing.assert_allclose(density_weights(spacing, 1.25, 0.2).candidate, expected * [1, 1, DEMOTED, 1, 1])


def test_the_sparsest_rows_come_last():
    X, outlier = blob_with_outliers(n=570, outliers=30)
    rows = weighted(X, 600, outlier_fraction=0.05)
    assert not outlier[rows[:570]].any()
    assert sorted(rows) == list(range(600))


def test_labelled_outliers_keep_their_own_weight():
    """A labelled outlier has its full weight, or the rest of the pool would seem to be near it."""
    X, outlier = blob_with_outliers(n=570, outliers=30)
    labeled = np.flatnonzero(outlier)[:3]
    rows = weighted(X, 40, chosen=labeled)
    assert not outlier[rows].any()
    nearest = np.linalg.norm(X[rows][:, None] - X[rows][None], axis=-1)[np.triu_indices(40, 1)].min()
    assert nearest > 1.0  # still spread over the blob


def test_a_large_power_is_plain_farthest_first():
    X, _ = blob_with_outliers()
    flat = mheal.farthest_first(X, 30, start=0, density_power=1e9, outlier_fraction=0)
    np.testing.assert_array_equal(flat, mheal.farthest_first(X, 30, start=0))


def test_picks_equal_brute_force():
    X, _ = blob_with_outliers(1, 185, 10)
    assert auto_clusters(len(X)) == 1
    spacing = reference.spacing(X, np.zeros(len(X)), 20)
    weight = (spacing / np.median(spacing)) ** (-1 / 1.25)
    weight[spacing > np.quantile(spacing, 0.95)] *= 1e-6
    expected = reference.max_min(X, 59, [int(spacing.argmin())], weight)[0]
    np.testing.assert_array_equal(weighted(X, 60), np.r_[spacing.argmin(), expected])


def test_masses_of_duplicates_have_finite_weights():
    X = np.vstack([np.zeros((100, 3)), np.random.default_rng(0).standard_normal((50, 3))])
    rows = weighted(X, 51)
    assert len({tuple(x) for x in X[rows]}) == 51


@pytest.mark.parametrize(("start", "error"), [(-1, ValueError), (600, ValueError), (3, ValueError), (2.5, TypeError)])
def test_start_is_checked(start, error):
    with pytest.raises(error, match="start"):
        weighted(blob_with_outliers(n=500)[0], 5, start=start, chosen=[3])


@pytest.mark.parametrize("p", [0, -1])
def test_power_must_be_positive(p):
    with pytest.raises(ValueError, match="positive"):
        mheal.farthest_first(np.random.default_rng(0).standard_normal((50, 3)), 5, density_power=p)


def test_energy_equals_brute_force():
    rng = np.random.default_rng(0)
    P, weight = rng.standard_normal((37, 5)), rng.uniform(0.2, 3, 37)
    energy = density_energy(P, weight)
    assert np.isnan(energy[0])
    for n in range(2, 38):
        pairs = [
            -np.log(np.linalg.norm(P[i] - P[j]) * np.sqrt(weight[i] * weight[j])) for i in range(n) for j in range(i)
        ]
        np.testing.assert_allclose(energy[n - 1], np.mean(pairs))


def test_energy_of_duplicates_is_large_but_finite():
    energy = density_energy(np.ones((3, 2), np.float32), np.ones(3))
    np.testing.assert_allclose(energy[1:], -np.log(1e-12))


def test_energy_of_the_picks_uses_the_weights_of_select():
    X, _ = blob_with_outliers()
    model = mheal.MHEAL(random_state=0)
    picks = model.select(X, 20)
    energy = model.energy(X, picks.indices)
    # The gain of a pick is its smallest weighted distance, so no pair of the first two is nearer than the second's.
    np.testing.assert_allclose(energy[1], -np.log(picks.gain[1]), rtol=1e-5)
    plain = mheal.MHEAL(density_power=None, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = [3, 5, 8]
    np.testing.assert_allclose(plain.energy(X, rows), density_energy(Z[rows], np.ones(3)))


@pytest.mark.parametrize("wrong", [dict(density_power=-1), dict(density_power=1, outlier_fraction=1.5)])
def test_weights_out_of_range_are_a_mistake_of_the_user(wrong):
    X = np.random.default_rng(0).standard_normal((50, 3))
    with pytest.raises(UserError, match=f"{[*wrong][-1]} must be .* got {[*wrong.values()][-1]}"):
        mheal.farthest_first(X, 5, **wrong)
