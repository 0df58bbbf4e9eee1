"""Synthetic pools, and functions that compare the picks of the contenders."""

from itertools import pairwise
from typing import Any

import numpy as np


def mixture(n: int, d: int, k_true: int = 50, seed: int = 0, spread: float = 6.0) -> np.ndarray:
    """Float32 rows of a Gaussian mixture with overlapping components of unequal sizes and anisotropic scales.

    Centres are about `spread` standard deviations of a component apart; with spread = 0 all components share a
    centre. Rows come in random order, so the first rows are a random sample.
    """
    rng = np.random.default_rng(seed)
    centres = (spread / np.sqrt(2 * d) * rng.standard_normal((k_true, d))).astype(np.float32)
    scales = np.exp(0.5 * rng.standard_normal((k_true, d))).astype(np.float32)
    scales *= rng.uniform(0.7, 1.4, (k_true, 1)).astype(np.float32)
    sizes = rng.dirichlet(np.full(k_true, 2.0))
    out = np.empty((n, d), np.float32)
    for lo in range(0, n, 1 << 16):  # in blocks, so that temporary arrays stay small
        part = out[lo : lo + (1 << 16)]
        member = rng.choice(k_true, len(part), p=sizes)
        rng.standard_normal(out=part, dtype=np.float32)
        part *= scales[member]
        part += centres[member]
    return out


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Divide each row by its norm, in place."""
    for lo in range(0, len(X), 1 << 16):
        part = X[lo : lo + (1 << 16)]
        part /= np.linalg.norm(part, axis=1, keepdims=True)
    return X


def on_grid(X: np.ndarray) -> np.ndarray:
    """Round to quarters: every float32 dot product is then exact, so that picks must be identical."""
    return np.round(X * 4) / np.float32(4)


def greedy_shortfall(X: np.ndarray, picks: np.ndarray) -> float:
    """Worst relative shortfall, in float64, of a pick's squared max-min distance from the farthest row's.

    0 says that every pick was the farthest row; about 1e-6 says that float32 rounding chose among ties.
    """
    X64 = np.asarray(X, np.float64)
    square = np.einsum("ij,ij->i", X64, X64)
    nearest = np.full(len(X64), np.inf)
    worst = 0.0
    for last, row in pairwise(picks):
        np.minimum(nearest, square - 2 * (X64 @ X64[last]) + square[last], out=nearest)
        worst = max(worst, 1 - nearest[row] / nearest.max())
    return float(worst)


def same_picks(ours: np.ndarray, theirs: np.ndarray) -> dict[str, Any]:
    """Compare two sequences of picks: as arrays, as sets, and by the first place where they differ."""
    a, b = (np.asarray(p).astype(np.int64).ravel() for p in (ours, theirs))
    n = min(len(a), len(b))
    differ = np.flatnonzero(a[:n] != b[:n])
    return {
        "identical": bool(len(a) == len(b) and not len(differ)),
        "fraction_equal": float(np.mean(a[:n] == b[:n])) if n else 1.0,
        "fraction_common": len(np.intersect1d(a, b)) / max(len(a), 1),
        "first_difference": int(differ[0]) if len(differ) else None,
    }
