"""Find the files of a pool: one file, a folder of images, or a pattern of shards."""

import os
import re
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from glob import glob
from itertools import takewhile
from pathlib import Path

from ..exceptions import UserError, UserFileError, shortened
from ..runtime.files import reading

TABLES = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl")
UNDECODED = (".heic", ".heif", ".jxl", ".svg", ".psd", ".eps", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf", ".rw2")
IMAGES = (  # files that cannot be decoded are skipped later and listed
    *(".png", ".jpg", ".jpeg", ".jpe", ".jfif", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".jp2", ".ppm", ".pgm"),
    *(".pbm", ".avif", *UNDECODED),
)
READABLE = (".npy", ".npz", *TABLES, ".txt")
UNDERSTOOD = f"a pool is a {', '.join(READABLE[:-1])} or .txt file, a folder of images, or a pattern of shards"
WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True)
class Located:
    """Files that make up one pool, in the order of its rows. Their form is the suffix they share, or "images".

    base : the folder that the names of images are relative to
    array : the array to take from an .npz file, where one was named (pool.npz:name)
    notes : what was left out of a folder, a line each
    """

    form: str
    files: list[Path]
    base: Path
    array: str | None = None
    notes: list[str] = field(default_factory=list)


def locate(source: str | Path) -> Located:
    """The files that a path or a pattern names; the matches of a pattern are sorted by name."""
    path, array = named_array(source)
    text = str(path)
    if path.is_dir():
        return _folder(path)
    if path.exists():
        return Located(_common_form([path]), [path], path.parent, array)
    if not WILD.search(text):
        raise UserFileError(f"there is no file or folder {text!r}: {_hint(path)}")
    files = [Path(match) for match in sorted(glob(text, recursive=True)) if os.path.isfile(match)]
    if not files:
        raise UserFileError(f"no file matches the pattern {text!r}: check the path")
    base = Path(*takewhile(lambda part: not WILD.search(part), path.parts))
    return Located(_common_form(files), files, base, array)


def named_array(source: str | Path) -> tuple[Path, str | None]:
    """The file, and the name of the array in it where one is given, as in pool.npz:name."""
    named = re.fullmatch(r"(.+\.npz):([^/\\:]+)", str(source), re.IGNORECASE)
    return (Path(named[1]), named[2]) if named else (Path(source), None)


def _folder(folder: Path) -> Located:
    """The images in a folder and its subfolders. Hidden files, such as those of file managers, are ignored."""
    files, links = list[Path](), list[str]()
    for where, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links += [str(Path(where, name)) for name in sorted(folders) if os.path.islink(Path(where, name))]
        files += [Path(where, n) for n in names if not n.startswith(".") and n.lower().endswith(IMAGES)]
    note = f"linked folders are not read, but patterns such as '{folder}/*/*.png' are: {shortened(links)}"
    if files:
        return Located("images", sorted(files, key=Path.as_posix), folder, notes=[note] if links else [])
    with reading(folder):
        others = {path.suffix.lower() for path in folder.iterdir()} & {*READABLE}
    hint = f"for its {min(others)} files use the pattern '{folder}/*{min(others)}'" if others else UNDERSTOOD
    raise UserError(f"there is no image in the folder {str(folder)!r}: {note if links else hint}")


def _common_form(files: list[Path]) -> str:
    """The form that all files have: a suffix that can be read, or "images"."""
    forms = {"images" if file.suffix.lower() in IMAGES else file.suffix.lower(): file for file in files}
    for form, file in forms.items():
        if form not in ("images", *READABLE):
            raise UserError(f"cannot read {file.name}: {UNDERSTOOD}")
    if len(forms) > 1:
        one, other = sorted(file.name for file in forms.values())[:2]
        raise UserError(f"the pattern matches different kinds of files ({one}, {other}): shards must be of one kind")
    if "images" in forms and len(files) == 1:
        raise UserError(f"{files[0].name} is one image, not a pool: give the folder it is in")
    return min(forms)


def _hint(path: Path) -> str:
    """A suggestion for a path that does not exist."""
    with suppress(OSError):
        if close := get_close_matches(path.name, [other.name for other in path.parent.iterdir()], n=1):
            return f"did you mean {close[0]!r}?"
    return f"check the path; {UNDERSTOOD}"
