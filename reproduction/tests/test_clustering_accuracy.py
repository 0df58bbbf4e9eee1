from itertools import permutations

import numpy as np
import pytest

from mheal_reproduction.clustering_accuracy import clustering_accuracy


def test_names_of_clusters_do_not_matter():
    labels = np.array(["cat", "dog", "cat", "eel", "dog"])
    assert clustering_accuracy(labels, [7, 0, 7, -1, 0]) == 1.0
    assert clustering_accuracy(labels, [0, 7, 0, 7, 7]) == 0.8  # dog and eel in one cluster: the eel is lost


def test_it_is_the_best_of_all_matchings():
    rng = np.random.default_rng(0)
    for _ in range(20):
        labels, clusters = rng.integers(4, size=(2, 30))
        best = max(np.mean(np.array(names)[clusters] == labels) for names in permutations(range(4)))
        assert clustering_accuracy(labels, clusters) == pytest.approx(best)


def test_two_clusters_cannot_stand_for_one_class():
    assert clustering_accuracy([0, 0, 0, 0, 1], [0, 0, 2, 2, 1]) == pytest.approx(3 / 5)
    assert clustering_accuracy([0, 0, 1, 2], [5, 5, 5, 5]) == 0.5


@pytest.mark.parametrize(("labels", "clusters"), [([0, 1], [0]), ([], []), ([[0], [1]], [[0], [1]])])
def test_what_is_not_two_equal_lists_is_refused(labels, clusters):
    with pytest.raises(ValueError, match="same length"):
        clustering_accuracy(labels, clusters)
