"""Files are written as a whole or not at all, read with errors of one line, and locked between processes."""

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

BROKEN = (ValueError, EOFError)  # what readers raise for a file that is broken, or of another kind
READERS = {"polars", "pyarrow", "_fastexcel", "pyo3_runtime", "numpy"}  # any error of these is that
READERS |= {"zipfile", "json", "ast", "tokenize", "_csv", "zlib", "struct"}
MISTYPED = (AttributeError, TypeError, KeyError, IndexError)  # what values of another type than expected raise
CUT = "it ends too early"  # what EOFErrors without a message mean
LOCK = ".mheal-lock"
KIND = " (is it complete, and what its name says?)"  # what to check where a library cannot read a file
OWN_NAME = 50  # characters of a file's name that its temporary neighbour has too
PART = re.compile(r"\..*\.[0-9a-f]{16}\.part")  # the name of a temporary neighbour


class OtherRun(UserError):
    """The folder holds an unfinished run of something else, or another run is at work in it."""


@contextmanager
def replacing(path: Path, make_folder: bool = False) -> Iterator[Path]:
    """Yield a temporary neighbour of `path`, which takes its place, and its mode, if the block ends well.

    The content is on disk before that, so that no crash leaves half a file. Where `path` is a link, the file that it
    leads to is replaced; a device, a pipe or what another call has yielded is written to as it is.
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
            if os.name == "posix":  # elsewhere folders cannot be opened
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
    """While the block writes a file or makes a folder, what the system refuses is a UserFileError that names it."""
    try:
        yield
    except UserError:
        raise
    except OSError as error:
        reason = first_line(error)
        if "requested and" in reason:  # NumPy's message where it could not write all
            reason = "the disk is full"
        refuse_folder(path)
        raise UserFileError(f"cannot write {str(path)!r}: {reason}") from error


def refuse_folder(file: Path, make_folder: bool = False) -> None:
    """Refuse to write a file whose folder is a file, or not there, unless it will be made."""
    folder = file.parent
    if os.path.exists(folder) and not os.path.isdir(folder):  # unlike Path.exists, also without the right to look
        raise UserFileError(f"cannot write {file.name}: {str(folder)!r} is a file, not a folder")
    if not make_folder and not os.path.exists(folder):
        raise UserFileError(f"there is no folder {str(folder)!r} to write {file.name} to: make it first")


@contextmanager
def reading(file: str | Path, hint: str = "", content: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """While the block reads a file, what is wrong with the file is a UserError that names it.

    hint : what to check, in brackets, where the file is broken
    content : further errors that the content causes, such as MISTYPED where the block walks through JSON
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
        raise UserError(f"cannot read {file.name}: its header announces more than fits into memory{hint}") from error
    except content as error:
        raise UserError(f"cannot read {file.name}: it holds values of a wrong type{hint}") from error
    except BaseException as error:  # a panic in Rust is no Exception
        if not isinstance(error, BROKEN) and not _by_reader(error):
            raise
        hint = hint or (KIND if _by_reader(error) else "")
        raise UserError(f"cannot read {file.name}: {first_line(error, CUT)}{hint}") from error


def _by_reader(error: BaseException) -> bool:
    """Whether an error was raised or is defined by one of READERS."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)] if isinstance(error, Exception) else []
    by = [type(error).__module__, *(frame.f_globals.get("__name__", "") for frame in frames[-1:])]
    return any(module.partition(".")[0] in READERS for module in by)


def first_line(error: BaseException, otherwise: str = "") -> str:
    """The message of an error, in one line; without one `otherwise`, or its type."""
    text = getattr(error, "strerror", None) or str(error)
    return text.splitlines()[0] if text else otherwise or type(error).__name__


def _sweep(folder: Path, prefix: str) -> None:
    """Remove the temporary files that killed runs have left: nobody has locked them."""
    for part in folder.glob(f"{escape(prefix)}{'[0-9a-f]' * 16}.part") if fcntl is not None else ():
        with suppress(OSError), part.open("r+b") as left:  # it is in use, or somebody else's
            fcntl.flock(left, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _locked(file: Path, mode: str, wait: bool = False) -> IO[bytes]:
    """The file, open and locked; closed where the system has no locks. BlockingIOError if another process has it."""
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
        held.close()  # it was deleted after we opened it: this lock excludes nobody


class Lock:
    """A folder, or one file in it, that one process uses at a time, until it ends or is killed.

    Where the system has no locks, several may use it.
    """

    def __init__(self, folder: Path, name: str | None = None) -> None:
        self.folder, self.file = folder, folder / (LOCK if name is None else f".{name}{LOCK}")
        self._of, self._use = (folder, "at work in") if name is None else (folder / name, "writing")
        self._held: IO[bytes] | None = None

    def take(self) -> None:
        """Lock it, and note which process has; OtherRun if another one has."""
        if fcntl is not None and self._held is None:
            try:
                self._held = _locked(self.file, "ab")
            except BlockingIOError:
                other = f"another run is {self._use} {self._of}"
                with suppress(OSError):  # it may be released by now
                    other += f" (process {self.file.read_text() or 'that has just begun'})"
                raise OtherRun(f"{other}: wait until it is done, or choose another name") from None
            self._held.truncate(0)  # a process that was killed is noted there
            self._held.write(f"{os.getpid()}".encode())
            self._held.flush()

    def drop(self) -> None:
        """Release it, and delete the file."""
        if self._held is not None:
            self.file.unlink(missing_ok=True)  # first: once it is closed, the file may be another process's
            self._held.close()
            self._held = None

    def __enter__(self) -> None:
        """Lock it; the folder is made if it is not there."""
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
