"""One-line errors for failures in native code: a panic or abort of a library, or a truncated memory-mapped file."""

import ctypes
import mmap
import os
import re
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile

from .threads import ProcessWide

PANIC = re.compile(rb"^thread '.*panicked at", re.MULTILINE)  # printed by Rust before it raises an error
GAVE_UP = "a library aborted, which a damaged file can cause: write the input files again, or try them one by one"
CUT = "{} was truncated, or the disk became full, while it was in use: stop what else writes to it, and try again"
_descriptors = [2]  # of stderr: the last one is the real stderr, also while 2 is redirected


@contextmanager
def _buffered_stderr() -> Iterator[None]:
    """Buffer what native code writes to stderr, and write it at the end, unless it is the message of a Rust panic."""
    with ExitStack() as stack:
        try:
            os.fstat(2)
            held = stack.enter_context(TemporaryFile())
        except OSError:  # stderr is closed, or the disk is full
            yield
            return
        _flush()
        _descriptors.append(os.dup(2))
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            _flush()
            os.dup2(_descriptors[-1], 2)
            os.close(_descriptors.pop())
            held.seek(0)
            text = held.read()
            with suppress(OSError):
                os.write(2, b"" if PANIC.search(text) else text)


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # it may be closed, or None
        sys.stderr.flush()


without_panics = ProcessWide(_buffered_stderr)


@contextmanager
def exit_on_native_errors(status: int) -> Iterator[None]:
    """While the block runs, SIGBUS and SIGABRT end the process with this status and one line on stderr."""
    if not hasattr(signal, "SIGBUS"):
        yield
        return

    def end(number: int) -> None:
        text = CUT.format(_cut_file()) if number == signal.SIGBUS else GAVE_UP
        os.write(_descriptors[-1], f"mheal: {text}\n".encode(errors="backslashreplace"))
        os._exit(status)

    change = ctypes.CDLL(None).signal  # Python's handlers run too late: the failed instruction would repeat
    change.restype, change.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(end)
    before = {one: change(one, handler) for one in (signal.SIGBUS, signal.SIGABRT)}
    try:
        yield
    finally:
        for one, old in before.items():
            change(one, old)


def _cut_file() -> str:
    """The name of a mapped file that is shorter than its map, if the system lists maps."""
    with suppress(OSError):
        maps = Path("/proc/self/maps").read_text(errors="surrogateescape")
        for start, stop, offset, name in re.findall(r"^(\w+)-(\w+) \S+ (\w+) \S+ \d+ +(/.+)$", maps, re.MULTILINE):
            with suppress(OSError):  # it is deleted
                if os.stat(name).st_size <= int(offset, 16) + int(stop, 16) - int(start, 16) - mmap.PAGESIZE:
                    return repr(name)
    return "a file"
