"""The images of Table 1 and Figure 9: how many are clustered, and which a seed draws."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.exceptions import UserError

DATASETS = ("mnist", "fashion_mnist")


def table_sizes(quick: bool) -> tuple[int, ...]:
    """The numbers of images that are clustered for Table 1, whose statistics are over these sizes."""
    return (500, 1000) if quick else (10_000, 20_000, 30_000, 40_000, 50_000, 60_000)


def figure_sizes(quick: bool) -> tuple[int, ...]:
    """The numbers of images for Figure 9, which begins at smaller ones."""
    return (*((200,) if quick else (1000, 5000)), *table_sizes(quick))


def drawn(total: int, n: int, seed: int) -> npt.NDArray[np.int64]:
    """The rows of the n images that this seed draws."""
    return np.random.default_rng(seed).permutation(total)[:n]


def draw_images(name: str, n: int, seed: int, data: Path | None) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """The n training images that this seed draws, as rows of pixels in [0, 1], and their labels."""
    X, y = load(name, n, data)
    rows = drawn(len(X), n, seed)
    return X[rows].reshape(n, -1).astype(np.float32) / np.float32(255), y[rows]


def load(name: str, n: int, data: Path | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """All training images, at least n, and their labels."""
    X, y = _load(name, data)
    if n > len(X):
        raise UserError(f"{name} has {len(X)} training images, and Table 1 needs {n}: get the whole dataset")
    return X, y


@lru_cache(maxsize=2)
def _load(name: str, data: Path | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    X, y = datasets.load(name, data)[:2]
    return X, y
