"""Keeping a memory-mapped pool within a limit: pages that were read can be given back at any time."""

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels.threads import between_parts

HEADROOM = 150_000_000  # bytes that all threads may read between two looks at what is in memory
_STATM = Path("/proc/self/statm")


def resident() -> int:
    """Bytes of this process that are in memory; 0 where the system does not say."""
    if not _STATM.exists():
        return 0
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def limited_pages(X: Any, limit: int) -> Iterator[None]:
    """While the block runs, give the pages of a memory-mapped X back whenever the process nears `limit` bytes.

    Reading on brings them back, from the system's cache if there is room for it, else from disk.
    """
    mapping = getattr(X, "_mmap", None)
    if not isinstance(X, np.memmap) or mapping is None or not hasattr(mmap, "MADV_DONTNEED") or not resident():
        yield
        return

    mapping.madvise(mmap.MADV_NOHUGEPAGE)  # else a row that is read alone may bring 2 MB with it

    def give_back() -> None:
        if resident() > limit - HEADROOM:
            mapping.madvise(mmap.MADV_DONTNEED)

    with between_parts(give_back):
        yield
