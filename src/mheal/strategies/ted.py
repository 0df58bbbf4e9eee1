"""Transductive experimental design (Yu, Bi and Tresp 2006), sequential."""

from abc import ABC, abstractmethod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from .base import Pool, Rows, Strategy
from .coreset import complete
from .distances import median_distance, sample, squared_distances

SUBSET = 5000  # rows whose kernel matrix is held; half of them at most labelled ones

Vector = npt.NDArray[np.float64]


class Ted(Strategy):
    """Rows from which all others are best reconstructed by ridge regression; labelled rows are used first.

    kernel : "rbf", exp(−‖x − y‖²/2σ²) with σ the median distance unless `sigma` is given, or "linear"
    ridge : λ

    With "rbf" a pool over 5,000 rows is reduced to a sample of 5,000, which are both what is to be reconstructed and
    what can be picked. "linear" sees all rows.
    """

    name, title = "ted", "TED"
    summary = "Rows from which all others can best be reconstructed: designed for regression, without labels"
    cost = "rbf: time and memory N² (5,000² beyond); linear: time N·budget·d, memory N·d"

    def __init__(
        self, kernel: Literal["rbf", "linear"] = "rbf", ridge: float = 1e-3, sigma: float | None = None
    ) -> None:
        self.kernel = kernel
        self.ridge = ridge
        self.sigma = sigma

    def _pick(self, pool: Pool, budget: int) -> Rows:
        if self.kernel not in ("rbf", "linear"):
            raise UserError(f"kernel must be 'rbf' or 'linear', got {self.kernel!r}")
        if self.kernel == "linear":
            rows, labeled = np.arange(len(pool.Z)), pool.labeled
            design: Linear | Kernel = Linear(pool.Z, self.ridge)
        else:
            labeled = sample(pool.labeled, SUBSET // 2, pool.rng)
            rows = np.concatenate([labeled, sample(pool.unlabeled, SUBSET - len(labeled), pool.rng)])
            labeled = np.arange(len(labeled))
            sigma = self.sigma or median_distance(pool.Z, pool.rng)
            Z = pool.Z[rows].astype(np.float64)
            design = Kernel(np.exp(squared_distances(Z, Z) / (-2 * sigma**2)), self.ridge)
        for row in labeled:
            design.deflate(int(row))
        free = np.ones(len(rows), bool)
        free[labeled] = False
        picked: list[int] = []
        for _ in range(min(budget, int(free.sum()))):
            row = int(np.where(free, design.scores(), -np.inf).argmax())
            design.deflate(row)
            free[row] = False
            picked.append(row)
        return complete(pool, rows[picked], budget)


class _Design(ABC):
    """score_j = ‖K_·j‖² / (K_jj + λ), where each pick takes K_·j K_j· / (K_jj + λ) away from K.

    Column lengths and the diagonal follow each pick by one product K·k; the deflated K itself is never written down.
    """

    diagonal: Vector
    lengths: Vector  # squared, of the columns
    ridge: float

    def scores(self) -> Vector:
        """How much of all rows each row would explain."""
        return self.lengths / (self.diagonal + self.ridge)

    def deflate(self, row: int) -> None:
        """Take away what this row explains."""
        k, scale = self._column(row), self.diagonal[row] + self.ridge
        self.lengths += (k / scale) * (k * (k @ k) / scale - 2 * self._product(k))
        self.diagonal -= k * k / scale
        np.maximum(self.lengths, 0, out=self.lengths)
        np.maximum(self.diagonal, 0, out=self.diagonal)
        self._remember(row, k, scale)

    @abstractmethod
    def _column(self, row: int) -> Vector:
        """K_·j as it is now."""

    @abstractmethod
    def _product(self, k: Vector) -> Vector:
        """K k."""

    @abstractmethod
    def _remember(self, row: int, k: Vector, scale: float) -> None:
        """Deflate K by k kᵀ / scale."""


class Kernel(_Design):
    """Any kernel matrix K, deflated as K − V Vᵀ."""

    def __init__(self, K: npt.NDArray[np.float64], ridge: float) -> None:
        self.K, self.ridge, self.V = K, ridge, np.empty((0, len(K)))
        self.diagonal, self.lengths = K.diagonal().copy(), np.einsum("ij,ij->i", K, K)

    def _column(self, row: int) -> Vector:
        return self.K[row] - self.V[:, row] @ self.V

    def _product(self, k: Vector) -> Vector:
        return self.K @ k - (self.V @ k) @ self.V

    def _remember(self, row: int, k: Vector, scale: float) -> None:
        self.V = np.vstack([self.V, k / np.sqrt(scale)])


class Linear(_Design):
    """K = X A Xᵀ with a small matrix A, which alone is deflated."""

    def __init__(self, X: npt.NDArray[Any], ridge: float) -> None:
        self.X, self.ridge = X.astype(np.float64), ridge
        self.A = np.eye(X.shape[1])
        self.diagonal = np.einsum("ij,ij->i", self.X, self.X)
        self.lengths = np.einsum("ij,ij->i", self.X @ (self.X.T @ self.X), self.X)

    def _column(self, row: int) -> Vector:
        return self.X @ (self.A @ self.X[row])

    def _product(self, k: Vector) -> Vector:
        return self.X @ (self.A @ (self.X.T @ k))

    def _remember(self, row: int, k: Vector, scale: float) -> None:
        explained = self.A @ self.X[row]
        self.A -= np.outer(explained, explained) / scale
