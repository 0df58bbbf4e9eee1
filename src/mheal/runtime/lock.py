"""A lock between processes. The system releases it when a process ends, also when it is killed."""

import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


class Lock:
    """A file that one process locks at a time. Where the system has no such locks, it does nothing."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._held: IO[bytes] | None = None

    def take(self) -> None:
        """Lock it; BlockingIOError if another process has."""
        while fcntl is not None and self._held is None:
            held = self.file.open("ab")
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                held.close()
                raise
            except OSError:  # a file system without locks
                pass
            if _is_at(held, self.file):
                self._held = held
            else:  # its former owner deleted the file after we opened it: a lock on it would exclude nobody
                held.close()

    def drop(self) -> None:
        """Release it, and delete the file."""
        if self._held is not None:
            self.file.unlink(missing_ok=True)  # first: once it is closed, the file may be another process's
            self._held.close()
            self._held = None


def _is_at(opened: IO[bytes], file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened.fileno()), file.stat())
    except FileNotFoundError:
        return False
