"""A cache of compiled kernels on disk, so that only the first run on a machine compiles.

numba's own cache raises an error if its files are damaged or cannot be written, or if it finds no folder. This one then
compiles the kernel again. A file's name depends on all sources, its content has a checksum, and it is written
atomically. The folder is the one numba would use, else one for this user in the temporary folder, else none.
"""

import hashlib
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from glob import escape
from pathlib import Path
from typing import Any

import numba
from numba.core import event, serialize
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserWideCacheLocator

from ...runtime.files import replacing
from ...runtime.progress import COMPILING, Progress

DIGEST = hashlib.sha256().digest_size


class TemporaryLocator(UserWideCacheLocator):
    """A folder in the temporary folder. No other user may write to it, because the code in its files is run."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        user = os.getuid() if hasattr(os, "getuid") else 0
        self._folder = Path(tempfile.gettempdir()) / f"mheal-numba-{user}"
        self._cache_path = str(self._folder / self.get_suitable_cache_subpath(py_file))

    def ensure_cache_path(self) -> None:
        """Make the folder; raise an OSError if another user owns it or has access."""
        self._folder.mkdir(mode=0o700, exist_ok=True)
        found = self._folder.lstat()
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o77 or self._folder.is_symlink()):
            raise PermissionError(f"{self._folder} belongs to somebody else")
        super().ensure_cache_path()


class _Implementation(CompileResultCacheImpl):
    _locator_classes = (*CompileResultCacheImpl._locator_classes, TemporaryLocator)


class KernelFiles:
    """The files of a kernel, one with a checksum for each signature."""

    def __init__(self, folder: str, name: str, sources: str) -> None:
        self.folder, self.name, self.sources = Path(folder), name, sources

    def load(self, key: Any) -> Any:
        """What was saved; None if the file is damaged."""
        content = self._file(key).read_bytes()
        whole = hashlib.sha256(content[DIGEST:]).digest() == content[:DIGEST]
        return pickle.loads(content[DIGEST:]) if whole else None

    def save(self, key: Any, data: Any) -> None:
        """Write a file, and remove the files made from other versions of the sources."""
        content = serialize.dumps(data)
        with replacing(self._file(key)) as part:
            part.write_bytes(hashlib.sha256(content).digest() + content)
        own = f"{escape(self.name)}."
        for other in set(self.folder.glob(f"{own}*.kernel")) - set(self.folder.glob(f"{own}{self.sources}.*")):
            other.unlink(missing_ok=True)

    def _file(self, key: Any) -> Path:
        return self.folder / f"{self.name}.{self.sources}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.kernel"


class KernelCache(FunctionCache):
    """The cache of one kernel. If it fails in any way, the kernel is compiled."""

    _impl_class = _Implementation

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self._cache_file = KernelFiles(self.cache_path, self._impl.filename_base, _sources())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """A kernel for this signature, or None."""
        with suppress(Exception):  # unreadable, or of a build of numba that cannot read it
            return super().load_overload(sig, target_context)
        return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a kernel for later runs, if that is possible."""
        with suppress(Exception):  # a full disk, or a folder that has become read-only
            super().save_overload(sig, data)


def cached(dispatcher: Any) -> Any:
    """The same kernel, cached on disk if there is a folder for it."""
    with suppress(Exception):  # numba raises a RuntimeError if there is none
        dispatcher._cache = KernelCache(dispatcher.py_func)
    return dispatcher


@cache
def _sources() -> str:
    """A digest of numba's version and bounds checks and of all kernel files, since kernels inline one another."""
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    for file in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


class _Listener(event.Listener):
    """Reports the first time that a kernel is compiled."""

    def __init__(self, report: Progress) -> None:
        self.report, self.reported = report, False

    def on_start(self, begun: Any) -> None:
        """numba calls this before it compiles any function, including its own."""
        ours = begun.data["dispatcher"].py_func.__module__.startswith(f"{__package__}.")
        if ours and not self.reported:
            self.reported = True
            self.report(0, 0, COMPILING)

    def on_end(self, ended: Any) -> None:
        """numba calls this when the function is compiled."""


@contextmanager
def compiling_reported(report: Progress) -> Iterator[None]:
    """Within the block, report the first kernel that has to be compiled: compiling takes a while."""
    with event.install_listener("numba:compile", _Listener(report)):
        yield
