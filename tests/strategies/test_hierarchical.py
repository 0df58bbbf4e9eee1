"""Hierarchical sampling: the tree, the bounds and the prunings."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from mheal.strategies import Hierarchical, Pool
from mheal.strategies.hierarchical import LabelBounds, ward_tree
from picks import pick


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return Pool(X).Z, y


def partitions(tree, nodes):
    return sorted(leaf for node in nodes for leaf in tree[node].pre_order()) == list(range(tree[-1].count))


def test_leaves_of_a_node_are_those_of_its_children(iris):
    tree = ward_tree(iris[0])
    assert [node.id for node in tree] == list(range(299))
    assert sorted(tree[-1].pre_order()) == list(range(150))
    for node in tree[150:]:
        assert sorted(node.pre_order()) == sorted([*node.left.pre_order(), *node.right.pre_order()])


@pytest.mark.parametrize("n_labels", [0, 1, 5, 20, 75, 150])
def test_every_pruning_partitions_the_leaves(iris, n_labels):
    Z, y = iris
    seen = np.full(150, -1)
    rows = np.random.default_rng(n_labels).permutation(150)[:n_labels]
    seen[rows] = y[rows]
    tree = ward_tree(Z)
    assert partitions(tree, LabelBounds(tree, seen, 3, 2.0).pruning())


def test_without_labels_the_root_is_all_there_is(iris):
    tree = ward_tree(iris[0])
    assert LabelBounds(tree, np.full(150, -1), 2, 2.0).pruning().tolist() == [298]


def test_with_all_labels_seen_no_error_is_left(iris):
    Z, y = iris
    tree = ward_tree(Z)
    bounds = LabelBounds(tree, y, 3, 2.0)
    nodes = bounds.pruning()
    assert all(len(set(y[tree[node].pre_order()])) == 1 for node in nodes)
    assert bounds.error[-1] == 0
    assert np.all(bounds.impurity[nodes] == 0)


def test_a_pure_tree_is_not_split(iris):
    tree = ward_tree(iris[0])
    seen = np.full(150, -1)
    seen[np.random.default_rng(0).permutation(150)[:40]] = 1
    assert LabelBounds(tree, seen, 2, 2.0).pruning().tolist() == [298]


def test_bounds_hold_the_true_shares_nearly_always(iris):
    """The lower bound of the majority, at the root, over many samples of 20 labels."""
    Z, y = iris
    tree = ward_tree(Z)
    rng, wrong = np.random.default_rng(0), 0
    for _ in range(200):
        seen = np.full(150, -1)
        rows = rng.permutation(150)[:20]
        seen[rows] = np.minimum(y[rows], 1)  # shares ⅓ and ⅔
        wrong += LabelBounds(tree, seen, 2, 2.0).impurity[-1] < 1 / 3
    assert wrong < 40  # one standard deviation and a bit on one side


def test_sampling_goes_where_labels_disagree():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(0, 1, (200, 2)), rng.normal(30, 1, (200, 2))])
    labeled = np.r_[0:30, 200:230]
    labels = np.r_[np.zeros(30, int), rng.integers(0, 2, 30)]  # one cluster pure, the other mixed
    picks = pick(Hierarchical(), Pool(X, labeled, labels), 100)
    assert (picks >= 200).mean() > 0.75


def test_a_large_pool_is_sampled_and_every_row_can_still_be_had():
    X, y = load_iris(return_X_y=True)
    pool = Pool(X, np.arange(50), y[:50])
    assert len(set(pick(Hierarchical(max_rows=60), pool, 100))) == 100
