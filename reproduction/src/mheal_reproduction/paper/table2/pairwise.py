"""Distances between all pairs of a pool's rows, for orders and measures that use every pair.

The same code runs on NumPy arrays on the CPU and on torch tensors on a GPU.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

CELLS = 1 << 25  # pairs whose distances are computed at a time
CPU_ROOM = 1 << 31  # bytes that the matrix of all pairs may take on the CPU

Kernel = Callable[[Any], Any]  # squared distances → values, element by element


class Pairs:
    """Squared distances between the rows of X in float32, kept in memory if they fit, else computed when needed.

    room : bytes that the matrix of all pairs may take; None: a default for the device
    cells : pairs whose distances are computed at a time
    """

    def __init__(self, X: Any, room: int | None = None, cells: int = CELLS) -> None:
        self.X, self.cells = X, cells
        self.xp = np if isinstance(X, np.ndarray) else import_module("torch")
        self.norm2 = (X * X).sum(1)
        self.held: Any = None
        n = len(X)
        if 4 * n * n <= (_room(X) if room is None else room):
            matrix = self.xp.empty((n, n), dtype=X.dtype, device=X.device)
            for part, D in self.blocks():
                matrix[part] = D
            self.held = matrix

    def __len__(self) -> int:
        return len(self.X)

    def array(self, values: Any, dtype: Any = None) -> Any:
        """These values on the device of X."""
        return self.xp.asarray(values, dtype=dtype, device=self.X.device)

    def doubles(self, values: Any) -> Any:
        """The same in float64, for sums over many rows."""
        return self.array(values, self.xp.float64)

    def row(self, at: Any) -> Any:
        """Squared distances of all rows to the one whose number is in `at`, an array of length 1 on the device of X."""
        if self.held is not None:
            return self.held[at][0]
        D = self.norm2 + self.norm2[at] - 2 * (self.X @ self.X[at][0])
        D[at] = self.array([0], D.dtype)
        return self.xp.clip(D, 0, None, out=D)

    def blocks(self) -> Iterator[tuple[slice, Any]]:
        """Some rows at a time, and their squared distances to all."""
        n = len(self)
        step = max(1, self.cells // n)
        for lo in range(0, n, step):
            part = slice(lo, min(lo + step, n))
            yield part, self._block(part) if self.held is None else self.held[part]

    def _block(self, part: slice) -> Any:
        D = self.X[part] @ self.X.T
        D *= -2
        D += self.norm2[part][:, None]
        D += self.norm2
        own = self.xp.arange(len(D), device=self.X.device)
        D[own, own + part.start] = self.array([0], D.dtype)  # exactly, so that a root does not magnify rounding
        return self.xp.clip(D, 0, None, out=D)

    def means(self, kernel: Kernel) -> Any:
        """The mean of kernel(squared distance) from each row to all rows, in float64."""
        return self.xp.concatenate([self.doubles(kernel(D)).mean(1) for _, D in self.blocks()])

    def forms(self, W: Any, *kernels: Kernel) -> npt.NDArray[np.float64]:
        """Σ_ij w_i w_j kernel(‖x_i − x_j‖²) of each column w of W: (kernels, columns)."""
        W = self.doubles(W)
        total = self.xp.zeros((len(kernels), W.shape[1]), dtype=W.dtype, device=W.device)
        for part, D in self.blocks():
            for k, kernel in enumerate(kernels):
                total[k] += (W[part] * (self.doubles(kernel(D)) @ W)).sum(0)
        return as_numpy(total)


def greedy(pairs: Pairs, score: Any, update: Callable[[Any, Any], None], start: int) -> npt.NDArray[np.int64]:
    """All rows of the pool in pick order: `start`, then each time the row of the largest score.

    After each pick, update(score, D) changes the scores in place; D has the squared distances of all rows to the pick.
    No step waits for a result from the device, so a GPU stays busy.
    """
    xp = pairs.xp
    picked = xp.full((len(pairs),), start, dtype=xp.int64, device=pairs.X.device)
    never = xp.full((1,), -xp.inf, dtype=score.dtype, device=pairs.X.device)
    for t in range(len(picked)):
        at = picked[t : t + 1]
        if t:
            xp.argmax(score, axis=0, keepdims=True, out=at)
        update(score, pairs.row(at))
        score[at] = never
    return as_numpy(picked)


def match(pairs: Pairs, points: Any) -> npt.NDArray[np.int64]:
    """The nearest row of the pool to each point, no row twice: earlier points choose first."""
    xp = pairs.xp
    picked = xp.empty((len(points),), dtype=xp.int64, device=pairs.X.device)
    taken = xp.zeros(len(pairs), dtype=points.dtype, device=pairs.X.device)
    gone = xp.full((1,), xp.inf, dtype=points.dtype, device=pairs.X.device)
    step = max(1, pairs.cells // len(pairs))
    for lo in range(0, len(points), step):
        block = points[lo : lo + step]
        D = pairs.norm2 - 2 * (block @ pairs.X.T)  # each point's own length changes no order
        for i in range(len(block)):
            at = picked[lo + i : lo + i + 1]
            xp.argmin(D[i] + taken, axis=0, keepdims=True, out=at)
            taken[at] = gone
    return as_numpy(picked)


def on_device(X: npt.NDArray[Any]) -> Any:
    """X on the GPU, where torch finds one; else X itself."""
    torch = import_module("torch")
    return torch.as_tensor(X, device="cuda") if torch.cuda.is_available() else X


def as_numpy(values: Any) -> npt.NDArray[Any]:
    """Values of either kind as an array."""
    return values if isinstance(values, np.ndarray) else values.cpu().numpy()


def _room(X: Any) -> int:
    """Bytes that a matrix of all pairs may take: half of what a GPU has free."""
    if isinstance(X, np.ndarray) or not X.is_cuda:
        return CPU_ROOM
    return int(import_module("torch").cuda.mem_get_info(X.device)[0] // 2)
