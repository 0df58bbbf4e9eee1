"""One line of error for signals that end a process: a mapped file is cut (SIGBUS), a library aborts (SIGABRT)."""

import ctypes
import mmap
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .panics import descriptors

GAVE_UP = "a library gave up, as some do on a damaged file: make the input files anew, or try them one by one"
CUT = "{} became shorter, or the disk full, while it was in use: end what else writes to it, and try again"


@contextmanager
def last_words(status: int) -> Iterator[None]:
    """While the block runs, SIGBUS and SIGABRT end the process with one line on stderr and this exit status."""
    if not hasattr(signal, "SIGBUS"):
        yield
        return

    def end(number: int) -> None:
        text = CUT.format(_cut_file()) if number == signal.SIGBUS else GAVE_UP
        os.write(descriptors[-1], f"mheal: {text}\n".encode(errors="backslashreplace"))
        os._exit(status)

    change = ctypes.CDLL(None).signal  # Python's own handlers run too late: the instruction that failed is repeated
    change.restype, change.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    before = {one: change(one, handler) for one in (signal.SIGBUS, signal.SIGABRT)}
    try:
        yield
    finally:
        for one, old in before.items():
            change(one, old)


def _cut_file() -> str:
    """A mapped file that is shorter than its map, where the system lists them."""
    with suppress(OSError):
        maps = Path("/proc/self/maps").read_text(errors="surrogateescape")
        for start, stop, offset, name in re.findall(r"^(\w+)-(\w+) \S+ (\w+) \S+ \d+ +(/.+)$", maps, re.MULTILINE):
            with suppress(OSError):  # it is deleted
                if os.stat(name).st_size <= int(offset, 16) + int(stop, 16) - int(start, 16) - mmap.PAGESIZE:
                    return repr(name)
    return "a file"
