"""Files that commands write. An input is never replaced; a file that mheal did not write only with `force`.

A record beside the files holds the SHA-256 of what mheal wrote. It is written first, with the digests of the new and
the old content, so that a kill at any moment leaves files that a record knows.
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
FILES = "files"  # where a record has the digests of each file, by its path from the record's folder


class Outputs:
    """The files that a command writes, and the record of them. No other run can write them while a `with` block runs.

    They are checked when the block begins, before any work, and again before they are written.

    files : each with the option that names it; perhaps none. The record is by default beside the first
    inputs : the files that the command reads, by what they are
    force : whether files may be replaced that mheal did not write, or that were changed since
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
            replaces_input = _identity(file) in self._inputs  # refused below, whatever its name ends in
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
        """Refuse what may not be replaced; the digests of files that mheal wrote."""
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
        """Yield a temporary file for each of these; if the block ends well, the record and they take their places.

        about : what the record holds beside the digests
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
        """What mheal wrote to a file, as its records and those in its folder have it."""
        records = {self.record, *file.parent.glob(f"*{SUFFIX}")}
        found = [(record.parent / name, each) for record in records for name, each in (_read(record) or {}).items()]
        return [digest for place, each in found if _place(place) == _place(file) for digest in each]


def sha256(file: Path) -> str:
    """The digest of a file's content."""
    with reading(file), file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def checksum(files: Iterable[Path]) -> str:
    """The digest of several files, by name and content, in their order."""
    total = hashlib.sha256()
    for file in files:
        digest = "unreadable"  # what an image may be: it was skipped
        with suppress(UserFileError) if os.path.lexists(file) else nullcontext():
            digest = sha256(file)
        total.update(f"{file.name}:{digest}\n".encode(errors="surrogateescape"))  # names may not be UTF-8
    return total.hexdigest()


def _read(record: Path) -> dict[str, list[Any]] | None:
    """The digests in a record; None if it is no record."""
    with suppress(OSError, ValueError, RecursionError):
        content = json.loads(record.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get(FILES), dict):
            return {name: one for name, one in content[FILES].items() if isinstance(one, list) and "\0" not in name}
    return None


def _place(file: Path) -> Path:
    """Where a file is, whatever the way that leads there; a link is a place of its own."""
    return file.parent.resolve() / file.name


def _identity(path: Path) -> tuple[int, int] | None:
    """The same for all names of a file; None if there is no such file."""
    with suppress(OSError):
        found = path.stat()
        return found.st_dev, found.st_ino
    return None
