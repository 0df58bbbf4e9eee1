"""Reading and writing files: written as a whole or not at all; faults of files are a UserError of one line."""

import csv
import os
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from pathlib import Path
from zipfile import BadZipFile

from ..exceptions import UserError, UserFileError

# What readers raise for a broken file, or one of another kind.
BROKEN = (ValueError, EOFError, BadZipFile, csv.Error, zlib.error, struct.error)
CUT = "it ends too early"  # what EOFErrors without a message mean
READERS = ("polars", "pyarrow")  # packages whose own errors say that a file is broken


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
        reason = first_line(error)
        if "requested and" in reason:  # how NumPy says that it could not write all
            reason = "the disk is full"
        wrong = f"cannot write {str(path)!r}: {reason}"
        if path.parent.is_file():
            wrong = f"cannot write {str(path)!r}: {str(path.parent)!r} is a file, not a folder"
        elif not path.parent.is_dir():
            wrong = f"there is no folder {str(path.parent)!r} to write {path.name} to: make it first"
        raise UserFileError(wrong) from error


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
    prefix, suffix = f".{path.name}.", ".part"
    for name in os.listdir(path.parent) if path.parent.is_dir() else ():
        process = name[len(prefix) : -len(suffix)]
        if name.startswith(prefix) and name.endswith(suffix) and process.isdigit() and not _is_running(int(process)):
            path.with_name(name).unlink(missing_ok=True)


def _is_running(process: int) -> bool:
    if os.name != "posix":  # elsewhere os.kill would end it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    return True
