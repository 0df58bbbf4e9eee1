"""The pool behind the page: what a person sees of its rows, and the distances between them.

Rows are named by their numbers in the files. What people see of a row is kept in the project file, so that the page
opens before the pool is read.
"""

import hashlib
import io
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .._version import __version__
from ..exceptions import UserError
from ..io.locate import Located
from ..io.sheet import cells_of, shown
from ..io.source import Source
from ..runtime.threads import spans
from ..scaling import comparable
from ..validation import as_array

NEIGHBOURS = 5
ALIKE = 24  # look-alikes that are shown at once
NEARER = 0.6  # look-alikes are at most this far, relative to the nearest row with another label
NUMBERS = 24  # of a row without cells
LONGEST_TEXT = 50_000  # characters
LARGEST_CACHE = 500_000_000  # bytes
BLOCK = 16_384  # rows whose distances are computed together
FOUND = 2_000  # rows that a search returns

Rows = npt.NDArray[np.int64]


def signature(located: Located, options: Mapping[str, Any]) -> str:
    """Changes when a file of the pool, an option that decides about its features, or mheal itself changes."""
    total = hashlib.sha256(json.dumps([__version__, located.form, located.array, options], default=str).encode())
    for file in located.files:
        found = os.stat(file)
        total.update(os.fsencode(file.relative_to(located.base)) + f":{found.st_size}:{found.st_mtime_ns}\n".encode())
    return total.hexdigest()


class Pool:
    """A pool that is in memory."""

    def __init__(self, source: Source) -> None:
        self.source, self.n = source, len(source.X)
        self.X = as_array(source.X)

    @cached_property
    def points(self) -> Any:
        """The scaled rows."""
        return comparable(self.X)

    def at(self, rows: Sequence[int]) -> Rows:
        """The rows of X that have these numbers; those that were left out are left out."""
        known = [row for row in rows if 0 <= row < self.source.n_rows]
        places = self.source.places(np.array(known, np.int64))
        return places[places >= 0]

    def rows(self, at: Rows) -> list[int]:
        """The numbers of these rows of X."""
        found: list[int] = self.source.numbers(np.asarray(at, np.int64)).tolist()
        return found

    def items(self, rows: Sequence[int]) -> dict[int, tuple[str | None, Any]]:
        """The names of these rows, and what is shown of them as JSON can hold it."""
        at = self.at(rows)
        names = self.source.ids_of(at) or [None] * len(at)
        contents = shown(self.source, at)
        if self.source.kind == "vectors":
            contents = [{f"column {j}": float(x) for j, x in enumerate(self.X[i][:NUMBERS])} for i in at.tolist()]
        made = zip(self.rows(at), names, contents, strict=True)
        return {row: (None if name is None else str(name), _plain(content)) for row, name, content in made}

    def neighbours(self, row: int, labelled: Sequence[int]) -> list[int]:
        """The labelled rows nearest to a row, nearest first."""
        others = self.at([other for other in labelled if other != row])
        if not len(others) or not len(here := self.at([row])):
            return []
        return self.rows(others[np.argsort(self._distances(int(here[0]), others), kind="stable")[:NEIGHBOURS]])

    def alike(self, row: int, label: str | None, labels: Mapping[int, str], taken: set[int]) -> list[int]:
        """Rows without label that are much nearer to this row than any row with another label is, nearest first.

        Without `label`, the label of the nearest labelled row is assumed. None where no other label is known.
        """
        here, known = self.at([row]), self.at([*labels])
        if not len(here) or not len(known):
            return []
        given, away = np.array([*labels.values()], object), self._distances(int(here[0]), known)
        label = label if label is not None else given[np.argmin(away)]
        if not (others := given != label).any():
            return []
        limit = NEARER**2 * away[others].min()
        everywhere = self._distances(int(here[0]), np.arange(self.n))
        near = np.flatnonzero(everywhere < limit)
        near = near[np.argsort(everywhere[near], kind="stable")]
        free = (one for one in self.rows(near[: 4 * ALIKE + len(taken)]) if one != row and one not in taken)
        return [one for _, one in zip(range(ALIKE), free, strict=False)]

    def find(self, words: str) -> list[int]:
        """Rows whose text, cells or name contain these words, whatever their case; at most `FOUND`."""
        import polars as pl

        frame = cells_of(self.source, np.arange(self.n))
        columns = [
            frame[name].cast(pl.String, strict=False) for name in frame.columns if not frame[name].dtype.is_nested()
        ]
        if (names := self.source.ids_of(np.arange(self.n))) is not None:
            columns.append(pl.Series([str(name) for name in names]))
        hit = np.zeros(self.n, bool)
        for column in columns:
            hit |= column.str.to_lowercase().str.contains(words.lower(), literal=True).fill_null(False).to_numpy()
        return self.rows(np.flatnonzero(hit)[:FOUND])

    def renamed(self, known: Mapping[int, tuple[str | None, Any]], name: str) -> dict[int, int]:
        """New numbers of rows that the project knows, by their ids. Without ids, rows must be as they were.

        known : names and contents by row, as they were shown; `name` is the pool's, for errors
        """
        ids = self.source.ids_of(np.arange(self.n))
        if ids is not None:
            numbers = dict(zip(map(str, ids), self.rows(np.arange(self.n)), strict=True))
            if lost := [called for called, _ in known.values() if called not in numbers]:
                raise UserError(f"{name} has no {lost[0]!r} any more, which has a label or was picked: restore it")
            return {row: numbers[str(called)] for row, (called, _) in known.items() if numbers[str(called)] != row}
        now = self.items([*known])
        if moved := [row for row, (_, content) in known.items() if row not in now or now[row][1] != content]:
            remedy = "restore the order of the pool, or give its rows an id column"
            raise UserError(f"row {moved[0]} of {name} is not the one that was labelled or picked: {remedy}")
        return {}

    def _distances(self, here: int, others: Rows) -> npt.NDArray[np.float64]:
        """Squared distances of some rows of X to one."""
        found, point = np.empty(len(others)), self.points.take(np.array([here]))
        for lo, hi in spans(len(others), BLOCK):
            apart = self.points.take(others[lo:hi])
            apart -= point
            found[lo:hi] = np.einsum("ij,ij->i", apart, apart)
        return found


def packed(source: Source, located: Located) -> bytes | None:
    """Images as vectors, to be kept in the project file; None for other pools, which are read quickly."""
    if source.kind != "images" or source.X.nbytes > LARGEST_CACHE:
        return None
    about = json.dumps({"features": source.features, "ids": source.ids, "skipped": source.skipped})
    buffer = io.BytesIO()
    np.savez(buffer, X=source.X, about=np.array(about))
    return buffer.getvalue()


def unpacked(content: bytes, located: Located) -> Source | None:
    """The pool of images that was packed; None if it does not fit to the files."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
            X, about = arrays["X"], json.loads(str(arrays["about"]))
        skipped = dict(about["skipped"])
        files = [file for file in located.files if file.relative_to(located.base).as_posix() not in skipped]
        ids = [file.relative_to(located.base).as_posix() for file in files]
        lost = [(str(name), str(why)) for name, why in skipped.items()]
        if ids != about["ids"] or X.shape[:1] != (len(ids),) or X.ndim != 2 or not np.isfinite(X).all():
            return None
        return Source(X, "images", str(about["features"]), files, [*ids], None, files, lost)
    except (ValueError, KeyError, TypeError, OSError, EOFError):
        return None


def image_bytes(base: Path, name: str, side: int) -> bytes | str:
    """An image of a pool, made anew with at most `side` pixels a side, as PNG or JPEG; or why there is none.

    base : the folder of the images, which the file must be in whatever links say
    """
    from ..embed.pixels import opened

    file, root = (base / name).resolve(), base.resolve()
    if not file.is_relative_to(root) or not file.is_file():
        return "it is not in the folder of the pool"
    made: bytes | str = opened(file, partial(_encoded, side=side))
    return made


def _encoded(image: Any, side: int) -> bytes:
    from ..embed.pixels import upright_rgb

    small = upright_rgb(image, side)
    small.thumbnail((side, side))
    buffer = io.BytesIO()
    if small.width * small.height <= 128 * 128:
        small.save(buffer, "PNG")
    else:
        small.save(buffer, "JPEG", quality=88)
    return buffer.getvalue()


def _plain(value: Any) -> Any:
    """A value as JSON can hold it, and not longer than a person reads."""
    if isinstance(value, Path):
        return True  # an image: its name is the item's
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        return value if math.isfinite(value) and abs(value) < 2**53 else str(value)
    return str(value)[:LONGEST_TEXT]
