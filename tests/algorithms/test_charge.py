"""The density charge."""

import numpy as np
import pytest

import mheal
import reference
from mheal.algorithms.density import DEMOTED, charge_of, charged_energy
from mheal.cluster.sampled import auto_clusters


def blob_with_outliers(seed=0, n=600, outliers=30):
    rng = np.random.default_rng(seed)
    far = rng.standard_normal((outliers, 6))
    far *= 15 / np.linalg.norm(far, axis=1, keepdims=True)
    return np.vstack([rng.standard_normal((n, 6)), far]), np.r_[np.zeros(n, bool), np.ones(outliers, bool)]


def test_charged_takes_far_fewer_outliers_than_max_min():
    X, outlier = blob_with_outliers()
    plain = outlier[mheal.farthest_first(X, 40)].sum()
    charged = outlier[mheal.algorithms.charged_max_min(X, 40)].sum()
    assert plain >= 25
    assert charged <= 0.2 * plain


def test_equal_spacing_means_no_charge():
    charge = charge_of(np.full(7, 3.0))
    np.testing.assert_allclose(charge.weight, 1.0)
    np.testing.assert_allclose(charge.candidate, 1.0)


def test_weights_follow_the_formula():
    spacing = np.array([1.0, 2.0, 4.0, 2.0, 2.0])
    expected = (spacing / 2.0) ** (-1 / 1.25)
    np.testing.assert_allclose(charge_of(spacing, p=1.25).weight, expected)
    np.testing.assert_allclose(charge_of(spacing, p=1.25, trim=0).candidate, expected)
    np.testing.assert_allclose(charge_of(spacing, p=1.25, trim=0.2).candidate, expected * [1, 1, DEMOTED, 1, 1])


def test_the_sparsest_rows_come_last():
    X, outlier = blob_with_outliers(n=570, outliers=30)
    rows = mheal.algorithms.charged_max_min(X, 600, trim=0.05)
    assert not outlier[rows[:570]].any()
    assert sorted(rows) == list(range(600))


def test_labelled_outliers_keep_their_own_weight():
    """A demoted row must not make the rest of the pool look covered once it is labelled."""
    X, outlier = blob_with_outliers(n=570, outliers=30)
    labeled = np.flatnonzero(outlier)[:3]
    rows = mheal.algorithms.charged_max_min(X, 40, chosen=labeled)
    assert not outlier[rows].any()
    nearest = np.linalg.norm(X[rows][:, None] - X[rows][None], axis=-1)[np.triu_indices(40, 1)].min()
    assert nearest > 1.0  # still spread over the blob


def test_large_power_is_plain_max_min():
    X, _ = blob_with_outliers()
    np.testing.assert_array_equal(
        mheal.algorithms.charged_max_min(X, 30, start=0, p=1e9, trim=0), mheal.farthest_first(X, 30, start=0)
    )


def test_charged_max_min_equals_brute_force(monkeypatch):
    monkeypatch.setattr("mheal.algorithms.local_spacing.REFERENCES", 1000)  # every point is a possible neighbour
    X, _ = blob_with_outliers(1, 185, 10)
    assert auto_clusters(len(X)) == 1
    spacing = reference.spacing(X, np.zeros(len(X)), 20)
    weight = (spacing / np.median(spacing)) ** (-1 / 1.25)
    weight[spacing > np.quantile(spacing, 0.95)] *= 1e-6
    expected = reference.max_min(X, 59, [int(spacing.argmin())], weight)[0]
    np.testing.assert_array_equal(mheal.algorithms.charged_max_min(X, 60), np.r_[spacing.argmin(), expected])


def test_masses_of_duplicates_have_finite_charge():
    X = np.vstack([np.zeros((100, 3)), np.random.default_rng(0).standard_normal((50, 3))])
    rows = mheal.algorithms.charged_max_min(X, 51)
    assert len({tuple(x) for x in X[rows]}) == 51


@pytest.mark.parametrize(("start", "error"), [(-1, ValueError), (600, ValueError), (3, ValueError), (2.5, TypeError)])
def test_start_is_checked(start, error):
    with pytest.raises(error, match="start"):
        mheal.algorithms.charged_max_min(blob_with_outliers(n=500)[0], 5, start=start, chosen=[3])


@pytest.mark.parametrize("p", [0, -1])
def test_power_must_be_positive(p):
    with pytest.raises(ValueError, match="positive"):
        mheal.algorithms.charged_max_min(np.random.default_rng(0).standard_normal((50, 3)), 5, p=p)


def test_charged_energy_equals_brute_force(monkeypatch):
    monkeypatch.setattr("mheal.sphere.BLOCK", 100)  # several blocks
    rng = np.random.default_rng(0)
    P, weight = rng.standard_normal((37, 5)), rng.uniform(0.2, 3, 37)
    energy = charged_energy(P, weight)
    assert np.isnan(energy[0])
    for n in range(2, 38):
        pairs = [
            -np.log(np.linalg.norm(P[i] - P[j]) * np.sqrt(weight[i] * weight[j])) for i in range(n) for j in range(i)
        ]
        np.testing.assert_allclose(energy[n - 1], np.mean(pairs))


def test_charged_energy_of_duplicates_is_large_but_finite():
    energy = charged_energy(np.ones((3, 2), np.float32), np.ones(3))
    np.testing.assert_allclose(energy[1:], -np.log(1e-12))


def test_energy_of_the_picks_uses_the_charges_of_select():
    X, _ = blob_with_outliers()
    model = mheal.MHEAL(random_state=0)
    picks = model.select(X, 20)
    energy = model.energy(X, picks.indices)
    # The gain of a pick is its smallest charged distance, so no pair of the first two is nearer than the second's.
    np.testing.assert_allclose(energy[1], -np.log(picks.gain[1]), rtol=1e-5)
    plain = mheal.MHEAL(charge=None, random_state=0)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    rows = [3, 5, 8]
    np.testing.assert_allclose(plain.energy(X, rows), charged_energy(Z[rows], np.ones(3)))
