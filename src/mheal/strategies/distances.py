"""Euclidean distances, block by block: no strategy holds the matrix of all pairs of a large pool."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..backends.cpu.distances import squared_distances
from ..runtime.threads import run_parts, spans, thread_count
from .common import sample

CELLS = 1 << 21  # distances that one thread holds at a time
WORKERS = 8  # at most, so that memory stays bounded on large machines


def by_blocks(
    A: npt.NDArray[Any], B: npt.NDArray[Any], reduce: Callable[[npt.NDArray[Any], slice], npt.NDArray[Any]]
) -> npt.NDArray[Any]:
    """reduce(‖a − b‖² of some rows of A with all of B, which rows), joined over all rows of A.

    Blocks are cut by the sizes alone, so the result does not depend on the threads.
    """
    parts = spans(len(A), max(1, CELLS // max(1, len(B))))

    def work(part: tuple[int, int]) -> npt.NDArray[Any]:
        return reduce(squared_distances(A[slice(*part)], B), slice(*part))

    return np.concatenate(run_parts(work, parts, min(thread_count(), WORKERS)))


def nearest_distance(A: npt.NDArray[Any], B: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Distance from each row of A to the nearest row of B."""
    return np.sqrt(by_blocks(A, B, lambda block, _: block.min(axis=1)))


def median_distance(Z: npt.NDArray[Any], rng: np.random.Generator) -> float:
    """The median distance between rows, of at most 1,000 sampled ones; 1 where it is 0. A scale for kernels."""
    A = Z[sample(np.arange(len(Z)), 1000, rng)]
    pairs = squared_distances(A, A)[np.triu_indices(len(A), 1)]
    return float(np.sqrt(np.median(pairs))) or 1.0 if len(pairs) else 1.0
