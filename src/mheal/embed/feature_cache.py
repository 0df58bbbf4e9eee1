"""A cache of features on disk, by the items' content: a network computes those of each image or text once."""

import os
import sqlite3
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.threads import spans

Vector = npt.NDArray[np.float32]

AT_ONCE = 500  # items looked up by one statement; old versions of SQLite take at most 999 values


def folder() -> Path:
    """The folder of the cache: MHEAL_CACHE, else in the user's folder for caches."""
    if given := os.environ.get("MHEAL_CACHE"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "mheal"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "mheal"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mheal"


class FeatureCache:
    """Cached features of one network. If the file cannot be read or written, the cache is empty and raises no error."""

    def __init__(self, network: str) -> None:
        self.network, self._file = network, None
        with suppress(OSError, RuntimeError, sqlite3.Error):  # RuntimeError: no home folder
            folder().mkdir(parents=True, exist_ok=True)
            file = sqlite3.connect(folder() / "features.sqlite", timeout=10, isolation_level=None)
            file.execute("PRAGMA journal_mode = WAL")
            file.execute("PRAGMA synchronous = NORMAL")
            file.execute(
                "CREATE TABLE IF NOT EXISTS features "
                "(network TEXT, item BLOB, vector BLOB, PRIMARY KEY (network, item)) WITHOUT ROWID"
            )
            self._file = file

    def get(self, items: Iterable[bytes]) -> dict[bytes, Vector]:
        """The cached features of these items, which are given by digests of their content."""
        wanted = list(items)
        found: dict[bytes, Vector] = {}
        for lo, hi in spans(len(wanted), AT_ONCE):
            part = wanted[lo:hi]
            marks = ",".join("?" * len(part))
            rows = self._run(f"SELECT item, vector FROM features WHERE network = ? AND item IN ({marks})", part)
            found |= {item: np.frombuffer(vector, np.float32) for item, vector in rows}
        return found

    def put(self, features: Mapping[bytes, Vector]) -> None:
        """Add these features."""
        if self._file is not None and features:
            rows = [(self.network, item, np.float32(vector).tobytes()) for item, vector in features.items()]
            with suppress(sqlite3.Error):  # a full disk
                self._file.execute("BEGIN")
                self._file.executemany("INSERT OR REPLACE INTO features VALUES (?, ?, ?)", rows)
                self._file.execute("COMMIT")

    def __enter__(self) -> "FeatureCache":
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def _run(self, statement: str, values: list[bytes]) -> list[tuple[Any, ...]]:
        with suppress(sqlite3.Error):  # no database, or a damaged one
            if self._file is not None:
                return self._file.execute(statement, [self.network, *values]).fetchall()
        return []
