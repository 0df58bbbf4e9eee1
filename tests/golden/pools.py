"""Thirty-two pools on which every strategy's picks are recorded: real and synthetic rows, in every accepted type of X.

`POOLS` maps a name to a function that makes (X, labelled rows, their classes). Nothing here imports mheal.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

N_PICKS = 20  # of each strategy in each pool
FEW_PICKS = 6  # in pools of few rows


def _classes(X: Any) -> np.ndarray:
    """Three classes that follow the rows: thirds of a fixed random direction."""
    A = np.asarray(X, np.float64)
    direction = np.random.default_rng(7).normal(size=A.shape[1])
    return np.digitize(A @ direction, np.quantile(A @ direction, [1 / 3, 2 / 3]))


def _made(A: np.ndarray, n_labeled: int, wrap: Callable[[np.ndarray], Any] = lambda A: A) -> tuple[Any, Any, Any]:
    """The pool, `n_labeled` evenly spaced rows of it, and their classes."""
    A = np.asarray(A)
    rows = np.unique(np.linspace(0, len(A) - 1, n_labeled).astype(np.int64))
    return wrap(A), rows, _classes(A)[rows]


def _blobs(n: int, d: int, seed: int = 0, dtype: Any = np.float32) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (3 * rng.normal(size=(6, d))[rng.integers(6, size=n)] + rng.normal(size=(n, d))).astype(dtype)


def _grid() -> np.ndarray:
    """Integer points, with many ties."""
    return np.stack(np.meshgrid(np.arange(18), np.arange(18)), -1).reshape(-1, 2).astype(np.float32)


def _twice(A: np.ndarray) -> np.ndarray:
    return np.concatenate([A, A])[np.random.default_rng(1).permutation(2 * len(A))]


def _memmap(A: np.ndarray) -> np.ndarray:
    file = Path(tempfile.mkdtemp()) / "pool.npy"
    np.save(file, A)
    return np.load(file, mmap_mode="r")


def _torch(A: np.ndarray) -> Any:
    import torch

    return torch.as_tensor(A)


def _dask(A: np.ndarray) -> Any:
    import dask.array

    return dask.array.from_array(A, chunks=(len(A) // 3, A.shape[1]))


def _pandas(A: np.ndarray) -> Any:
    import pandas

    return pandas.DataFrame(A, columns=[f"c{j}" for j in range(A.shape[1])])


def _polars(A: np.ndarray) -> Any:
    import polars

    return polars.DataFrame({f"c{j}": A[:, j] for j in range(A.shape[1])})


def _words(n: int, width: int) -> np.ndarray:
    """Counts of words, mostly 0."""
    rng = np.random.default_rng(3)
    return (rng.random((n, width)) < 0.03).astype(np.float64) * rng.integers(1, 5, size=(n, width))


def _unit(A: np.ndarray) -> np.ndarray:
    return (A / np.linalg.norm(A, axis=1, keepdims=True)).astype(A.dtype)


def _heavy(n: int, d: int) -> np.ndarray:
    return np.random.default_rng(4).standard_t(2, size=(n, d)).astype(np.float32)


digits = load_digits().data
POOLS: dict[str, Callable[[], tuple[Any, Any, Any]]] = {
    "digits": lambda: _made(digits[:600], 80),
    "digits, float32": lambda: _made(digits[:600].astype(np.float32), 70),
    "digits, unit length": lambda: _made(_unit(digits[:500]), 66),
    "digits, int8": lambda: _made(digits[:400].astype(np.int8), 70),
    "digits, twice": lambda: _made(_twice(digits[:250]), 70),
    "breast cancer": lambda: _made(load_breast_cancer().data, 64),
    "wine": lambda: _made(load_wine().data, 30),
    "iris": lambda: _made(load_iris().data, 20),
    "iris, float16": lambda: _made(load_iris().data.astype(np.float16), 10),
    "blobs": lambda: _made(_blobs(800, 10), 100),
    "blobs, nothing labelled": lambda: _made(_blobs(700, 8, 1), 0),
    "blobs, float64": lambda: _made(_blobs(500, 6, 2, np.float64), 64),
    "blobs, far from 0": lambda: _made(_blobs(500, 6, 3, np.float64) + 1e6, 64),
    "blobs, 40 columns": lambda: _made(_blobs(1200, 40, 4), 128),
    "blobs, columns in Fortran's order": lambda: _made(np.asfortranarray(_blobs(400, 5, 5)), 64),
    "blobs, every second row": lambda: _made(_blobs(800, 5, 6)[::2], 64),
    "grid of integers": lambda: _made(_grid(), 40),
    "grid of integers, twice": lambda: _made(_twice(_grid()), 64),
    "bits": lambda: _made(np.random.default_rng(8).random((300, 12)) < 0.4, 40, lambda A: A.astype(bool)),
    "one column": lambda: _made(np.sort(_heavy(200, 1), axis=0), 20),
    "two columns": lambda: _made(_heavy(400, 2), 64),
    "heavy tails": lambda: _made(_heavy(600, 7), 70),
    "a constant column": lambda: _made(np.column_stack([_blobs(300, 4, 9), np.full(300, 5.0, np.float32)]), 64),
    "rows of length 0": lambda: _made(np.where(np.arange(300)[:, None] % 9 == 0, 0, _blobs(300, 6, 10)), 64),
    "memory map": lambda: _made(_blobs(900, 12, 11), 80, _memmap),
    "torch tensor": lambda: _made(_blobs(600, 12, 12), 80, _torch),
    "Dask array": lambda: _made(_blobs(600, 12, 13), 80, _dask),
    "sparse, wide": lambda: _made(_words(300, 700), 64, sparse.csr_matrix),
    "sparse, narrow": lambda: _made(_words(300, 60), 64, sparse.csr_matrix),
    "pandas frame": lambda: _made(_blobs(300, 5, 14), 64, _pandas),
    "polars frame": lambda: _made(_blobs(300, 5, 15), 64, _polars),
    "list of lists": lambda: _made(_blobs(120, 3, 16, np.float64), 20, lambda A: A.tolist()),
}
