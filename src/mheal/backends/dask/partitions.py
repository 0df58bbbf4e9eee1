"""The cluster that does the work, and a Dask array as it works on it: in parts, each read and worked on where it lies.

Every task is a function of its arguments alone: a partition, results of earlier tasks on it, and a few small arrays. So
when a worker is lost, Dask computes its share again, and results do not change.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from operator import getitem
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future, LocalCluster, get_client

from dask import delayed

from ...exceptions import UserError, UserTypeError
from ...runtime.threads import thread_count
from ...validation import as_array, refuse_dtype, refuse_nonfinite, refuse_shape

LARGE = 1 << 27  # bytes of a partition that are enough
EACH = 2  # partitions for each thread of the cluster, so that threads end together


@contextmanager
def connected(scheduler: str | None = None) -> Iterator[Client]:
    """A Dask client for the block: of the cluster at this address, or of our own for "local".

    None is the client that is active, or our own where there is none.
    """
    if scheduler is None:
        try:
            active = get_client()
        except ValueError:  # there is none
            scheduler = "local"
        else:
            yield active
            return
    if scheduler == "local":
        # A process for each core, so that no two share a lock.
        options = {"n_workers": thread_count(), "threads_per_worker": 1, "processes": True}
        quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
        with LocalCluster(**options, **quiet) as cluster, Client(cluster) as client:
            yield client
        return
    wrong = f"there is no Dask scheduler at {scheduler!r}: check the address (tcp://host:8786), or use 'local'"
    if "://" not in scheduler:
        raise UserError(wrong)
    try:
        client = Client(scheduler, timeout=10)
    except OSError as error:
        raise UserError(wrong) from error
    with client:
        yield client


def writable(value: Any) -> Any:
    """Arrays, those of a named tuple too, as kernels are compiled for: what came over the network is read-only."""
    if isinstance(value, np.ndarray):
        return value if value.flags.writeable else value.copy()
    return type(value)(*map(writable, value)) if hasattr(value, "_fields") else value


class Partitions:
    """The rows of a checked Dask array on a cluster; rows are numbered through all partitions."""

    def __init__(self, X: Any, client: Client, keep: bool | None = None) -> None:
        """Workers `keep` their parts, by default where that takes less than half their memory; else read them anew."""
        self.client, self.gather = client, client.gather
        X = _in_good_parts(X, client)
        self.shape = (int(X.shape[0]), int(X.shape[1]))
        sizes = np.array(X.chunks[0], np.int64)
        self.parts = [
            delayed(as_array, pure=True)(part) for part, size in zip(X.to_delayed().ravel(), sizes, strict=True) if size
        ]
        self.first = np.concatenate([[0], np.cumsum(sizes[sizes > 0])])
        self.dtype = as_array(np.zeros((1, 1), X.dtype)).dtype
        size = self.shape[0] * self.shape[1] * self.dtype.itemsize
        if size < _memory(client) / 2 if keep is None else keep:
            self.parts = client.persist(self.parts)

    def run(self, work: Callable[..., Any], arguments: Iterable[Sequence[Any]], shared: Sequence[Any] = ()) -> Any:
        """work(*arguments, *shared) for each tuple of arguments."""
        apply = delayed(work, pure=False)
        return self.client.compute([apply(*mine, *shared) for mine in arguments])

    def share(self, value: Any) -> Future:
        """A value that many tasks need: sent once, and sent again when it is lost."""
        return self.client.submit(_same, value, pure=False)

    def split(self, A: npt.NDArray[Any] | None) -> Sequence[Any]:
        """The rows' numbers by partition, on the workers; None for each where there are none."""
        if A is None:
            return [None] * len(self.parts)
        return [self.share(A[lo:hi]) for lo, hi in pairwise(self.first.tolist())]

    def join(self, futures: Sequence[Future]) -> npt.NDArray[Any]:
        """An array for each partition, one after the other on the client."""
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
        """Raise the error for the first partition where something found is NaN or infinite.

        An error inside a task would be logged by the worker, and could not name the row of the pool.
        """
        for part, first, numbers in zip(self.parts, self.first, found, strict=False):
            if not np.isfinite(numbers).all():
                refuse_nonfinite(self.client.compute(part).result(), int(first))


def checked(X: Any) -> Any:
    """X as an array of numbers with known chunks, or the error that says what to do."""
    if not hasattr(X, "to_delayed") or not hasattr(X, "rechunk"):
        raise UserTypeError(
            f"X is a {type(X).__name__}: pass a Dask array (frame.to_dask_array(lengths=True) makes one)"
        )
    refuse_dtype(X.dtype)
    if np.isnan([size for sizes in X.chunks for size in sizes]).any():
        X = X.copy().compute_chunk_sizes()
    refuse_shape(X.shape)
    return X


def _in_good_parts(X: Any, client: Client) -> Any:
    """Whole rows, in few and fat parts, yet enough of them that all threads have work."""
    threads = sum(client.nthreads().values()) or 1
    count = max(EACH * threads, -(-X.nbytes // LARGE))
    chunks = len(X.chunks[0])
    if chunks > 2 * count or (chunks < threads and len(X) > chunks):
        return X.rechunk((-(-X.shape[0] // count), -1))
    return X if len(X.chunks[1]) == 1 else X.rechunk({1: -1})


def _memory(client: Client) -> float:
    """Bytes that all workers may use."""
    limits = [worker["memory_limit"] for worker in client.scheduler_info(n_workers=-1)["workers"].values()]
    return sum(limit or np.inf for limit in limits)


def _same(value: Any) -> Any:
    return value
