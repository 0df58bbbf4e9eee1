"""Hierarchical sampling (Dasgupta and Hsu 2008): labels decide how far down a cluster tree to go."""

import numpy as np
import numpy.typing as npt
from scipy.cluster.hierarchy import linkage

from .base import Pool, Rows, Strategy
from .coreset import complete
from .distances import sample

SUBSET = 5000  # rows of the tree; half of them at most labelled ones


class Hierarchical(Strategy):
    """Rows drawn from those clusters of a Ward tree whose majority label is not certain yet.

    The labels bought so far give each node bounds on its label shares; a node is split where its children are purer
    and its own majority is clear enough (`beta`). A batch is drawn from the resulting clusters with probability
    ∝ size · (1 − lower bound of the majority). Without labels that is random sampling. Beyond 5,000 rows the tree is
    that of a sample.
    """

    name, title = "hierarchical", "Hierarchical"
    summary = "Samples most where clusters look impure by the labels so far; without labels it is random"
    cost = "time and memory N² up to 5,000 rows; a sample beyond"
    kind = "adaptive"

    def __init__(self, beta: float = 2.0) -> None:
        self.beta = beta

    def _pick(self, pool: Pool, budget: int) -> Rows:
        known = len(pool.labels) > 0
        at = sample(np.arange(len(pool.labeled)), SUBSET // 2, pool.rng) if known else np.empty(0, np.int64)
        free = sample(pool.unlabeled, SUBSET - len(at), pool.rng)
        rows = np.concatenate([pool.labeled[at], free])
        classes, y = np.unique(pool.labels, return_inverse=True)
        seen = np.full(len(rows), -1)
        seen[: len(at)] = y[at]
        tree = Tree(pool.Z[rows])
        doubts = Doubts(tree, seen, max(2, len(classes)), self.beta)

        nodes = doubts.pruning()
        unseen = [pool.rng.permutation(leaves[seen[leaves] < 0]) for leaves in map(tree.leaves, nodes)]
        weight = tree.size[nodes] * doubts.impurity[nodes]
        weight = np.maximum(weight, 1e-9)  # clusters that are certain come last
        left = np.array([len(leaves) for leaves in unseen])
        picked = []
        for _ in range(min(budget, int(left.sum()))):
            chance = weight * (left > 0)
            c = int(pool.rng.choice(len(nodes), p=chance / chance.sum()))
            left[c] -= 1
            picked.append(unseen[c][left[c]])
        return complete(pool, rows[picked], budget)


class Tree:
    """Ward's tree: leaves 0 … n − 1, then a node for each merge; the root is the last."""

    def __init__(self, Z: npt.NDArray[np.floating]) -> None:
        n = len(Z)
        self.n = n
        self.children = linkage(Z, "ward")[:, :2].astype(np.int64) if n > 1 else np.empty((0, 2), np.int64)
        self.size = np.ones(2 * n - 1, np.int64)
        for i, (a, b) in enumerate(self.children):
            self.size[n + i] = self.size[a] + self.size[b]
        start = np.zeros(2 * n - 1, np.int64)  # each node's leaves are neighbours in one order
        for i in range(len(self.children) - 1, -1, -1):
            a, b = self.children[i]
            start[a], start[b] = start[n + i], start[n + i] + self.size[a]
        self.start, self.order = start, np.empty(n, np.int64)
        self.order[start[:n]] = np.arange(n)

    def leaves(self, node: int) -> Rows:
        """The leaves below a node."""
        return self.order[self.start[node] : self.start[node] + self.size[node]]


class Doubts:
    """What the labels seen (−1: none) say about each node: bounds on label shares, and where to split."""

    def __init__(self, tree: Tree, seen: npt.NDArray[np.int64], n_classes: int, beta: float) -> None:
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
        # What has been counted is certain, whatever the rest turns out to be.
        lower = np.where(total > 0, np.maximum(p - slack, counts / size), 0)
        upper = np.where(total > 0, np.minimum(p + slack, 1 - (total - counts) / size), 1)

        rest = np.sort(1 - upper, axis=1)  # the other label that could be most frequent is the smallest 1 − upper
        others = np.where(np.arange(n_classes) == (1 - upper).argmin(axis=1)[:, None], rest[:, 1:2], rest[:, :1])
        admissible = 1 - lower < beta * others
        admissible |= (total == size) & (counts == counts.max(axis=1, keepdims=True))  # all seen: nothing to bound
        best = np.where(admissible, p, -1).argmax(axis=1)
        node = np.arange(len(best))
        clear = admissible[node, best]
        self.impurity = np.where(clear, 1 - lower[node, best], 1.0)  # at most, of its best label

        self.error = np.where(clear, 1 - p[node, best], 1.0)
        self.split = np.zeros(2 * n - 1, bool)
        for i, (a, b) in enumerate(tree.children):
            below = (tree.size[a] * self.error[a] + tree.size[b] * self.error[b]) / tree.size[n + i]
            if clear[n + i] and below < self.error[n + i]:
                self.split[n + i], self.error[n + i] = True, below

    def pruning(self) -> Rows:
        """Nodes that together hold every leaf once: from the root down as far as splits go."""
        open_nodes, nodes = [len(self.tree.size) - 1], []
        while open_nodes:
            node = open_nodes.pop()
            if self.split[node]:
                open_nodes += self.tree.children[node - self.tree.n].tolist()
            else:
                nodes.append(node)
        return np.array(sorted(nodes))
