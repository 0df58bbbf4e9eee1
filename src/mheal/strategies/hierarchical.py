"""Hierarchical sampling: labels decide how far down a cluster tree to go."""

import numpy as np
from scipy.cluster.hierarchy import ClusterNode, linkage, to_tree

from ..parameters import Count, Positive
from ..strategy import Array, Pool, Rows, Strategy
from .common import fill_with_farthest, sample


class Hierarchical(Strategy):
    """Random rows from those clusters of a Ward tree whose majority label is uncertain (Dasgupta and Hsu 2008).

    The labels give each node bounds on its label shares. A node is split if its children are purer and its own
    majority is clear enough. Rows are drawn from the resulting clusters with probability ∝ size · (1 − lower bound of
    the majority's share). Without labels it is random sampling.

    beta : how clear a majority has to be: the larger, the sooner a node may be split
    max_rows : the tree of a larger pool is that of a sample of this many rows, at most half of them labelled
    """

    name, title = "hierarchical", "Hierarchical"
    summary = "Samples most from clusters that look impure by their labels; without labels it is random"
    cost = "time and memory N² up to 5,000 rows; a sample beyond"
    quadratic = True
    kind = "adaptive"

    beta: Positive = 2.0
    max_rows: Count = 5000

    def _pick(self, pool: Pool, n: int) -> Rows:
        at = sample(np.arange(len(pool.labels)), self.max_rows // 2, pool.rng)
        rows = np.concatenate([pool.labeled[at], sample(pool.unlabeled, self.max_rows - len(at), pool.rng)])
        classes, y = np.unique(pool.labels, return_inverse=True)
        seen = np.full(len(rows), -1)
        seen[: len(at)] = y[at]
        tree = Tree(pool.Z[rows])
        bounds = LabelBounds(tree, seen, max(2, len(classes)), self.beta)

        nodes = bounds.pruning()
        unseen = [pool.rng.permutation(leaves[seen[leaves] < 0]) for leaves in map(tree.leaves, nodes)]
        weight = np.maximum(tree.size[nodes] * bounds.impurity[nodes], 1e-9)  # pure clusters come last
        left = np.array([len(leaves) for leaves in unseen])
        picked = []
        for _ in range(min(n, int(left.sum()))):
            chance = weight * (left > 0)
            c = int(pool.rng.choice(len(nodes), p=chance / chance.sum()))
            left[c] -= 1
            picked.append(unseen[c][left[c]])
        return fill_with_farthest(pool, rows[picked], n)


class Tree:
    """Ward's tree: leaves 0 … n − 1, then one node for each merge; the last is the root."""

    def __init__(self, Z: Array) -> None:
        self.n = n = len(Z)
        merges = linkage(Z, "ward") if n > 1 else np.empty((0, 4))
        self.children = merges[:, :2].astype(np.int64)
        self.size = np.append(np.ones(n), merges[:, 3]).astype(np.int64)
        self.nodes = to_tree(merges, rd=True)[1] if n > 1 else [ClusterNode(0)]

    def leaves(self, node: int) -> Rows:
        """The leaves below a node."""
        return np.array(self.nodes[node].pre_order())


class LabelBounds:
    """Bounds on each node's label shares, and which nodes to split, from the labels seen (−1: none)."""

    def __init__(self, tree: Tree, seen: Rows, n_classes: int, beta: float) -> None:
        self.tree, n = tree, tree.n
        counts = np.zeros((2 * n - 1, n_classes))
        labeled = np.flatnonzero(seen >= 0)
        counts[labeled, seen[labeled]] = 1
        for i, (a, b) in enumerate(tree.children):
            counts[n + i] = counts[a] + counts[b]

        total, size = counts.sum(axis=1, keepdims=True), tree.size[:, None]
        some = np.maximum(total, 1)
        p = counts / some
        slack = (1 - total / size) * (1 / some + np.sqrt(p * (1 - p) / some))
        # Labels that were seen are certain, whatever the others turn out to be.
        lower = np.where(total > 0, np.maximum(p - slack, counts / size), 0)
        upper = np.where(total > 0, np.minimum(p + slack, 1 - (total - counts) / size), 1)

        rest = np.sort(1 - upper, axis=1)  # the other label that could be most frequent is the smallest 1 − upper
        others = np.where(np.arange(n_classes) == (1 - upper).argmin(axis=1)[:, None], rest[:, 1:2], rest[:, :1])
        admissible = 1 - lower < beta * others
        admissible |= (total == size) & (counts == counts.max(axis=1, keepdims=True))  # all seen
        best = np.where(admissible, p, -1).argmax(axis=1)
        node = np.arange(len(best))
        clear = admissible[node, best]
        self.impurity = np.where(clear, 1 - lower[node, best], 1.0)  # upper bound, of the majority label

        self.error = np.where(clear, 1 - p[node, best], 1.0)
        self.split = np.zeros(2 * n - 1, bool)
        for i, (a, b) in enumerate(tree.children):
            below = (tree.size[a] * self.error[a] + tree.size[b] * self.error[b]) / tree.size[n + i]
            if clear[n + i] and below < self.error[n + i]:
                self.split[n + i], self.error[n + i] = True, below

    def pruning(self) -> Rows:
        """The nodes where splitting from the root ends; together they hold every leaf once."""
        open_nodes, nodes = [len(self.tree.size) - 1], []
        while open_nodes:
            node = open_nodes.pop()
            if self.split[node]:
                open_nodes += self.tree.children[node - self.tree.n].tolist()
            else:
                nodes.append(node)
        return np.array(sorted(nodes))
