import numpy as np

import mheal
from mheal_reproduction.theory.literal import best_of, in_clusters, search
from mheal_reproduction.theory.sequential import best_start, sequential

P = np.random.default_rng(0).normal(size=(60, 4))
U = P / np.linalg.norm(P, axis=1, keepdims=True)


def test_picks_are_those_of_the_running_sums():
    np.testing.assert_array_equal(search(P, 8, 3, "product").rows, sequential(P, 8, start=3))
    np.testing.assert_array_equal(search(P, 8, 3, "max-min").rows, mheal.farthest_first(U, 8, start=3))
    row, log_product = best_start(P, 5)
    found = best_of(P, 5, range(60), "product")
    assert found.rows[0] == row
    np.testing.assert_allclose(found.log_product, log_product)


def test_distances_are_counted():
    assert search(P, 5, 0, "max-min").distances == 60 * (1 + 2 + 3 + 4)
    assert best_of(P, 5, range(7), "product").distances == 7 * 600
    assert in_clusters(P, 10, 2, None).distances == 2 * 30 * 30 * 10
    assert in_clusters(P, 10, 2, 4).distances == 2 * 4 * 30 * 10


def test_clusters_share_the_picks():
    rows = in_clusters(P, 12, 3, 2).rows
    assert len(set(rows)) == 12
    np.testing.assert_array_equal(np.bincount(rows // 20), [4, 4, 4])
