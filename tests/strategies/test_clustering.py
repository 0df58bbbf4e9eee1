"""K-means, TypiClust, K-medoids and stratified random sampling: picks from clusters."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import load_digits, load_iris, make_blobs

import reference
from mheal.strategies import KMeans, KMedoids, Pool, Stratified, TypiClust, get
from mheal.strategies.clustering import BATCH, Medoids, euclidean_clusters, in_turn, spacing_within
from picks import pick


def blobs(sizes, seed=0, distance=100.0):
    """Round blobs on a circle, far apart, and the blob of each row."""
    rng = np.random.default_rng(seed)
    blob = np.repeat(np.arange(len(sizes)), sizes)
    angle = 2 * np.pi * blob / len(sizes)
    return rng.normal(size=(len(blob), 2)) + distance * np.column_stack([np.cos(angle), np.sin(angle)]), blob


@pytest.mark.parametrize("name", ["kmeans", "typiclust", "kmedoids"])
def test_one_pick_for_each_of_well_separated_blobs(name):
    X, blob = blobs([40, 80, 30, 60, 50])
    picks = pick(get(name)(), Pool(X), 5)
    assert sorted(blob[picks]) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("name", ["kmeans", "typiclust", "kmedoids"])
def test_labelled_blobs_are_left_alone(name):
    X, blob = blobs([40, 80, 30, 60, 50])
    labeled = np.array([np.flatnonzero(blob == 1)[3], np.flatnonzero(blob == 4)[0]])
    picks = pick(get(name)(), Pool(X, labeled), 3)
    assert sorted(blob[picks]) == [0, 2, 3]


@pytest.mark.parametrize("name", ["kmeans", "typiclust", "kmedoids"])
def test_the_largest_cluster_comes_first(name):
    X, blob = blobs([40, 80, 30, 60, 50])
    assert blob[pick(get(name)(), Pool(X), 5)].tolist() == [1, 3, 4, 0, 2]


def test_kmeans_takes_the_member_nearest_the_centre():
    X, blob = blobs([50, 70, 60])
    pool = Pool(X)
    for row in pick(KMeans(), pool, 3):
        members = np.flatnonzero(blob == blob[row])
        distance = np.linalg.norm(pool.Z[members] - pool.Z[members].mean(axis=0), axis=1)
        assert row == members[distance.argmin()]


def test_kmeans_with_too_few_distinct_rows_goes_on_with_the_farthest():
    X = np.repeat(np.array([[0.0], [1.0], [5.0]]), 10, axis=0)
    picks = pick(KMeans(), Pool(X), 8)
    assert set(X[picks[:3], 0]) == {0.0, 1.0, 5.0}
    assert len(set(picks)) == 8


def test_kmeans_is_about_as_good_as_its_objective_promises():
    X, _ = load_digits(return_X_y=True)
    pool = Pool(X)
    chosen = pick(KMeans(), pool, 30)

    def squared_cost(rows):
        return cdist(pool.Z, pool.Z[rows], "sqeuclidean").min(axis=1).sum()

    random = [np.random.default_rng(seed).permutation(len(X))[:30] for seed in range(20)]
    assert squared_cost(chosen) < min(map(squared_cost, random))


def test_clusters_do_not_depend_on_a_second_look():
    X, _ = make_blobs(3000, 5, centers=8, random_state=0)
    first, again = (euclidean_clusters(X, 60, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])


def test_clusters_are_visited_in_turn():
    labels = np.array([2, 0, 2, 0, 2, 3, 3])
    score = np.array([3.0, 1.0, 0.5, 1.0, 0.5, 7.0, 8.0])
    rows = np.arange(7)
    # the largest cluster first, then those of two rows by number; of equal scores the lowest row; cluster 1 is empty
    assert in_turn(Pool(score[:, None]), rows, labels, score).tolist() == [2, 1, 5, 4, 3, 6, 0]
    # clusters with the fewest labelled rows come first
    pool = Pool(score[:, None], np.array([0]))
    assert in_turn(pool, np.delete(rows, 0), labels, score).tolist() == [1, 5, 2, 3, 6, 4]


def test_typiclust_picks_near_the_mode_and_never_an_outlier():
    X, blob = blobs([60, 60, 60], distance=50.0)
    X = np.vstack([X, [[0.0, 5.0], [0.0, -5.0], [20.0, 0.0]]])
    assert pick(TypiClust(), Pool(X), 12).max() < 180
    for row in pick(TypiClust(), Pool(X), 3):
        assert np.linalg.norm(X[row] - X[:180][blob == blob[row]].mean(axis=0)) < 1.0


def test_typicality_is_the_spacing_of_the_plain_loop():
    X, _ = load_digits(return_X_y=True)
    X = X[:300]
    pool = Pool(X)
    labels = np.arange(300) % 3
    expected = reference.spacing(pool.Z, labels, 20)
    np.testing.assert_allclose(spacing_within(pool.Z, labels, 3, 20), expected, rtol=1e-9)


def test_typiclust_visits_clusters_in_turn():
    X, blob = blobs([60, 60, 60])
    picks = pick(TypiClust(max_clusters=3), Pool(X), 9)
    assert sorted(blob[picks[:3]]) == sorted(blob[picks[3:6]]) == sorted(blob[picks[6:]]) == [0, 1, 2]


def test_small_clusters_wait():
    X, blob = blobs([60, 4, 60])
    picks = pick(TypiClust(max_clusters=3), Pool(X), 124)
    assert set(blob[picks[:120]]) == {0, 2}
    assert set(blob[picks[120:]]) == {1}


def directions(sizes, seed=0):
    """Clusters of directions with these sizes, and the cluster of each row."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return 10 * np.eye(len(sizes))[group] + 0.1 * np.random.default_rng(seed).normal(size=(len(group), 3)), group


def test_stratified_shares_are_proportional_in_every_prefix():
    X, group = directions([100, 200, 300])
    rows = pick(Stratified(n_clusters=3), Pool(X), 600)
    for budget in (6, 30, 120, 599):
        counts = np.bincount(group[rows[:budget]], minlength=3)
        assert np.abs(counts - budget * np.array([1, 2, 3]) / 6).max() <= 1.5


def test_stratified_counts_what_is_labelled():
    X, group = directions([100, 100, 100])
    picks = Stratified(n_clusters=3).select(X, 40, labeled=np.arange(20), random_state=0)
    counts = np.bincount(group[picks.indices], minlength=3)
    assert np.abs(counts - [0, 20, 20]).max() <= 1
    assert len(set(zip(group[picks.indices], picks.cluster, strict=True))) == len(set(group[picks.indices]))


def test_stratified_rows_are_equally_likely():
    X, _ = directions([20, 40, 60])
    times = np.zeros(120)
    for seed in range(600):
        times[pick(Stratified(n_clusters=3), Pool(X, rng=np.random.default_rng(seed)), 12)] += 1
    expected = 600 * 12 / 120
    assert np.square(times - expected).sum() / expected < 170  # χ² with 119 degrees: 1 in 1,000 above 171


def test_large_pools_with_very_many_clusters_start_once():
    X = np.random.default_rng(0).normal(size=(400, 3))
    seed = int(np.random.default_rng(1).integers(2**31))
    for once, starts in ((400 * 40, 1), (400 * 40 + 1, 3)):
        labels, _ = euclidean_clusters(X, 40, np.random.default_rng(1), large=100, started_once=once)
        expected = MiniBatchKMeans(40, batch_size=BATCH, n_init=starts, random_state=seed).fit_predict(X)
        np.testing.assert_array_equal(labels, expected)


def distances(pool):
    return cdist(pool.Z, pool.Z)


def cost(D, medoids):
    return D[:, np.asarray(medoids)].min(axis=1).sum()


def test_small_problems_are_solved_exactly():
    D = distances(Pool(load_iris().data[::10]))
    best = min(cost(D, medoids) for medoids in combinations(range(len(D)), 3))
    found = []
    for seed in range(5):
        pool = Pool(load_iris().data[::10], rng=np.random.default_rng(seed))
        found.append(cost(D, pick(KMedoids(), pool, 3)))
    assert min(found) == pytest.approx(best)
    assert max(found) < 1.05 * best


def test_one_medoid_is_the_row_with_the_smallest_sum():
    pool = Pool(load_iris().data)
    assert pick(KMedoids(), pool, 1).tolist() == [distances(pool).sum(axis=1).argmin()]


@pytest.mark.parametrize("labeled", [[], [3, 77, 140]])
def test_no_swap_helps_and_random_sets_cost_more(labeled):
    X = load_digits().data[:300]
    pool = Pool(X, np.array(labeled, np.int64))
    D = distances(pool)
    picks = pick(KMedoids(), pool, 8)
    reached = cost(D, [*picks, *labeled])
    for seed in range(100):
        assert reached < cost(D, [*np.random.default_rng(seed).permutation(pool.unlabeled)[:8], *labeled])
    for out in range(8):
        for row in np.setdiff1d(pool.unlabeled, picks):
            assert cost(D, [*np.delete(picks, out), row, *labeled]) > reached * (1 - 3e-6)


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("fixed", [[], [3, 4]])
def test_the_change_by_a_swap_is_the_difference_of_costs(k, fixed):
    rng = np.random.default_rng(k)
    D = distances(Pool(rng.normal(size=(120, 4))))
    stay = D[fixed].min(axis=0) if fixed else np.full(120, np.inf)
    start = 5 + rng.permutation(115)[:k]
    pam = Medoids(D, start, stay)
    for candidate in np.setdiff1d(np.arange(5, 120), start)[:20]:
        swaps = [[*np.delete(start, out), candidate, *fixed] for out in range(k)]
        change = [cost(D, swap) - cost(D, [*start, *fixed]) for swap in swaps]
        assert pam.best_swap(candidate) == (pytest.approx(min(change)), int(np.argmin(change)))
    pam.improve(np.arange(5, 120))
    assert pam.cost() == pytest.approx(cost(D, [*pam.medoids, *fixed]))


def test_samples_of_a_large_pool_are_nearly_as_good():
    X = load_digits().data
    pool = Pool(X, np.array([5, 6]))
    D = distances(pool)
    whole = cost(D, [*pick(KMedoids(), pool, 10), 5, 6])
    small = KMedoids(max_rows=1000, sample_size=400)
    sampled = pick(small, pool, 10)
    assert cost(D, [*sampled, 5, 6]) < 1.04 * whole
    assert len(set(pick(small, pool, 1500))) == 1500  # more than a sample holds
