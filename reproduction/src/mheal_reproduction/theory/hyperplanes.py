"""Hyperplanes: a finite class of linear hypotheses under the logistic loss (§6.2). Labels are −1 and 1."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal.exceptions import UserError
from mheal.runtime.threads import single_threaded_blas, spans

Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

BLOCK = 1 << 17  # margins computed at a time, so that they fit in the cache


@dataclass(frozen=True, eq=False)
class Hyperplanes:
    """The hypotheses h(x) = w·x + b, one for each row of `weights`."""

    weights: Float32  # (hypotheses, columns)
    biases: Float32  # (hypotheses,)

    def __post_init__(self) -> None:
        if self.weights.ndim != 2 or self.biases.shape != self.weights.shape[:1]:
            raise UserError(f"weights {self.weights.shape} need one bias a row, got biases {self.biases.shape}")

    @classmethod
    def random(cls, n: int, columns: int, rng: np.random.Generator) -> "Hyperplanes":
        """`n` hyperplanes with weights and bias from N(0, 1), as in the paper."""
        return cls(rng.standard_normal((n, columns), np.float32), rng.standard_normal(n, np.float32))

    def __len__(self) -> int:
        return len(self.biases)

    def margins(self, X: Float32, rows: Any = slice(None)) -> Float32:
        """h(x) of the hypotheses `rows` on every row of X: (rows of X, hypotheses)."""
        with single_threaded_blas():  # the same numbers whatever the number of cores
            margins: Float32 = X @ self.weights[rows].T
        margins += self.biases[rows]
        return margins

    def blocks(self, X: Float32) -> Iterator[tuple[slice, Float32]]:
        """The margins of all hypotheses, some rows of X at a time."""
        for low, high in spans(len(X), max(1, BLOCK // len(self))):
            yield slice(low, high), self.margins(X[low:high])

    def losses(self, X: Float32, y: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> Float64:
        """Σ_t weight_t · ℓ(h(x_t), y_t) / T of every hypothesis: the plain mean without weights.

        With weights Q_t / p_t it is the importance-weighted loss of IWAL (Eq. 13 as a mean), whose
        expectation is the plain mean.
        """
        y = np.asarray(y, np.float32)
        w = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
        used = np.flatnonzero(w)
        total = np.zeros(len(self))
        for part, z in self.blocks(X[used]):
            rows = used[part]
            total += w[rows].astype(np.float32) @ logistic(z * y[rows, None])
        return total / len(X)

    def errors(self, X: Float32, y: npt.ArrayLike) -> Float64:
        """The share of rows of X that each hypothesis puts on the wrong side; h(x) = 0 counts as 1."""
        y = np.asarray(y)
        wrong = np.zeros(len(self), np.int64)
        for part, z in self.blocks(X):
            wrong += ((z >= 0) != (y[part, None] > 0)).sum(axis=0)
        return wrong / len(X)

    def largest_loss(self, X: Float32) -> float:
        """The largest loss of any hypothesis on any row of X under either label: it scales losses to [0, 1]."""
        return max(float(logistic(-np.abs(z).max())) for _, z in self.blocks(X))


def logistic(margin: Any) -> Any:
    """log(1 + exp(−margin)), stable for margins of any size."""
    loss = np.asarray(np.exp(-np.abs(margin)))
    np.log1p(loss, out=loss)  # in place: temporary arrays took most of the time
    loss -= np.minimum(margin, 0)
    return loss[()]
