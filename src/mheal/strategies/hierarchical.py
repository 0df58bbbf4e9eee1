"""Hierarchical sampling: a cluster tree is split as far as the labels justify."""

import numpy as np
from scipy.cluster.hierarchy import ClusterNode, linkage, to_tree

from ..parameters import Count, Positive
from ..strategy import Array, Pool, Rows, Strategy
from .common import fill_with_farthest, sample


class Hierarchical(Strategy):
    """Random rows from the clusters of a Ward tree whose majority label is uncertain (Dasgupta and Hsu 2008).

    The labels give bounds on the share of each label in each node. A node is split if its majority is clear enough and
    its children are purer. Rows are drawn from the resulting clusters with probability ∝ size · (1 − lower bound of the
    majority's share). Without labels it is random sampling.

    beta : how clear a majority must be: with a larger value, nodes are split sooner
    max_rows : in a larger pool, the tree is built on a sample of this many rows, at most half of them labelled
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
        bounds = LabelBounds(ward_tree(pool.Z[rows]), seen, max(2, len(classes)), self.beta)

        nodes = bounds.pruning()
        members = [np.array(bounds.tree[node].pre_order()) for node in nodes]
        unseen = [pool.rng.permutation(leaves[seen[leaves] < 0]) for leaves in members]
        weight = np.maximum([*map(len, members)] * bounds.impurity[nodes], 1e-9)  # pure clusters are drawn from last
        left = np.array([len(leaves) for leaves in unseen])
        picked = []
        for _ in range(min(n, int(left.sum()))):
            chance = weight * (left > 0)
            c = int(pool.rng.choice(len(nodes), p=chance / chance.sum()))
            left[c] -= 1
            picked.append(unseen[c][left[c]])
        return fill_with_farthest(pool, rows[picked], n)


def ward_tree(Z: Array) -> list[ClusterNode]:
    """The nodes of Ward's tree by number: leaves 0 … n − 1, then one node for each merge; the last is the root."""
    return to_tree(linkage(Z, "ward"), rd=True)[1] if len(Z) > 1 else [ClusterNode(0)]


class LabelBounds:
    """Bounds on label shares of each node, and the nodes to split, from the known labels of leaves (−1: unknown)."""

    def __init__(self, tree: list[ClusterNode], seen: Rows, n_classes: int, beta: float) -> None:
        self.tree, merges = tree, tree[len(seen) :]
        counts = np.zeros((len(tree), n_classes))
        labeled = np.flatnonzero(seen >= 0)
        counts[labeled, seen[labeled]] = 1
        for node in merges:
            counts[node.id] = counts[node.left.id] + counts[node.right.id]

        total, size = counts.sum(axis=1, keepdims=True), np.array([[node.count] for node in tree])
        some = np.maximum(total, 1)
        p = counts / some
        slack = (1 - total / size) * (1 / some + np.sqrt(p * (1 - p) / some))
        # Known labels bound the shares for certain: at least counts / size, at most 1 − those of other classes / size.
        lower = np.where(total > 0, np.maximum(p - slack, counts / size), 0)
        upper = np.where(total > 0, np.minimum(p + slack, 1 - (total - counts) / size), 1)

        rest = np.sort(1 - upper, axis=1)  # the other label that could be most frequent is the smallest 1 − upper
        others = np.where(np.arange(n_classes) == (1 - upper).argmin(axis=1)[:, None], rest[:, 1:2], rest[:, :1])
        admissible = 1 - lower < beta * others
        admissible |= (total == size) & (counts == counts.max(axis=1, keepdims=True))  # all labels known
        best = np.where(admissible, p, -1).argmax(axis=1)
        every = np.arange(len(best))
        clear = admissible[every, best]
        self.impurity = np.where(clear, 1 - lower[every, best], 1.0)  # upper bound on the share of other labels

        self.error = np.where(clear, 1 - p[every, best], 1.0)
        self.split = np.zeros(len(tree), bool)
        for node in merges:
            below = sum(side.count * self.error[side.id] for side in (node.left, node.right)) / node.count
            if clear[node.id] and below < self.error[node.id]:
                self.split[node.id], self.error[node.id] = True, below

    def pruning(self) -> Rows:
        """The nodes at which splitting from the root ends. Each leaf is in one of them."""
        open_nodes, nodes = [self.tree[-1]], []
        while open_nodes:
            node = open_nodes.pop()
            if self.split[node.id]:
                open_nodes += [node.left, node.right]
            else:
                nodes.append(node.id)
        return np.array(sorted(nodes))
