"""K-medoids against brute force."""

from itertools import combinations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

from mheal.strategies import KMedoids, Pool
from mheal.strategies.kmedoids import Medoids
from picks import pick


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
