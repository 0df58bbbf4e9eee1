"""The project file: an SQLite database beside the pool. Labels are a history that only grows; an undo is part of it.

One thread writes. What waits for it is written in one transaction, so that many clients share one sync of the disk.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, TypeVar

from ..exceptions import UserError
from ..runtime.files import Lock, refuse_folder

Result = TypeVar("Result")

SUFFIX = ".mheal"
APPLICATION, VERSION = 0x6D68656C, 1  # "mhel"
LONGEST = 200  # characters of a class, a person's name or an id of a request
TOGETHER = 256  # changes in one transaction
_TEXT = f"CHECK (length({{0}}) BETWEEN 0 AND {LONGEST})"
TABLES = {
    "meta": "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "item": "CREATE TABLE item (row INTEGER PRIMARY KEY, name TEXT, content TEXT NOT NULL) STRICT",
    "pick": "CREATE TABLE pick (row INTEGER PRIMARY KEY, place REAL NOT NULL, reason TEXT NOT NULL) STRICT",
    "action": "CREATE TABLE action (id INTEGER PRIMARY KEY AUTOINCREMENT, "
    f"request TEXT NOT NULL UNIQUE {_TEXT.format('request')}, at REAL NOT NULL, tab TEXT NOT NULL, "
    f"who TEXT NOT NULL {_TEXT.format('who')}, kind TEXT NOT NULL, undoes INTEGER UNIQUE REFERENCES action) STRICT",
    "entry": "CREATE TABLE entry (action INTEGER NOT NULL REFERENCES action, row INTEGER NOT NULL, "
    f"label TEXT {_TEXT.format('label')}, PRIMARY KEY (action, row)) STRICT",
    "cache": "CREATE TABLE cache (name TEXT PRIMARY KEY, key TEXT NOT NULL, value BLOB NOT NULL) STRICT",
}
Entries = list[tuple[int, str | None]]


class Pick(NamedTuple):
    """A row to label: picks are labelled in the order of their places."""

    row: int
    place: float
    reason: str


@dataclass(frozen=True)
class Action:
    """One step of one person.

    request : the client's own name for it: the same step sent twice is written once
    tab, who : the browser tab it came from, and the person's name, which may be empty
    kind : "label", "skip", "clear" (remove the label), "import" or "undo"
    entries : rows and their labels, None for a skip
    undoes : the number of the action that this one takes back
    """

    request: str
    at: float
    tab: str
    who: str
    kind: str
    entries: Entries
    undoes: int | None = None
    id: int = 0


class Store:
    """An open project file. No other process can open it meanwhile."""

    def __init__(self, path: Path) -> None:
        refuse_folder(path)
        self.path, self._lock = path, Lock(path.parent, path.name)
        self._waiting: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        self.on_failure: Callable[[], None] = lambda: None  # called where a transaction failed
        self._closed = False
        self._lock.take()
        try:
            self._db = _opened(path)
        except BaseException:
            self._lock.drop()
            raise
        self._thread = threading.Thread(target=self._write_all, name="mheal-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()
        self._db.close()
        self._lock.drop()

    def write(self, work: Callable[[], Result]) -> "Future[Result]":
        """Let the writing thread do `work`, in a transaction; the result is there once it is on disk."""
        future: Future[Result] = Future()
        if self._closed:
            future.set_exception(NotSaved(f"{self.path.name} is closed: start mheal label again"))
            return future
        self._waiting.put((work, future))
        return future

    def _write_all(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch, last = [first], False
            with suppress(Empty):
                while len(batch) < TOGETHER and not last:
                    following = self._waiting.get_nowait()
                    if following is None:
                        last = True
                    else:
                        batch.append(following)
            self._transaction(batch)
            if last:
                return

    def _transaction(self, batch: list[tuple[Callable[[], Any], Future[Any]]]) -> None:
        done: list[tuple[Future[Any], Any, BaseException | None]] = []
        try:
            self._db.execute("BEGIN IMMEDIATE")
            for work, future in batch:
                self._db.execute("SAVEPOINT one")
                try:
                    done.append((future, work(), None))
                except Exception as error:
                    self._db.execute("ROLLBACK TO one")
                    done.append((future, None, error))
                self._db.execute("RELEASE one")
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            self.on_failure()
            for _, future in batch:
                future.set_exception(NotSaved(f"{self.path.name} cannot be written ({error}): is the disk full?"))
            return
        for future, result, wrong in done:
            future.set_result(result) if wrong is None else future.set_exception(wrong)

    # The following are called inside `write`, or before anything writes.

    def append(self, action: Action) -> int:
        """Add an action to the history; its number."""
        values = (action.request, action.at, action.tab, action.who, action.kind, action.undoes)
        found = self._db.execute(
            "INSERT INTO action (request, at, tab, who, kind, undoes) VALUES (?, ?, ?, ?, ?, ?)", values
        )
        number = int(found.lastrowid or 0)
        entries = ((number, row, label) for row, label in action.entries)
        self._db.executemany("INSERT INTO entry (action, row, label) VALUES (?, ?, ?)", entries)
        return number

    def number_of(self, request: str) -> int | None:
        """The number of the action that this request has written already."""
        found = self._db.execute("SELECT id FROM action WHERE request = ?", (request,)).fetchone()
        return None if found is None else int(found[0])

    def actions(self) -> Iterator[Action]:
        """The whole history, from the first action on."""
        entries: dict[int, Entries] = {}
        for number, row, label in self._db.execute("SELECT action, row, label FROM entry ORDER BY action, row"):
            entries.setdefault(number, []).append((row, label))
        query = "SELECT request, at, tab, who, kind, undoes, id FROM action ORDER BY id"
        for request, at, tab, who, kind, undoes, number in self._db.execute(query):
            yield Action(request, at, tab, who, kind, entries.get(number, []), undoes, number)

    def picks(self) -> list[Pick]:
        """All picks in the order of their places."""
        return [Pick(*one) for one in self._db.execute("SELECT row, place, reason FROM pick ORDER BY place, row")]

    def add_picks(self, picks: Iterable[Pick]) -> None:
        """Add picks; one that is there already gets the new place."""
        self._db.executemany("INSERT OR REPLACE INTO pick VALUES (?, ?, ?)", picks)

    def items(self) -> dict[int, tuple[str | None, Any]]:
        """Names and contents of the items that were shown, by row."""
        found = self._db.execute("SELECT row, name, content FROM item")
        return {row: (name, _json(content)) for row, name, content in found}

    def add_items(self, items: Iterable[tuple[int, str | None, Any]]) -> None:
        """Keep what was shown of items, so that a page opens at once, and to see whether the pool has changed."""
        rows = ((row, name, json.dumps(content)) for row, name, content in items)
        self._db.executemany("INSERT OR REPLACE INTO item VALUES (?, ?, ?)", rows)

    def move(self, rows: dict[int, int]) -> None:
        """Rename rows everywhere, where the pool has grown or was sorted anew."""
        for table in ("item", "pick", "entry"):  # by way of negative numbers, since two rows may swap
            self._db.executemany(
                f"UPDATE {table} SET row = ? WHERE row = ?", ((-1 - new, old) for old, new in rows.items())
            )
            self._db.execute(f"UPDATE {table} SET row = -1 - row WHERE row < 0")

    def meta(self, name: str) -> Any:
        """A setting of the project, or None."""
        found = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if found is None else _json(found[0])

    def set_meta(self, name: str, value: Any) -> None:
        """Keep a setting of the project."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, json.dumps(value)))

    def cache(self, name: str, key: str, value: bytes) -> None:
        """Keep what was computed, such as the map."""
        self._db.execute("INSERT OR REPLACE INTO cache VALUES (?, ?, ?)", (name, key, value))

    def cached(self, name: str, key: str) -> bytes | None:
        """What was computed for this key, or None. It may be called anywhere."""
        with closing(sqlite3.connect(self.path)) as db:
            found = db.execute("SELECT value FROM cache WHERE name = ? AND key = ?", (name, key)).fetchone()
        return None if found is None else bytes(found[0])


class NotSaved(UserError):
    """The project file could not be written."""


def _opened(path: Path) -> sqlite3.Connection:
    """The database, made if it is not there; a file that is no project of ours is refused as it is."""
    remedy = "move it away, or restore it from a backup"
    try:
        db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        for setting in ("trusted_schema = OFF", "cell_size_check = ON", "foreign_keys = ON"):
            db.execute(f"PRAGMA {setting}")
        new = not db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        _refuse_foreign(db, path.name, new)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        if new:  # all of it or, if killed, nothing
            marks = f"PRAGMA application_id = {APPLICATION}", f"PRAGMA user_version = {VERSION}"
            for step in ("BEGIN IMMEDIATE", *TABLES.values(), *marks, "COMMIT"):
                db.execute(step)
    except sqlite3.Error as error:
        raise UserError(f"{path.name} cannot be opened as a project ({error}): {remedy}") from error
    return db


def _refuse_foreign(db: sqlite3.Connection, name: str, new: bool) -> None:
    """Refuse a database that is not ours, holds anything but our tables, or is damaged."""
    application, version = (db.execute(f"PRAGMA {key}").fetchone()[0] for key in ("application_id", "user_version"))
    if new and (application, version) == (0, 0):
        return
    if application == APPLICATION and version != VERSION:
        raise UserError(f"{name} was written by another version of mheal (format {version}): open it with that one")
    schema = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"))
    if application != APPLICATION or schema != TABLES:
        raise UserError(f"{name} is no project of mheal: move it away, and a new one is made")
    if (found := db.execute("PRAGMA quick_check(1)").fetchone()[0]) != "ok":
        raise UserError(f"{name} is damaged ({found}): restore it from a backup")


def _json(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    return None
