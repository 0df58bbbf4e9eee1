"""Keeping memory-mapped files within a limit: pages that were read or written can be given back at any time."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np

from .threads import between_parts, thread_count

PART = 50_000_000  # bytes that a thread may touch between two looks at what is in memory
PAUSE = 0.005  # seconds between looks while code runs that does not work in parts
_STATM = Path("/proc/self/statm")
_maps: list[mmap.mmap] = []  # those whose pages are given back
_limits: list[int] = []  # in force now


def resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not say."""
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def headroom() -> int:
    """Bytes below a limit at which pages are given back."""
    return PART * (1 + thread_count())


def give_back_pages_of(A: Any) -> None:
    """Count a memory map, read or written, among those that `limited_pages` gives back while it is in force."""
    mapping = getattr(A, "_mmap", None)
    if not _limits or not isinstance(A, np.memmap) or mapping is None or not hasattr(mmap, "MADV_DONTNEED"):
        return
    with suppress(AttributeError, OSError):  # some systems know no huge pages
        mapping.madvise(mmap.MADV_NOHUGEPAGE)  # else a row that is read alone may bring 2 MB with it
    _maps.append(mapping)


@contextmanager
def limited_pages(X: Any, limit: int) -> Iterator[None]:
    """While the block runs, give the pages of memory maps back whenever the process nears `limit` bytes.

    Those are X, if it is one, and all that `give_back_pages_of` names meanwhile. Using them brings pages back, from the
    system's cache if there is room for it, else from disk.
    """
    if not resident():
        yield
        return
    before, over, threshold = len(_maps), Event(), limit - headroom()
    _limits.append(limit)
    give_back_pages_of(X)
    left = [0]  # bytes in memory after the last time: what was not a page of a file

    def give_back() -> None:
        now = resident()
        left[0] = min(left[0], now)
        if now > max(threshold, left[0] + PART // 2):  # else it would cost more than it frees
            for mapping in _maps:
                mapping.madvise(mmap.MADV_DONTNEED)
            left[0] = resident()

    def watch() -> None:
        while not over.wait(PAUSE):
            give_back()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        with between_parts(give_back):
            yield
    finally:
        over.set()
        watcher.join()
        _limits.pop()
        del _maps[before:]
