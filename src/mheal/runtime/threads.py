"""Threads: how work is divided into parts, and the pool of threads that runs them.

Results do not depend on the number of threads: parts are chosen by the data alone, or do not affect results.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ContextDecorator, ExitStack, contextmanager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Part = TypeVar("Part")
Result = TypeVar("Result")

THREADS_VARIABLE = "MHEAL_NUM_THREADS"

_here = local()  # state of the calling thread


class ProcessWide(ContextDecorator):
    """A change to the whole process, made by the first thread that enters and undone by the last one that leaves."""

    def __init__(self, change: Callable[[], AbstractContextManager[Any]]) -> None:
        self._change, self._lock, self._inside, self._undo = change, Lock(), 0, ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._inside == 0:
                self._undo.enter_context(self._change())
            self._inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._inside -= 1
            if self._inside == 0:
                self._undo.close()


def thread_count() -> int:
    """Number of worker threads: MHEAL_NUM_THREADS, or every core this process may use; 1 inside `one_thread`."""
    if getattr(_here, "alone", False):
        return 1
    wanted = os.environ.get(THREADS_VARIABLE, "")
    if wanted.isdigit() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def one_thread() -> Iterator[None]:
    """While the block runs, the calling thread uses no other threads, since other work keeps the cores busy."""
    before, _here.alone = getattr(_here, "alone", False), True
    try:
        with single_threaded_blas():
            yield
    finally:
        _here.alone = before


@cache
def _controller() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  loads the BLAS that numba calls, so that the controller finds it

    return ThreadpoolController()


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="mheal")


if hasattr(os, "register_at_fork"):  # a forked child inherits the pool but none of its threads
    os.register_at_fork(after_in_child=_pool.cache_clear)


_one_thread_of_blas = ProcessWide(lambda: _controller().limit(limits=1, user_api="blas"))


def single_threaded_blas() -> ProcessWide:
    """Limit BLAS to one thread, since it is called from several threads of ours."""
    return _one_thread_of_blas


def run_parts(
    work: Callable[[Part], Result], parts: Sequence[Part], workers: int | None = None,
    yield_point: Callable[[], None] | None = None,
) -> list[Result]:  # fmt: skip
    """Results of `work`, which must release the GIL, on each part, in order; `yield_point` is called after each."""

    def one(part: Part) -> Result:
        result = work(part)
        if yield_point is not None:
            yield_point()
        return result

    workers = min(workers or thread_count(), len(parts))
    if workers <= 1:
        return [one(part) for part in parts]
    return list(_pool(workers).map(one, parts))


def spans(n: int, size: int) -> list[tuple[int, int]]:
    """Consecutive half-open spans of `size` that cover range(n)."""
    return [(lo, min(n, lo + size)) for lo in range(0, n, size)]


def shares(n: int, unit: int, count: int) -> list[tuple[int, int]]:
    """At most `count` spans that cover range(n), cut at multiples of `unit` only."""
    return spans(n, max(1, -(-n // (unit * count))) * unit)
