"""Measures of how well a subset X' of m rows matches the whole pool X of n: those of §7.2, and proper ones.

With the weights w = [row in X']/m − 1/n, every measure of pairs is a quadratic form, a sum of w_i w_j k(x_i, x_j). So
it is exactly 0 if X' is X.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import xlogy

from .pairwise import Kernel, Pairs, as_numpy

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
MEASURES = {
    "kl_mean": "ℓ_KL, mean images",
    "kl_rows": "ℓ_KL, image by image",
    "mmd": "ℓ_MMD, plain norms",
    "mmd_squared": "ℓ_MMD, squared norms",
    "mmd_mean": "MMD_μ",
    "rbf": "RBF-MMD",
    "energy": "energy distance",
    "cells": "KL over 100 k-means cells",
    "classes": "KL of class proportions",
}
CELLS = 100
PAIRS = 20_000  # for the β at which the image-by-image reading is 0
ORDERS = 200  # random orders of the pool, for the spread of random subsets
ORDERS_AT_ONCE = 10
CENTRAL = (0.025, 0.975)


class Statistics(NamedTuple):
    """The statistics of a loss in Table 2: its value at the first size, and mean and deviation over the sizes."""

    initial: float
    mean: float
    std: float

    @classmethod
    def of(cls, curve: Floats) -> "Statistics":
        """Of one curve over the sizes."""
        return cls(float(curve[0]), float(curve.mean()), float(curve.std(ddof=1)))


class Target:
    """A pool X in [0, 1], with labels y that only measure, and what is computed once for all subsets.

    `beta` is the paper's β of ℓ_KL, `gaussian` the kernel of RBF-MMD.
    """

    def __init__(self, pairs: Pairs, y: npt.NDArray[np.int64], beta: float, gaussian: Kernel) -> None:
        from sklearn.cluster import KMeans

        self.pairs, self.beta, self.gaussian = pairs, beta, gaussian
        X, xp = pairs.X, pairs.xp
        self.doubles = pairs.doubles(X)
        self.mean = as_numpy(self.doubles.mean(0))
        self.log = xp.log(X + beta)
        self.entropy = (X * xp.log(xp.where(X > 0, X, 1.0))).sum(1)  # Σ x log x of each image
        cells = KMeans(min(CELLS, len(X)), n_init=1, random_state=0).fit_predict(as_numpy(X))
        self.groups = {"cells": cells, "classes": np.unique(y, return_inverse=True)[1]}

    def measure(self, subsets: Sequence[Rows]) -> list[dict[str, float]]:
        """Every measure of every subset; rows are in pick order."""
        n = len(self.pairs)
        W = np.full((n, len(subsets)), -1.0 / n)
        for k, rows in enumerate(subsets):
            W[rows, k] = 1.0 / len(rows) - 1.0 / n
        kernels = (lambda D: D**0.5, lambda D: D, self.gaussian)
        plain, squared, rbf = self.pairs.forms(W, *kernels)
        shift = as_numpy(self.doubles.T @ self.pairs.doubles(W)).T  # μ' − μ
        return [
            {
                "kl_mean": printed_kl(self.mean, self.mean + shift[k], self.beta),
                "kl_rows": self._image_by_image(rows),
                "mmd": float(np.abs(plain[k]) ** 0.5),
                "mmd_squared": float(np.abs(squared[k]) ** 0.5),
                "mmd_mean": float(np.linalg.norm(shift[k])),
                "rbf": float(max(0.0, rbf[k]) ** 0.5),
                "energy": float(max(0.0, -plain[k])),
                **{name: smoothed_kl(group, group[rows]) for name, group in self.groups.items()},
            }
            for k, rows in enumerate(subsets)
        ]

    def facts(self) -> dict[str, float]:
        """Numbers of the pool that the verdicts use: trΣ, ℓ_KL at X' = X, and the β where random pairs give 0."""
        n = len(self.pairs)
        return {
            "n": n,
            "trace": float((self.doubles**2).sum()) / n - float(self.mean @ self.mean),
            "kl_mean": printed_kl(self.mean, self.mean, self.beta),
            "kl_rows": self._image_by_image(np.arange(n)),
            "beta": zero_beta(as_numpy(self.pairs.X)),
        }

    def _image_by_image(self, rows: Rows) -> float:
        """Mean over i of Σ_pixels x log(x/(x' + β)), x the i-th image of X and x' the i-th pick."""
        X, at = self.pairs.X[: len(rows)], self.pairs.array(rows)
        return float(self.pairs.doubles(self.entropy[: len(rows)] - (X * self.log[at]).sum(1)).mean())


def printed_kl(x: npt.NDArray[np.floating], other: npt.NDArray[np.floating], beta: float) -> float:
    """Σ x log(x/(x' + β)), as printed; not a divergence, since neither argument sums to 1."""
    return float(xlogy(x, x / (other + beta)).sum())


def smoothed_kl(whole: npt.NDArray[np.int64], part: npt.NDArray[np.int64]) -> float:
    """KL divergence of the part's group proportions from the whole's, each count raised by 1."""
    groups = int(whole.max()) + 1
    p, q = ((np.bincount(group, minlength=groups) + 1) / (len(group) + groups) for group in (whole, part))
    return float((p * np.log(p / q)).sum())


def zero_beta(X: npt.NDArray[np.floating]) -> float:
    """The β at which Σ x log(x/(x' + β)) is 0 on average over random pairs of rows."""
    order = np.random.default_rng(0).permutation(len(X))
    A, B = X[order[:PAIRS]].astype(np.float64), X[np.roll(order, 1)[:PAIRS]].astype(np.float64)
    drawn = A > 0
    A, B = A[drawn], B[drawn]
    return float(brentq(lambda beta: (A * np.log(A / (B + beta))).mean(), 1e-3, 10.0, xtol=1e-4))


def random_mean_shift(trace: float, m: npt.ArrayLike, n: int) -> Floats:
    """√(trΣ(1/m − 1/n)): the MMD_μ to expect of m rows drawn at random from n."""
    return np.sqrt(trace * (1.0 / np.asarray(m, np.float64) - 1.0 / n))


def random_spread(X: npt.NDArray[np.float32], sizes: Sequence[int], orders: int = ORDERS) -> dict[str, list[float]]:
    """The central 95 % of random orders, for the initial value, mean and std of MMD_μ; the last size is all of X.

    The rows that an order adds from one size to the next are a 0/1 vector, so many orders cost one matrix product.
    """
    rng, n, of = np.random.default_rng(0), len(X), np.asarray(sizes)
    part = np.searchsorted(of, np.arange(n), side="right")
    found = []
    for at in range(0, orders, ORDERS_AT_ONCE):
        added = np.zeros((min(ORDERS_AT_ONCE, orders - at), len(of), n), np.float32)
        for one in added:
            one[part, rng.permutation(n)] = 1
        sums = (added.reshape(-1, n) @ X).reshape(*added.shape[:2], -1).astype(np.float64)
        means = sums.cumsum(axis=1) / of[:, None]
        found += [Statistics.of(curve) for curve in np.linalg.norm(means - means[:, -1:], axis=2)]
    low, high = np.quantile(found, CENTRAL, axis=0)
    return {what: [low[k], high[k]] for k, what in enumerate(Statistics._fields)}
