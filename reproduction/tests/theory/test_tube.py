import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from mheal import PaperMHEAL, SphericalKMeans
from mheal_reproduction.theory.tube import SphericalCluster, angles, boundary_width


def cap(n, d=3, spread=0.4, seed=0):
    """Rows around the first axis."""
    X = spread * np.random.default_rng(seed).normal(size=(n, d))
    X[:, 0] = 1
    return X


def test_angles_are_those_of_the_arc_cosine_and_exact_near_the_centre():
    X, c = cap(50), np.array([2.0, 0, 0])
    cosine = X[:, 0] / np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(angles(X, c), np.arccos(cosine), atol=1e-12)
    np.testing.assert_allclose(angles([[1, 1e-9, 0]], c), [1e-9])
    np.testing.assert_allclose(angles([[-1, 0, 0]], c), [np.pi])


def test_ball_and_tube_hold_the_share_they_should():
    X = cap(1000)
    found = SphericalCluster.of(X, share=0.3)
    assert found.ball(X).all()
    assert found.tube(X).sum() == 300
    distance = angles(X, found.center)
    assert distance[found.tube(X)].min() > distance[~found.tube(X)].max()
    np.testing.assert_allclose(found.radius, distance.max())
    np.testing.assert_allclose(angles([X.mean(axis=0)], found.center), [0], atol=0.05)


def test_a_quantile_leaves_outliers_out_of_the_ball():
    X = np.vstack([cap(200), [[-1.0, 0.1, 0]]])
    whole, most = SphericalCluster.of(X), SphericalCluster.of(X, quantile=0.95)
    assert whole.radius > np.pi / 2 > most.radius
    assert most.ball(X).sum() == pytest.approx(0.95 * len(X), abs=1)
    assert not most.tube(X)[-1]


def test_the_inner_ball_and_the_tube_make_the_ball():
    X, found = cap(300), SphericalCluster.of(cap(300, seed=1), share=0.2)
    inner = found._replace(radius=found.radius - found.width)
    np.testing.assert_array_equal(found.tube(X) | inner.ball(X), found.ball(X))
    assert not (found.tube(X) & inner.ball(X)).any()


def test_a_share_outside_0_to_1_is_a_mistake():
    with pytest.raises(ValueError, match="share and quantile"):
        SphericalCluster.of(cap(5), share=0)


def test_the_width_of_assumption_1_is_the_distance_between_the_classes():
    assert boundary_width([[0, 0], [1, 0], [3, 0], [9, 0]], [0, 0, 1, 1]) == 2


def test_max_min_picks_lie_in_the_tube():
    """What the paper wants of its picks: on digits two of three are among the outer 30 % of their cluster."""
    X = StandardScaler().fit_transform(load_digits(return_X_y=True)[0])
    picks = PaperMHEAL(10, random_state=0).select(X, 100)
    kmeans = SphericalKMeans(10, init="random", random_state=0).fit(X)
    labels = kmeans.labels_
    tubes = [SphericalCluster.of(X[labels == c]) for c in range(10)]
    inside = [tubes[labels[row]].tube(X[[row]])[0] for row in picks.indices]
    assert np.mean(inside) > 0.6
