"""A memory limit: pages of memory-mapped files are freed when the process approaches it."""

import mmap
import os
import re
from contextlib import suppress
from numbers import Integral
from pathlib import Path
from threading import Event, Thread
from typing import Any
from zipfile import ZipFile

import numpy as np

from ..exceptions import UserError, UserTypeError
from .threads import thread_count

PART = 50_000_000  # bytes that a thread may access between two checks of the memory in use
PAUSE = 0.005  # seconds between checks by the thread, for code that does not call yield_point
_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not report it."""
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def available() -> int:
    """Bytes of free memory, at most the limit of the control group; very large if the system reports neither."""
    found = [2**63]
    with suppress(OSError):
        free = re.search(r"MemAvailable: *(\d+) kB", Path("/proc/meminfo").read_text())
        found += [1024 * int(free[1])] if free else []
    with suppress(OSError, ValueError):  # "max": no limit
        found.append(int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return min(found)


def unpacked(file: Path) -> int:
    """The unpacked size of a ZIP archive by its directory. Raises an error if less memory is free."""
    with ZipFile(file) as archive:
        total = sum(member.file_size for member in archive.infolist())
    if total > available():
        raise UserError(f"{file.name} unpacks to {total / 1e9:.3g} GB, more than the free memory")
    return total


def memory_map(A: Any) -> np.memmap[Any, Any] | None:
    """The memory map that A is, or a view of; None for other arrays."""
    while isinstance(A, np.ndarray) and not isinstance(A, np.memmap):
        A = A.base
    return A if isinstance(A, np.memmap) else None


def headroom() -> int:
    """How many bytes below the limit pages begin to be freed."""
    return PART * (1 + thread_count())


class MemoryLimit:
    """Keeps the process below `limit` bytes by freeing pages of memory maps, if the system reports the memory in use.

    A row store calls `yield_point` between parts of its work. Inside a `with` block, a thread calls it for code that
    does not. Freed pages are read again when they are used.
    """

    def __init__(self, limit: Any) -> None:
        if not isinstance(limit, Integral):
            raise UserTypeError(f"memory_limit must be a number of bytes such as 10**9, got {limit!r}")
        self.limit = int(limit)
        self._maps: list[mmap.mmap] = []
        self._left = 0  # bytes that were in use after pages were last freed
        self._over = Event()

    def add(self, A: Any) -> None:
        """Register a memory map, or a view of one, whose pages may be freed. Other arrays are ignored."""
        mapping = getattr(memory_map(A), "_mmap", None)
        if mapping is None or not hasattr(mmap, "MADV_DONTNEED"):
            return
        with suppress(AttributeError, OSError):  # some systems have no huge pages
            mapping.madvise(mmap.MADV_NOHUGEPAGE)  # otherwise reading one row may load 2 MB
        if mapping not in self._maps:
            self._maps.append(mapping)

    def yield_point(self) -> None:
        """Free pages if the process is near the limit."""
        now = resident()
        self._left = min(self._left, now)
        if now > max(self.limit - headroom(), self._left + PART // 2):  # unless little would be freed
            for mapping in self._maps:
                mapping.madvise(mmap.MADV_DONTNEED)
            self._left = resident()

    def __enter__(self) -> "MemoryLimit":
        self._over.clear()
        self._watcher = Thread(target=self._watch, daemon=True)
        self._watcher.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._watcher.join()

    def _watch(self) -> None:
        while not self._over.wait(PAUSE):
            self.yield_point()
