"""A lock between processes. The system drops it when a process ends, so that one that was killed leaves none."""

import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]


class Lock:
    """A file that one process holds at a time; where the system has no such locks, it keeps nobody out."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._held: IO[bytes] | None = None

    def take(self) -> None:
        """Hold it; BlockingIOError if somebody else does."""
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
            else:  # whoever had it deleted the file after we opened it: it would lock nobody else out
                held.close()

    def drop(self) -> None:
        """Let it go, and leave no file behind."""
        if self._held is not None:
            self.file.unlink(missing_ok=True)  # first: once it is closed, the file may be somebody else's
            self._held.close()
            self._held = None


def _is_at(opened: IO[bytes], file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(opened.fileno()), file.stat())
    except FileNotFoundError:
        return False
