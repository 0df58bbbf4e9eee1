"""Features without a network: principal components of numbers, edges of images.

Edges are histograms of gradients over a grid of about 8 × 8 cells (Dalal and Triggs 2005). A histogram has nine
directions, and pixels are weighted by the length of their gradient. Each cell is normalised by its neighbourhood, which
removes differences of contrast.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.progress import Progress
from ..runtime.threads import single_threaded_blas, spans
from ..sphere import FEW, to_sphere

Floats = npt.NDArray[np.float32]

COMPONENTS = 64  # largest number of principal components
VARIANCE = 0.9  # share of the variance to keep
GRID = 8  # approximate number of cells along the shorter side
DIRECTIONS = 9
FAINT = 0.01  # keeps noise in uniform areas small
CLIP = 0.2  # limits the influence of one strong edge in its cell
TOGETHER = 64  # images that are processed together
NO_EDGES = 0.1  # if the rows of edges are shorter (root mean square), they are noise


def pca(X: npt.NDArray[Any], seed: int) -> tuple[npt.NDArray[Any], str]:
    """The principal components with 90 % of the variance, at most 64, and a description."""
    from sklearn.decomposition import PCA

    most = min(COMPONENTS, len(X) - 1, X.shape[1])
    if most == 0:
        return X, f"{X.shape[1]:,} columns (PCA needs two different rows)"
    model = PCA(most, svd_solver="randomized", random_state=seed)
    with single_threaded_blas(), np.errstate(invalid="ignore"):  # the same numbers on any number of cores
        Z = model.fit_transform(X)
    held = np.cumsum(np.nan_to_num(model.explained_variance_ratio_, nan=0.0))  # NaN where all rows are equal
    n = min(most, int(np.searchsorted(held, VARIANCE)) + 1)
    description = f"PCA to {n} column{'s' if n > 1 else ''} ({100 * held[n - 1]:.0f} % of the variance)"
    return np.ascontiguousarray(Z[:, :n], np.float32), description


def shapes(images: Floats, seed: int, progress: Progress | None = None) -> tuple[npt.NDArray[Any], str]:
    """Principal components of pixels and of edges, side by side with equal weight, and a description.

    Without edges in the images, only pixels are used.
    """
    pixels, of_pixels = pca(images.reshape(len(images), -1), seed)
    found, of_edges = pca(edges(images, progress), seed)
    if len(images) == 1 or not found.any() or _mean_length(found) < NO_EDGES:
        return to_sphere(pixels), of_pixels
    parts = [part / _mean_length(part) if part.shape[1] < FEW else to_sphere(part) for part in (pixels, found)]
    return to_sphere(np.hstack(parts)), f"pixels: {of_pixels}, edges: {of_edges}"


def edges(images: Floats, progress: Progress | None = None) -> Floats:
    """Edges of images (n, height, width) or (n, height, width, channels): a row of numbers from 0 to .2 for each."""
    from .pixels import in_chunks

    parts = [images[lo:hi] for lo, hi in spans(len(images), TOGETHER)]
    return np.concatenate(in_chunks(_edges, parts, "finding edges", progress))


def _edges(images: Floats) -> Floats:
    steep, direction = _gradients(images)
    n, height, width = steep.shape
    cell = max(2, round(min(height, width) / GRID))
    rows, columns = max(1, height // cell), max(1, width // cell)
    tops, lefts = (np.linspace(0, end, count + 1).astype(int)[:-1] for end, count in ((height, rows), (width, columns)))
    below = np.floor(direction)
    share = direction - below  # a pixel is divided between the two nearest directions
    found = np.empty((n, rows, columns, DIRECTIONS), np.float32)
    for one in range(DIRECTIONS):
        counted = steep * np.where(below % DIRECTIONS == one, 1 - share, 0)
        counted += steep * np.where((below + 1) % DIRECTIONS == one, share, 0)
        found[..., one] = np.add.reduceat(np.add.reduceat(counted, tops, axis=1), lefts, axis=2)
    energy = np.pad(np.square(found).sum(axis=3), ((0, 0), (1, 1), (1, 1)))
    around = sum(energy[:, i : i + rows, j : j + columns] for i in range(3) for j in range(3))
    found /= np.sqrt(around + np.float32(FAINT))[..., None]
    return np.minimum(found, np.float32(CLIP)).reshape(n, -1)


def _gradients(images: Floats) -> tuple[Floats, Floats]:
    """Length and direction of each pixel's gradient; 180° is 9. Of several channels, the steepest is used."""
    across, down = np.zeros_like(images), np.zeros_like(images)
    across[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    if images.ndim == 4:
        steepest = (across**2 + down**2).argmax(axis=3)[..., None]
        across, down = (np.take_along_axis(one, steepest, axis=3)[..., 0] for one in (across, down))
    turn = np.arctan2(down, across) % np.float32(np.pi)
    return np.hypot(across, down), turn * np.float32(DIRECTIONS / np.pi)


def _mean_length(X: npt.NDArray[Any]) -> float:
    """The root mean square of the rows' lengths; 1 if all are 0."""
    return float(np.sqrt(np.square(X, dtype=np.float64).sum(axis=1).mean())) or 1.0
