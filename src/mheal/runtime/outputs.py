"""Output files of commands. Inputs are never replaced; files that mheal did not write are replaced only with `force`.

A record beside the files holds the SHA-256 of what mheal wrote. It is written first, with the digests of the new and
the old content, so that the record is valid even if the process is killed between the two writes.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

from .._version import __version__
from ..exceptions import UserError, UserFileError
from .files import Lock, reading, refuse_folder, replacing

SUFFIX = ".mheal.json"
FILES = "files"  # key of a record: the digests of each file, by path relative to the record's folder


class Outputs:
    """The files that a command writes, and their record. A `with` block locks them against other runs.

    They are checked when the block begins and again before they are written.

    files : (option, path) of each file; may be empty. By default the record is beside the first file
    inputs : the files that the command reads, by option
    force : replace files even if mheal did not write them, or if they were changed since
    """

    def __init__(
        self, files: Sequence[tuple[str, Path]], inputs: Mapping[str, Iterable[Path]] | None = None, *,
        force: bool = False, record: Path | None = None, make_folder: bool = False,
    ) -> None:  # fmt: skip
        self.record = record or Path(f"{files[0][1] if files else ''}{SUFFIX}")
        self.files = [*files, (files[0][0], self.record)] if files else []
        self.force, self.make_folder = force, make_folder
        self._inputs = {at: name for name, paths in (inputs or {}).items() for path in paths if (at := _identity(path))}
        self._locks = ExitStack()

    def __enter__(self) -> "Outputs":
        places = [_place(file) for _, file in self.files]
        for at, (option, file) in enumerate(self.files):
            refuse_folder(file, self.make_folder)
            replaces_input = _identity(file) in self._inputs  # refused below, whatever its suffix
            if option == "--plot" and not replaces_input and file != self.record and file.suffix.lower() != ".png":
                raise UserError(f"cannot draw {file.name}: give --plot a name that ends in .png")
            if places[at] in places[:at]:
                raise UserError(f"{file} would be written twice: give {option} another name")
            if os.path.exists(file) and not os.path.isfile(file):
                raise UserFileError(f"{file} is a folder or a device: give {option} another name")
        with ExitStack() as locks:
            for _, file in self.files[:-1]:
                written = Path(os.path.realpath(file)) if os.path.islink(file) else file
                locks.enter_context(Lock(written.parent, written.name))
            self.check()
            self._locks = locks.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._locks.close()

    def check(self) -> dict[Path, str]:
        """Raise an error for files that must not be replaced. Returns the digests of files that mheal wrote."""
        ours = {}
        for option, file in self.files:
            identity = _identity(file)
            if identity is None:  # nothing there
                continue
            if identity in self._inputs:
                raise UserError(f"{file} is an input ({self._inputs[identity]}): give {option} another name")
            if file == self.record and _read(file) is not None:
                continue
            digests = self._digests(file)
            if digests and (digest := sha256(file)) in digests:
                ours[file] = digest
            elif not self.force:
                why = "has changed since mheal wrote it" if digests else "was not written by mheal"
                raise UserError(f"{file} {why}: give {option} another name, or --force to replace it")
        return ours

    @contextmanager
    def writing(self, *files: Path, about: Mapping[str, Any] | None = None) -> Iterator[list[Path]]:
        """Yield a temporary file for each of these. If the block succeeds, they replace the files and the record.

        about : further content of the record
        """
        folder = _place(self.record).parent
        with ExitStack() as stack:
            parts = [stack.enter_context(replacing(file)) for file in files]
            yield parts
            ours = self.check()
            written = _read(self.record) or {}
            for file, part in zip(files, parts, strict=True):
                name = Path(os.path.relpath(_place(file), folder)).as_posix()
                written[name] = list(dict.fromkeys([sha256(part), ours.get(file, sha256(part))]))
            text = json.dumps({"mheal": __version__, **(about or {}), FILES: written}, indent=1, ensure_ascii=False)
            with replacing(self.record) as record:
                record.write_bytes(text.encode("utf-8", "backslashreplace") + b"\n")  # names that are not UTF-8

    def _digests(self, file: Path) -> list[str]:
        """The digests of what mheal wrote to a file, from this record and all records in the file's folder."""
        records = {self.record, *file.parent.glob(f"*{SUFFIX}")}
        found = [(record.parent / name, each) for record in records for name, each in (_read(record) or {}).items()]
        return [digest for place, each in found if _place(place) == _place(file) for digest in each]


def sha256(file: Path) -> str:
    """The SHA-256 of a file's content."""
    with reading(file), file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def checksum(files: Iterable[Path]) -> str:
    """A digest of the names and contents of several files, in their order."""
    total = hashlib.sha256()
    for file in files:
        digest = "unreadable"  # an image that was skipped
        with suppress(UserFileError) if os.path.lexists(file) else nullcontext():
            digest = sha256(file)
        total.update(f"{file.name}:{digest}\n".encode(errors="surrogateescape"))  # names may not be UTF-8
    return total.hexdigest()


def _read(record: Path) -> dict[str, list[Any]] | None:
    """The digests in a record; None if the file is not a record."""
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(record.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get(FILES), dict):
            return {name: one for name, one in content[FILES].items() if isinstance(one, list) and "\0" not in name}
    return None


def _place(file: Path) -> Path:
    """The canonical path of a file. Links in the folder are resolved, but not a link as the file."""
    return file.parent.resolve() / file.name


def _identity(path: Path) -> tuple[int, int] | None:
    """Device and inode, equal for all names of a file; None if there is no such file."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
