"""Files are written as a whole or not at all, read with errors of one line, and locked between processes."""

import csv
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from json import JSONDecodeError
from pathlib import Path
from typing import IO
from zipfile import BadZipFile

from ..exceptions import UserError, UserFileError

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

# What readers raise for a broken file, or one of another kind.
BROKEN = (ValueError, EOFError, BadZipFile, csv.Error, zlib.error, struct.error)
CUT = "it ends too early"  # what EOFErrors without a message mean
READERS = ("polars", "pyarrow", "_fastexcel")  # packages whose own errors say that a file is broken


@contextmanager
def replacing(path: Path, make_folder: bool = False) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`, which takes its place if the block ends well."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(path):
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        _sweep(path)
        try:
            yield part
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While the block writes a file or makes a folder, what the system refuses is a UserFileError that names it."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        reason, folder = first_line(error), path.parent
        if "requested and" in reason:  # how NumPy says that it could not write all
            reason = "the disk is full"
        if folder.is_file():
            reason = f"{str(folder)!r} is a file, not a folder"
        elif not folder.is_dir():
            raise UserFileError(f"there is no folder {str(folder)!r} to write {path.name} to: make it first") from error
        raise UserFileError(f"cannot write {str(path)!r}: {reason}") from error


@contextmanager
def reading(file: str | Path, hint: str = "") -> Iterator[None]:
    """While the block reads a file, what is wrong with the file is a UserError that names it.

    hint : what to check, in brackets, where the file is broken
    """
    file = Path(file)
    try:
        yield
    except UserError:
        raise
    except FileNotFoundError as error:
        raise UserFileError(f"there is no file {str(file)!r}") from error
    except OSError as error:
        raise UserFileError(f"cannot read {file.name}: {first_line(error, CUT)}") from error
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {file.name}: it is not UTF-8 text; save it as UTF-8") from error
    except JSONDecodeError as error:
        raise UserError(f"cannot read {file.name}: line {error.lineno} is not JSON ({error.msg})") from error
    except Exception as error:
        if not isinstance(error, BROKEN) and type(error).__module__.partition(".")[0] not in READERS:
            raise
        raise UserError(f"cannot read {file.name}: {first_line(error, CUT)}{hint}") from error


def first_line(error: BaseException, otherwise: str = "") -> str:
    """What an error says, in one line; `otherwise`, or its type, where it says nothing."""
    text = getattr(error, "strerror", None) or str(error)
    return text.splitlines()[0] if text else otherwise or type(error).__name__


def _sweep(path: Path) -> None:
    """Remove the temporary neighbours that killed runs have left."""
    for part in path.parent.glob(f".{escape(path.name)}.*.part") if os.name == "posix" else ():
        with suppress(ValueError, OSError):  # it is no process, or somebody else's
            try:
                os.kill(int(part.name.split(".")[-2]), 0)
            except ProcessLookupError:
                part.unlink()


class Lock:
    """A file that one process locks at a time, until it ends or is killed; does nothing where the system cannot."""

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
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(held.fileno()), self.file.stat()):
                    self._held = held
            if self._held is None:  # its former owner deleted the file after we opened it: this lock excludes nobody
                held.close()

    def drop(self) -> None:
        """Release it, and delete the file."""
        if self._held is not None:
            self.file.unlink(missing_ok=True)  # first: once it is closed, the file may be another process's
            self._held.close()
            self._held = None
