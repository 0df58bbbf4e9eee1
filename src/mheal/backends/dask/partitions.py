"""The Dask client, and the partitions of a Dask array, each of which is read and processed by a worker.

The result of a task depends only on its arguments: a partition, results of earlier tasks on it, and a few small arrays.
If a worker is lost, Dask repeats its tasks, and results do not change.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future, get_client

from dask import delayed

from ...exceptions import UserError, UserTypeError
from ...one_hot import column_moments, sample_rows
from ...runtime.threads import one_thread, thread_count
from ...validation import as_array, refuse_dtype, refuse_nonfinite, refuse_shape
from ..base import Float64, Floats
from ..cpu.points import Points

LARGE = 1 << 27  # largest size in bytes of a merged partition
EACH = 2  # merged partitions for each thread of the cluster, which balances the threads


def connected(scheduler: str | None = None) -> AbstractContextManager[Client]:
    """A Dask client for the cluster at this address; "local" starts one; None: the active client, else "local"."""
    if scheduler is None:
        with suppress(ValueError):  # no client is active
            return nullcontext(get_client())
    elif scheduler != "local":
        wrong = f"there is no Dask scheduler at {scheduler!r}: check the address (tcp://host:8786), or use 'local'"
        if "://" not in scheduler:
            raise UserError(wrong)
        try:
            return Client(scheduler, timeout=10)
        except OSError as error:
            raise UserError(wrong) from error
    # One process per core avoids a shared lock. The cluster stops with its client and listens on this machine only.
    options = {"n_workers": thread_count(), "threads_per_worker": 1, "processes": True}
    return Client(**options, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL)


def writable(value: Any) -> Any:
    """A writable copy of read-only arrays, also in named tuples: arrays from the network are read-only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return type(value)(*map(writable, value)) if hasattr(value, "_fields") else value


@dataclass(frozen=True)
class Transform:
    """How rows are scaled: standardised if moments are given, then projected to the sphere if `unit` is True."""

    moments: tuple[Float64, Float64] | None = None
    unit: bool = False

    def points(self, X: Floats, norms: Floats | None = None) -> Points:
        """These rows as a store in this process; `norms` may hold their lengths before projection."""
        points = Points.raw(X) if self.moments is None else Points.standardized(X, self.moments)
        if norms is not None:
            points = points.with_norms(norms)
        return points.unit() if self.unit else points


@one_thread()
def on_points(work: Callable[..., Any], transform: Transform, X: Floats, norms: Floats | None, *own: Any) -> Any:
    """Run `work` on the scaled rows of a partition and on its other arguments."""
    return work(transform.points(X, norms), *map(writable, own))


class Partitions:
    """The rows of a checked Dask array on a cluster. Row numbers count through all partitions."""

    def __init__(self, X: Any, client: Client, keep: bool | None = None) -> None:
        """Workers `keep` partitions in memory (default: if they take less than half of it), else read them again."""
        self.client, self.gather = client, client.gather
        threads = sum(client.nthreads().values()) or 1
        count, chunks = max(EACH * threads, -(-X.nbytes // LARGE)), len(X.chunks[0])
        if chunks > 2 * count or (chunks < threads and len(X) > chunks):
            X = X.rechunk((-(-X.shape[0] // count), -1))  # few large partitions, but enough for all threads
        elif len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        sizes = np.array(X.chunks[0], np.int64)
        self.parts = [
            delayed(as_array, pure=True)(part) for part, size in zip(X.to_delayed().ravel(), sizes, strict=True) if size
        ]
        self.first = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        self.dtype = as_array(np.zeros((1, 1), X.dtype)).dtype
        if keep is None:
            limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
            size = self.shape[0] * self.shape[1] * self.dtype.itemsize
            keep = size < sum(limit or np.inf for limit in limits) / 2
        if keep:
            self.parts = client.persist(self.parts)

    def run(self, work: Callable[..., Any], arguments: Iterable[Sequence[Any]], shared: Sequence[Any] = ()) -> Any:
        """work(*arguments, *shared) for each tuple of arguments."""
        apply = delayed(work, pure=False)
        return self.client.compute([apply(*mine, *shared) for mine in arguments])

    def share(self, value: Any) -> Future:
        """Send a value to the cluster once, for many tasks; it is sent again if it is lost."""
        return self.client.submit(_same, value, pure=False)

    def split(self, A: npt.NDArray[Any] | None) -> Sequence[Any]:
        """Send each partition its part of A, which has one entry a row; a list of None if A is None."""
        if A is None:
            return [None] * len(self.parts)
        return [self.share(A[lo:hi]) for lo, hi in pairwise(self.first.tolist())]

    def join(self, futures: Sequence[Future]) -> npt.NDArray[Any]:
        """Concatenate the arrays of all partitions on the client."""
        return np.concatenate(self.gather(futures))

    def take(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """These rows, on the client."""
        where = np.searchsorted(self.first, rows, side="right") - 1
        order = np.argsort(where, kind="stable")
        used, starts = np.unique(where[order], return_index=True)
        places = np.split(order, starts)[1:]
        wanted = [(self.parts[p], rows[at] - self.first[p]) for p, at in zip(used, places, strict=True)]
        out = np.empty((len(rows), self.shape[1]), self.dtype)
        for at, piece in zip(places, self.gather(self.run(getitem, wanted)), strict=True):
            out[at] = piece
        return out

    def refuse_nonfinite(self, found: Sequence[npt.NDArray[Any]]) -> None:
        """Raise the error for the first partition with a result that is not finite; tasks do not know row numbers."""
        for part, first, numbers in zip(self.parts, self.first, found, strict=False):
            if not np.isfinite(numbers).all():
                refuse_nonfinite(self.client.compute(part).result(), int(first))


def standardizing(pool: Partitions) -> Transform:
    """The transform to columns of mean 0 and standard deviation 1. The error for NaN and infinity names the row."""
    n = pool.shape[0]
    shift = pool.take(np.arange(1))[0].astype(np.float64)
    parts = [(Points.moment_sums, Transform(), part, None, shift) for part in pool.parts]
    sums = pool.gather(pool.run(on_points, parts))
    pool.refuse_nonfinite(sums)
    mean, deviation = column_moments(np.sum(sums, axis=0), shift, n, pool.take(sample_rows(n)))
    if not np.isfinite(deviation).all():
        raise UserError(f"column {int(np.isfinite(deviation).argmin())} of X overflows: rescale it")
    return Transform((mean, deviation))


def checked(X: Any) -> Any:
    """X as a Dask array of numbers with known chunk sizes, or an error with the remedy."""
    if not hasattr(X, "to_delayed") or not hasattr(X, "rechunk"):
        raise UserTypeError(
            f"X is a {type(X).__name__}: pass a Dask array (frame.to_dask_array(lengths=True) makes one)"
        )
    refuse_dtype(X.dtype)
    if np.isnan([size for sizes in X.chunks for size in sizes]).any():
        X = X.copy().compute_chunk_sizes()
    refuse_shape(X.shape)
    return X


def _same(value: Any) -> Any:
    return value
