"""The map: every row of the pool as a point. t-SNE places some of them, the others lie between their nearest ones."""

import struct

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from ..runtime.progress import Progress
from ..runtime.threads import spans
from .pool import Pool

LANDMARKS = 1_500  # rows that t-SNE places
NEAREST = 3  # landmarks between which another row lies
WIDTH = 50  # principal components that t-SNE reads
BLOCK = 4_096
SIDE = 65_535  # points have whole coordinates from 0 to this


def drawn_map(pool: Pool, progress: Progress, seed: int = 0, landmarks: int = LANDMARKS) -> bytes:
    """The map as the page reads it: how many points, whether row numbers follow; x and y of each; row numbers.

    All numbers are little-endian: two of 32 bits, two of 16 bits a point, one of 32 bits a row.
    """
    places = positions(pool, progress, seed, landmarks)
    low, high = places.min(axis=0), places.max(axis=0)
    scaled = (places - low) / max(float((high - low).max()), 1e-30)
    scaled += (1 - scaled.max(axis=0)) / 2  # in the middle
    rows = pool.source.rows
    head = struct.pack("<II", pool.n, rows is not None)
    tail = b"" if rows is None else rows.astype("<u4").tobytes()
    return head + np.round(scaled * SIDE).astype("<u2").tobytes() + tail


def positions(pool: Pool, progress: Progress, seed: int, landmarks: int) -> npt.NDArray[np.float32]:
    """Two coordinates of each row."""
    rng = np.random.default_rng(seed)
    some = np.sort(rng.choice(pool.n, min(landmarks, pool.n), replace=False))
    progress(0, pool.n, "arranging the map")
    placed = pool.points.take(some)
    corners = _arranged(placed, seed)
    found = np.empty((pool.n, 2), np.float32)
    norms = np.einsum("ij,ij->i", placed, placed)
    for lo, hi in spans(pool.n, BLOCK):
        block = pool.points.take(np.arange(lo, hi))
        away = norms - 2 * (block @ placed.T) + np.einsum("ij,ij->i", block, block)[:, None]
        found[lo:hi] = _between(np.maximum(away, 0), corners)
        progress(hi, pool.n, "drawing the map")
    found[some] = corners
    return found


def _arranged(rows: npt.NDArray[np.float32], seed: int) -> npt.NDArray[np.float32]:
    """Coordinates of a few rows by t-SNE; very few are placed by their first principal components."""
    width = min(WIDTH, *rows.shape)
    main = PCA(width, random_state=seed).fit_transform(rows)
    if len(rows) < 10 or not main.any():
        return np.pad(main, ((0, 0), (0, 2)))[:, :2].astype(np.float32)
    perplexity = min(30.0, (len(rows) - 1) / 3)
    tsne = TSNE(2, perplexity=perplexity, init="pca", max_iter=600, random_state=seed, n_jobs=1)
    with threadpool_limits(1):  # its parallel steps are tiny, and wait for each other on a busy machine
        return np.asarray(tsne.fit_transform(main), np.float32)


def _between(away: npt.NDArray[np.float32], corners: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """The mean of the nearest corners, weighted by the inverse squares of their squared distances."""
    k = min(NEAREST, away.shape[1])
    nearest, rows = np.empty((len(away), k), np.int64), np.arange(len(away))
    squared = np.empty((len(away), k))
    for at in range(k):  # faster than sorting
        nearest[:, at] = away.argmin(axis=1)
        squared[:, at] = away[rows, nearest[:, at]]
        away[rows, nearest[:, at]] = np.inf
    weight = (squared[:, :1] + 1e-12) ** 2 / (squared + 1e-12) ** 2
    weight /= weight.sum(axis=1, keepdims=True)
    return np.einsum("nk,nkd->nd", weight, corners[nearest]).astype(np.float32)
