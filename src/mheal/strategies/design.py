"""Experimental design: TED and support points pick rows by their features alone, so labels are not needed."""

from typing import Literal

import numpy as np

from ..backends.cpu.distances import squared_distances
from ..parameters import Count, Positive
from ..strategy import Array, Pool, Rows, Strategy
from .common import REFERENCES, by_blocks, fill_with_farthest, median_distance, sample


class SupportPoints(Strategy):
    """Rows whose distribution is close to the pool's in terms of the energy distance (Mak and Joseph 2018).

    With m rows labelled or picked, the next pick minimises E‖x − s‖ − Σ_j‖s_j − s‖ / (m + 1): it is near the pool and
    far from the other picks.
    """

    name, title = "support-points", "Support points"
    summary = "Picks whose distribution is as close to the pool's as possible, by the energy distance"
    cost = "time N²·d (N·10,000·d beyond 10,000 rows) + N·budget·d, memory N·d"
    quadratic = True

    def _pick(self, pool: Pool, n: int) -> Rows:
        Z = pool.Z
        reference = Z[sample(np.arange(len(Z)), REFERENCES, pool.rng)]
        to_pool = by_blocks(Z, reference, lambda block, _: np.sqrt(block).mean(axis=1, dtype=np.float64))
        to_chosen = by_blocks(Z, Z[pool.labeled], lambda block, _: np.sqrt(block).sum(axis=1, dtype=np.float64))
        to_pool[pool.labeled] = np.inf
        rows = np.empty(n, np.int64)
        for i in range(n):
            rows[i] = row = (to_pool - to_chosen / (len(pool.labeled) + i + 1)).argmin()
            to_pool[row] = np.inf
            to_chosen += np.sqrt(squared_distances(Z, Z[row : row + 1])[:, 0])
        return rows


class TED(Strategy):
    """Transductive experimental design: rows from which ridge regression best reconstructs all others.

    Proposed by Yu, Bi and Tresp (2006). Each pick most reduces the error that labelled and earlier picked rows leave.

    kernel : "rbf" is exp(−‖x − y‖²/2σ²). "linear" uses all rows, also of a large pool.
    ridge : λ, the penalty of the regression
    sigma : σ of "rbf"; None: the median distance between rows
    max_rows : with "rbf", a larger pool is replaced by a sample of this many rows, at most half of them labelled
    """

    name, title = "ted", "TED"
    summary = "Rows from which all others are best reconstructed: designed for regression, needs no labels"
    cost = "rbf: time N²·budget, memory N² (N ≤ 5,000); linear: time N·budget·d, memory N·d"
    quadratic = True

    kernel: Literal["rbf", "linear"] = "rbf"
    ridge: Positive = 1e-3
    sigma: Positive | None = None
    max_rows: Count = 5000

    def _pick(self, pool: Pool, n: int) -> Rows:
        if self.kernel == "linear":
            rows, labeled = np.arange(len(pool.Z)), pool.labeled
            design: Kernel = Linear(pool.Z, self.ridge)
        else:
            labeled = sample(pool.labeled, self.max_rows // 2, pool.rng)
            rows = np.concatenate([labeled, sample(pool.unlabeled, self.max_rows - len(labeled), pool.rng)])
            labeled = np.arange(len(labeled))
            sigma = self.sigma or median_distance(pool.Z, pool.rng)
            Z = pool.Z[rows].astype(np.float64)
            design = Kernel(np.exp(squared_distances(Z, Z) / (-2 * sigma**2)), self.ridge)
        for row in labeled:
            design.deflate(int(row))
        taken, picked = np.zeros(len(rows)), []
        taken[labeled] = np.inf
        for _ in range(min(n, len(rows) - len(labeled))):
            picked.append(int((design.scores() - taken).argmax()))
            design.deflate(picked[-1])
            taken[picked[-1]] = np.inf
        return fill_with_farthest(pool, rows[picked], n)


class Kernel:
    """A kernel matrix K. The score of row j is ‖K_·j‖² / (K_jj + λ); a pick subtracts K_·j K_j· / (K_jj + λ) from K.

    Each pick takes one product K·k to update column lengths and the diagonal. The deflated matrix, K − V Vᵀ, is not
    computed.
    """

    def __init__(self, K: Array, ridge: float) -> None:
        self.K, self.ridge, self.V = K, ridge, np.empty((0, len(K)))
        self.diagonal, self.lengths = K.diagonal().copy(), np.einsum("ij,ij->i", K, K)  # lengths are squared

    def scores(self) -> Array:
        """The reduction of the error over all rows that each row would bring."""
        return self.lengths / (self.diagonal + self.ridge)

    def deflate(self, row: int) -> None:
        """Update K, its diagonal and its column lengths for a pick."""
        k, scale = self._column(row), self.diagonal[row] + self.ridge
        self.lengths += (k / scale) * (k * (k @ k) / scale - 2 * self._product(k))
        self.diagonal -= k * k / scale
        np.maximum(self.lengths, 0, out=self.lengths)
        np.maximum(self.diagonal, 0, out=self.diagonal)
        self._remember(row, k, scale)

    def _column(self, row: int) -> Array:
        """Column j of the deflated K."""
        return self.K[row] - self.V[:, row] @ self.V

    def _product(self, k: Array) -> Array:
        """The product of the deflated K with k."""
        return self.K @ k - (self.V @ k) @ self.V

    def _remember(self, row: int, k: Array, scale: float) -> None:
        """Subtract k kᵀ / scale from K."""
        self.V = np.vstack([self.V, k / np.sqrt(scale)])


class Linear(Kernel):
    """K = X A Xᵀ: only the small matrix A is updated."""

    def __init__(self, X: Array, ridge: float) -> None:
        self.X, self.A, self.ridge = X.astype(np.float64), np.eye(X.shape[1]), ridge
        self.diagonal = np.einsum("ij,ij->i", self.X, self.X)
        self.lengths = np.einsum("ij,ij->i", self.X @ (self.X.T @ self.X), self.X)

    def _column(self, row: int) -> Array:
        return self.X @ (self.A @ self.X[row])

    def _product(self, k: Array) -> Array:
        return self.X @ (self.A @ (self.X.T @ k))

    def _remember(self, row: int, k: Array, scale: float) -> None:
        explained = self.A @ self.X[row]
        self.A -= np.outer(explained, explained) / scale
