"""A Dask array as the cluster works on it: parts of its rows, each read and worked on where it lies.

Every task is a function of its arguments alone: a partition, results of earlier tasks on it, and a few small arrays. So
when a worker is lost, Dask computes its share again, and results do not change.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from distributed import Client, Future

from dask import delayed

from ...exceptions import UserTypeError
from ...runtime.threads import one_thread
from ...validation import as_array, refuse_dtype, refuse_shape

LARGE = 1 << 27  # bytes of a partition that are enough
EACH = 2  # partitions for each thread of the cluster, so that threads end together
Rows = npt.NDArray[np.int64]


def task(work: Callable[..., Any]) -> Callable[..., Any]:
    """A function that workers run: in one thread, since other partitions keep the other cores busy."""

    @wraps(work)
    def alone(*args: Any) -> Any:
        with one_thread():
            return work(*args)

    return alone


def writable(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A as the kernels are compiled for: what came over the network cannot be written to."""
    return A if A.flags.writeable else A.copy()


class Partitions:
    """The rows of a Dask array on a cluster; rows are numbered through all partitions."""

    def __init__(self, X: Any, client: Client, keep: bool | None = None) -> None:
        """Workers `keep` their parts, by default where that takes less than half their memory; else read them anew."""
        self.client = client
        X = _in_good_parts(checked(X), client)
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

    def __len__(self) -> int:
        return len(self.parts)

    def each(self, work: Callable[..., Any], *own: Sequence[Any], shared: Sequence[Any] = ()) -> list[Future]:
        """A pass over the rows: work(X, its first row, *its own, *shared) for each partition."""
        return self.run(work, zip(self.parts, self.first.tolist(), *own, strict=False), shared)

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
            return [None] * len(self)
        return [self.share(A[lo:hi]) for lo, hi in pairwise(self.first.tolist())]

    def join(self, futures: Sequence[Future]) -> npt.NDArray[Any]:
        """An array for each partition, one after the other on the client."""
        return np.concatenate(self.gather(futures))

    def gather(self, futures: Sequence[Future]) -> list[Any]:
        """Their results, on the client."""
        return list(self.client.gather(futures))

    def by_partition(self, rows: Rows) -> list[tuple[int, Rows, Rows]]:
        """(partition, places in `rows`, rows counted from its first) for each partition that holds any."""
        where = np.searchsorted(self.first, rows, side="right") - 1
        order = np.argsort(where, kind="stable")
        found, starts = np.unique(where[order], return_index=True)
        return [
            (int(p), places, rows[places] - self.first[p])
            for p, places in zip(found, np.split(order, starts)[1:], strict=True)
        ]


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
