"""What Rust prints when it panics over a damaged file is kept off stderr: the error that follows says it in a line."""

import os
import sys
from contextlib import suppress
from tempfile import TemporaryFile
from threading import Lock
from typing import IO


class HeldStderr:
    """While a block runs, in any number of threads, stderr is held back; it follows afterwards, unless Rust panicked.

    Rust writes to the file descriptor itself, before anyone can know that it will. Where there is no stderr, or no
    room for a temporary file, nothing is held.
    """

    def __init__(self) -> None:
        self.stderr = 2  # where it is, held back or not
        self._lock, self._blocks, self._panicked = Lock(), 0, False
        self._held: IO[bytes] | None = None

    def __enter__(self) -> None:
        with self._lock:
            self._blocks += 1
            if self._blocks == 1:
                with suppress(OSError):
                    os.fstat(2)  # whether it is open
                    held = TemporaryFile()
                    _flush()
                    self.stderr = os.dup(2)
                    os.dup2(held.fileno(), 2)
                    self._held = held

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        with self._lock:
            self._blocks -= 1
            self._panicked |= kind is not None and kind.__name__ == "PanicException"
            if self._blocks:
                return
            panicked, self._panicked = self._panicked, False
            if self._held is None:
                return
            _flush()
            os.dup2(self.stderr, 2)
            os.close(self.stderr)
            with self._held as held, suppress(OSError):
                held.seek(0)
                if not panicked:
                    os.write(2, held.read())
            self.stderr, self._held = 2, None


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # it may be closed, or None
        sys.stderr.flush()


without_panics = HeldStderr()
