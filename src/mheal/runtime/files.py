"""Files appear whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`, which takes its place if the block ends well."""
    _sweep(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _sweep(path: Path) -> None:
    """Remove what runs that were killed have left beside `path`."""
    prefix, suffix = f".{path.name}.", ".part"
    for name in os.listdir(path.parent) if path.parent.is_dir() else ():
        process = name[len(prefix) : -len(suffix)]
        if name.startswith(prefix) and name.endswith(suffix) and process.isdigit() and not _is_running(int(process)):
            path.with_name(name).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere asking would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True
