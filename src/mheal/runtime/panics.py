"""What Rust prints when it panics over a damaged file is kept off stderr: the error that follows says it in a line."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from tempfile import TemporaryFile

from .threads import ProcessWide

PANIC = re.compile(rb"^thread '.*panicked at", re.MULTILINE)
descriptors = [2]  # of stderr: the last one is where it goes, also while 2 is held back


@contextmanager
def _held_back() -> Iterator[None]:
    """Hold back what is written to stderr. It follows afterwards, unless Rust has panicked.

    Rust writes to the file descriptor itself, before anyone can know that it will.
    """
    with ExitStack() as stack:
        try:
            os.fstat(2)
            held = stack.enter_context(TemporaryFile())
        except OSError:  # stderr is closed, or there is no room
            yield
            return
        _flush()
        descriptors.append(os.dup(2))
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            _flush()
            os.dup2(descriptors[-1], 2)
            os.close(descriptors.pop())
            held.seek(0)
            text = held.read()
            with suppress(OSError):
                os.write(2, b"" if PANIC.search(text) else text)


def _flush() -> None:
    with suppress(OSError, ValueError, AttributeError):  # it may be closed, or None
        sys.stderr.flush()


without_panics = ProcessWide(_held_back)
