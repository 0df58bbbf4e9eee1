"""PaperMHEAL: Algorithm 2 against a plain loop."""

import numpy as np
from sklearn.datasets import load_digits

import reference
from mheal import PaperMHEAL
from mheal.sphere import unit_rows

X = load_digits().data.astype(np.float32)


def test_by_default_there_are_as_many_clusters_as_labels():
    alone = PaperMHEAL(random_state=0).select(X, 30)
    np.testing.assert_array_equal(alone.indices, PaperMHEAL(30, random_state=0).select(X, 30).indices)
    assert len(set(alone.cluster)) == 30
    labeled = np.arange(7)
    beside = PaperMHEAL(random_state=0).select(X, 30, labeled=labeled).indices
    np.testing.assert_array_equal(beside, PaperMHEAL(37, random_state=0).select(X, 30, labeled=labeled).indices)
    assert PaperMHEAL(init=X[:5], random_state=0).select(X, 30).cluster.max() == 4


def test_paper_has_the_prefix_property_with_a_fixed_start_length():
    fixed = PaperMHEAL(10, random_state=0, start_length=5)
    np.testing.assert_array_equal(fixed.select(X, 30).indices, fixed.select(X, 90).indices[:30])


def test_paper_equals_a_plain_algorithm_2():
    Y = X[:600].astype(np.float64) + np.random.default_rng(0).normal(scale=0.01, size=(600, 64))
    paper = PaperMHEAL(5, random_state=0)
    picks = paper.select(Y, len(Y))
    labels = np.empty(len(Y), int)
    labels[picks.indices] = picks.cluster
    U = unit_rows((Y - Y.mean(axis=0)) / Y.std(axis=0))[0]
    centers = unit_rows(np.array([U[labels == c].sum(0) for c in range(5)]))[0]
    rng = np.random.RandomState(0)
    rng.randint(2**31, size=2)  # of a sparse pool's reduction, and of the clustering
    seeds = rng.randint(2**31, size=5)
    expected = reference.algorithm2(U, labels, centers, 53, 10, seeds)
    np.testing.assert_array_equal(paper.select(Y, 53).indices, expected)
