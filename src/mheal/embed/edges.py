"""What images show, without a network: their pixels, and which way edges run in each part of them.

Edges are histograms of gradients over a grid of about 8 × 8 cells (Dalal and Triggs 2005): nine directions, each pixel
counted by how steep it is there, the cell measured against those around it, so that light and contrast do not matter.
"""

import numpy as np
import numpy.typing as npt

from ..runtime.progress import Progress
from .images import in_chunks

Floats = npt.NDArray[np.float32]

GRID = 8  # cells along the shorter side, more or less
DIRECTIONS = 9
FAINT = 0.01  # keeps noise in even areas small
CLIP = 0.2  # one strong edge is not all there is in a cell
TOGETHER = 64  # images that are worked on together


def edges(images: Floats, progress: Progress | None = None) -> Floats:
    """Of images (n, height, width) or (n, height, width, channels) a row of numbers from 0 to .2 each."""
    parts = [slice(lo, lo + TOGETHER) for lo in range(0, len(images), TOGETHER)]
    return np.concatenate(in_chunks(lambda part: _edges(images[part]), parts, "finding edges", progress))


def _edges(images: Floats) -> Floats:
    steep, direction = _gradients(images)
    n, height, width = steep.shape
    cell = max(2, round(min(height, width) / GRID))
    rows, columns = max(1, height // cell), max(1, width // cell)
    tops, lefts = (np.linspace(0, end, count + 1).astype(int)[:-1] for end, count in ((height, rows), (width, columns)))
    below = np.floor(direction)
    share = direction - below  # between two directions a pixel counts for both
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
    """How steep each pixel is, and which way, from 0 to 9 for half a turn; of colours the steepest."""
    across, down = np.zeros_like(images), np.zeros_like(images)
    across[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    if images.ndim == 4:
        steepest = (across**2 + down**2).argmax(axis=3)[..., None]
        across, down = (np.take_along_axis(one, steepest, axis=3)[..., 0] for one in (across, down))
    turn = np.arctan2(down, across) % np.float32(np.pi)
    return np.hypot(across, down), turn * np.float32(DIRECTIONS / np.pi)
