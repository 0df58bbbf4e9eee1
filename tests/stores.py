"""Stores of every backend, with sizes so small that pools of a few hundred rows run the code for large ones."""

import numpy as np
import pytest

from mheal.backends.cpu.points import Points
from mheal.backends.cpu.staging import Sizes

SMALL = Sizes(pass_rows=64, front_rows=40, task_rows=32, span_bytes=1, together=4)


class Memory:
    """Rows in this process."""

    def raw(self, X, sizes=SMALL):
        return Points.raw(X, sizes=sizes)

    def standardized(self, X):
        return Points.standardized(X, sizes=SMALL)


class Torch:
    """Rows on a torch device, or on the host and streamed through it."""

    def __init__(self, device, streamed=False):
        torch = pytest.importorskip("torch")
        self.tensor, self.device, self.streamed = torch.as_tensor, device, streamed

    def _made(self, make, X):
        from mheal.backends.torch.rows import Sizes

        small = Sizes(chunk=1, scores=1, picks=7, catch_up=50, share=4, first=3, burst=5, cached=8)
        if self.streamed:
            return make(X, self.device, X.nbytes / 3, small)
        return make(self.tensor(np.array(X), device=self.device), sizes=small)

    def raw(self, X):
        from mheal.backends.torch import Points

        return self._made(Points.raw, X)

    def standardized(self, X):
        from mheal.backends.torch import Points

        return self._made(Points.standardized, X)


class Dask:
    """Rows on the workers of a cluster, in parts of unequal length."""

    def __init__(self, client):
        self.client = client

    def _made(self, X, make):
        import dask.array

        from mheal.backends.dask import DaskRows, Partitions
        from mheal.backends.dask.rows import Sizes

        n = len(X)
        cuts = tuple(np.diff([0, *sorted({min(n, 1 + n // 3), min(n, 2 + n // 3), n})]).tolist())
        small = Sizes(front_rows=40, front_bytes=0, group_rows=3, local_bytes=0)
        pool = Partitions(dask.array.from_array(X, chunks=(cuts, -1)), self.client)
        return getattr(DaskRows, make)(pool, small)

    def raw(self, X):
        return self._made(X, "raw")

    def standardized(self, X):
        return self._made(X, "standardized")


def mixture(n=400, d=9, seed=0, integer=False, dtype=np.float64):
    rng = np.random.default_rng(seed)
    X = 3 * rng.normal(size=(5, d))[rng.integers(5, size=n)] + rng.normal(size=(n, d))
    return (np.round(X) if integer else X).astype(dtype)


def unit(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1)


def summed(rows, more, workers):
    """Work on a group. It is in this file because worker processes cannot import a test module."""
    return {"total": rows.array().sum(axis=0) + more}
