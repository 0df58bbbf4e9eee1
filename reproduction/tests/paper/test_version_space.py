import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from mheal import SphericalKMeans
from mheal_reproduction.paper.figure11.version_space import neighbourhood_energy, split


@pytest.fixture(scope="module")
def plane():
    """Digits on their first two principal components, and the mean distance of each to its five neighbours."""
    X2d = PCA(2, random_state=0).fit_transform(load_digits().data)
    return X2d, np.sort(cdist(X2d, X2d), axis=1)[:, 1:6].mean(axis=1)


def test_energy_is_minus_the_sum_of_log_distances_to_the_neighbours(plane):
    X2d, _ = plane
    nearest = np.sort(cdist(X2d, X2d), axis=1)[:, 1:4]
    np.testing.assert_allclose(neighbourhood_energy(X2d, 3), -np.log(nearest).sum(axis=1), rtol=1e-9, atol=1e-9)


def test_the_top_30_percent_of_energy_have_the_smaller_distances_to_their_neighbours(plane):
    """The sign of §7.3: the literal "in" part is the dense one, far inside."""
    X2d, spacing = plane
    inside = split(neighbourhood_energy(X2d))
    assert inside.sum() == round(0.3 * len(X2d))
    assert spacing[inside].mean() < 0.6 * spacing[~inside].mean()
    radius = np.linalg.norm(X2d, axis=1)
    assert radius[inside].mean() < radius[~inside].mean()


def test_the_top_30_percent_of_each_cluster_are_its_dense_part_too(plane):
    X2d, spacing = plane
    cluster = SphericalKMeans(10, random_state=0).fit_predict(load_digits().data)
    inside = split(neighbourhood_energy(X2d), groups=cluster)
    for c in range(10):
        own = cluster == c
        assert inside[own].sum() == pytest.approx(0.3 * own.sum(), abs=0.5)
        assert spacing[own & inside].mean() < spacing[own & ~inside].mean()


def test_the_other_sign_takes_the_sparse_part(plane):
    X2d, spacing = plane
    energy = neighbourhood_energy(X2d)
    sparse = split(-energy)
    assert spacing[sparse].mean() > 1.5 * spacing[~sparse].mean()
    assert not (sparse & split(energy)).any()


def test_duplicates_have_a_large_but_finite_energy_and_ties_go_to_the_lowest_row():
    X2d = np.repeat(np.array([[0.0, 0.0], [3.0, 4.0]]), [7, 13], axis=0)
    energy = neighbourhood_energy(X2d)
    np.testing.assert_allclose(energy, -5 * np.log(1e-12))
    assert np.flatnonzero(split(energy, 0.2)).tolist() == [0, 1, 2, 3]
    assert np.flatnonzero(split(energy, 0.25, X2d[:, 0])).tolist() == [0, 1, 7, 8, 9]


def test_a_row_has_fewer_neighbours_than_there_are_rows():
    with pytest.raises(ValueError, match="between 1 and 3"):
        neighbourhood_energy(np.eye(4), 4)
