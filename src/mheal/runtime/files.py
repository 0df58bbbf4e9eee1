"""Files: atomic writing, reading with one-line errors, and locks between processes."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from glob import escape
from json import JSONDecodeError
from pathlib import Path
from secrets import token_hex
from traceback import walk_tb
from typing import IO

from ..exceptions import UserError, UserFileError
from .native import without_panics

try:
    import fcntl
except ImportError:  # not a Unix
    fcntl = None  # type: ignore[assignment]

BROKEN = (ValueError, EOFError)  # raised by readers for a damaged file or another format
READERS = {"polars", "pyarrow", "_fastexcel", "pyo3_runtime", "numpy"}  # any error of these libraries means the same
READERS |= {"zipfile", "json", "ast", "tokenize", "_csv", "zlib", "struct"}
MISTYPED = (AttributeError, TypeError, KeyError, IndexError)  # raised when values have an unexpected type
CUT = "it ends too early"  # for EOFErrors without a message
LOCK = ".mheal-lock"
KIND = " (is it complete, and what its name says?)"  # hint if a library cannot read a file
OWN_NAME = 50  # characters of a file's name that begin the name of its temporary file
PART = re.compile(r"\..*\.[0-9a-f]{16}\.part")  # names of temporary files


class OtherRun(UserError):
    """The folder holds another unfinished run, or another process is using it."""


@contextmanager
def replacing(path: Path, make_folder: bool = False) -> Iterator[Path]:
    """Yield a temporary file, which replaces `path` and keeps its mode if the block raises no error.

    The content is synced to disk before, so that a crash leaves no partial file. If `path` is a link, its target is
    replaced. A device, a pipe, or a file that another call has yielded is written directly.
    """
    with writing(path):
        path = Path(os.path.realpath(path)) if path.is_symlink() else path
        if make_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        if PART.fullmatch(path.name) or (path.exists() and not path.is_file() and not path.is_dir()):
            yield path
            return
        mine = f".{path.name[:OWN_NAME]}."
        _sweep(path.parent, mine)
        part = path.with_name(f"{mine}{token_hex(8)}.part")
        held = _locked(part, "xb", wait=True)
        try:
            yield part
            with part.open("r+b") as written:
                os.fsync(written.fileno())
            if path.exists():
                part.chmod(stat.S_IMODE(path.stat().st_mode))
            part.replace(path)
            if os.name == "posix":  # other systems cannot open folders
                folder = os.open(path.parent, os.O_RDONLY)
                try:
                    os.fsync(folder)
                finally:
                    os.close(folder)
        finally:
            part.unlink(missing_ok=True)
            held.close()


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn an OSError of the block, which writes a file or makes a folder, into a UserFileError that names `path`."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        reason = first_line(error)
        if "requested and" in reason:  # NumPy's message after an incomplete write
            reason = "the disk is full"
        refuse_folder(path)
        raise UserFileError(f"cannot write {str(path)!r}: {reason}") from error


def refuse_folder(file: Path, make_folder: bool = False) -> None:
    """Raise an error if the folder of a file to write is a file or, unless it will be made, does not exist."""
    folder = file.parent
    if os.path.exists(folder) and not os.path.isdir(folder):  # unlike Path.exists, raises no error without permission
        raise UserFileError(f"cannot write {file.name}: {str(folder)!r} is a file, not a folder")
    if not make_folder and not os.path.exists(folder):
        raise UserFileError(f"there is no folder {str(folder)!r} to write {file.name} to: make it first")


@contextmanager
def reading(file: str | Path, hint: str = "", content: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn errors that a bad file causes in the block into a UserError that names the file.

    hint : what to check, in brackets, if the file is damaged
    content : further types of errors that the content may cause, such as MISTYPED for JSON
    """
    file = Path(file)
    try:
        with without_panics if file.suffix.lower() == ".parquet" else nullcontext():
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
    except MemoryError as error:
        raise UserError(f"cannot read {file.name}: its header declares more than fits into memory{hint}") from error
    except content as error:
        raise UserError(f"cannot read {file.name}: it holds values of a wrong type{hint}") from error
    except BaseException as error:  # a panic in Rust is not an Exception
        if not isinstance(error, BROKEN) and not _by_reader(error):
            raise
        hint = hint or (KIND if _by_reader(error) else "")
        raise UserError(f"cannot read {file.name}: {first_line(error, CUT)}{hint}") from error


def _by_reader(error: BaseException) -> bool:
    """Whether one of READERS raised or defines this error."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)] if isinstance(error, Exception) else []
    by = [type(error).__module__, *(frame.f_globals.get("__name__", "") for frame in frames[-1:])]
    return any(module.partition(".")[0] in READERS for module in by)


def first_line(error: BaseException, otherwise: str = "") -> str:
    """The first line of an error's message; if it is empty, `otherwise` or the error's type."""
    text = getattr(error, "strerror", None) or str(error)
    return text.splitlines()[0] if text else otherwise or type(error).__name__


def _sweep(folder: Path, prefix: str) -> None:
    """Delete temporary files of killed processes: those that no process has locked."""
    for part in folder.glob(f"{escape(prefix)}{'[0-9a-f]' * 16}.part") if fcntl is not None else ():
        with suppress(OSError), part.open("r+b") as left:  # it is in use, or belongs to another user
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _locked(file: Path, mode: str, wait: bool = False) -> IO[bytes]:
    """The file, open and locked; closed if the system has no locks. BlockingIOError if another process locked it."""
    while True:
        held: IO[bytes] = file.open(mode)
        if fcntl is None:
            held.close()
            return held
        try:
            fcntl.flock(held, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            held.close()
            raise
        except OSError:  # a file system without locks
            return held
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(held.fileno()), file.stat()):
                return held
        held.close()  # it was deleted before it was locked, so the lock has no effect: try again


class Lock:
    """A lock on a folder, or on one file in it, which a process holds until it ends or is killed.

    It has no effect if the system has no file locks.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        self.folder, self.file = folder, folder / (LOCK if name is None else f".{name}{LOCK}")
        self._of, self._use = (folder, "at work in") if name is None else (folder / name, "writing")
        self._held: IO[bytes] | None = None

    def take(self) -> None:
        """Take the lock and write down the process id. Raises OtherRun if another process holds it."""
        if fcntl is not None and self._held is None:
            try:
                self._held = _locked(self.file, "ab")
            except BlockingIOError:
                other = f"another run is {self._use} {self._of}"
                with suppress(OSError):  # it may be released by now
                    other += f" (process {self.file.read_text() or 'that has just begun'})"
                raise OtherRun(f"{other}: wait until it is done, or choose another name") from None
            self._held.truncate(0)  # the id of a process that was killed
            self._held.write(f"{os.getpid()}".encode())
            self._held.flush()

    def drop(self) -> None:
        """Release the lock and delete its file."""
        if self._held is not None:
            self.file.unlink(missing_ok=True)  # before it is closed: after that another process may lock it
            self._held.close()
            self._held = None

    def __enter__(self) -> None:
        """Take the lock; make the folder if it does not exist."""
        refuse_folder(self.file, make_folder=True)
        self._made = not self.folder.exists()
        with writing(self._of):
            self.folder.mkdir(parents=True, exist_ok=True)
            self.take()

    def __exit__(self, *_: object) -> None:
        self.drop()
        if self._made:
            with suppress(OSError):  # unless it holds something now
                self.folder.rmdir()
