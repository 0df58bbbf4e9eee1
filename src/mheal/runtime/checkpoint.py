"""A folder where a long run keeps what it has finished, so that it can be stopped and taken up again.

A stage is a dictionary of arrays, together with the state of the random numbers after it. Its file is there as a whole
or not at all, so that a stage whose file exists is finished.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserTypeError
from .files import replacing
from .lock import Lock
from .memory import give_back_pages_of, resident
from .progress import Progress

Arrays = Mapping[str, npt.NDArray[Any]]
EVERY = 30.0  # seconds between two notes of a stage that is under way
MANIFEST, LOCK = "manifest.json", ".mheal-lock"
STAGES = (".npz", ".npy", ".part")  # ends of what else we make; marks go before the arrays they speak of


class OtherRun(ValueError):
    """The folder holds an unfinished run of something else, or another run is at work in it."""


class Memory:
    """What runs in memory have instead of a workspace: nothing is kept."""

    on_disk = False
    begun = False  # whether what is in the folder is ours

    def __init__(self, progress: Progress | None = None) -> None:
        self._progress = progress

    def begin(self, run: Mapping[str, Any]) -> None:
        """Say what is being run."""

    def once(
        self, name: str, make: Callable[[], Arrays], rng: np.random.RandomState | None = None, part: bool = False
    ) -> dict[str, npt.NDArray[Any]]:
        """What `make` gives; from the workspace if an earlier run has got that far, and `rng` is then as it was.

        A stage is shown while it is made, unless it is a part of something that is.
        """
        if part:
            return dict(make())
        self.report(0, 0, name)
        made = dict(make())
        self.report(1, 1, name)
        return made

    def note(self, name: str, make: Callable[[], Arrays]) -> None:
        """Keep how far a stage has come, now and then."""

    def noted(self, name: str) -> dict[str, npt.NDArray[Any]] | None:
        """What was noted last."""
        return None

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
        """An array to work in, with what it held when the run was stopped."""
        return np.empty(shape, dtype)

    def room(self) -> int:
        """Bytes of memory that may still be taken."""
        return 2**63

    def report(self, done: int, total: int, what: str) -> None:
        """Show how far things are; total 0: not known."""
        if self._progress is not None:
            self._progress(done, total, what)

    def close(self) -> None:
        """Let others go on with what was kept."""

    def end(self) -> None:
        """Delete what was kept."""


class Workspace(Memory):
    """Stages of one run, as files in a folder that is there as long as the run is unfinished.

    From `begin` to `close` or `end` no other run can use the folder, on Unix.

    limit : bytes of memory that the process is to stay below; None: no limit
    progress : called with (done, total, what)
    """

    on_disk = True

    def __init__(self, folder: str | Path, limit: int | None = None, progress: Progress | None = None) -> None:
        super().__init__(progress)
        self.folder, self.limit = Path(folder), limit
        self._last = monotonic()
        self._lock = Lock(self.folder / LOCK)

    def begin(self, run: Mapping[str, Any]) -> None:
        """Write down what is being run; refuse to go on with something else, or beside another run."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self._refuse_other_files()
        try:
            self._lock.take()
        except BlockingIOError:
            raise OtherRun(
                f"another run is at work in {self.folder}: wait until it is done, or choose another workspace"
            ) from None
        self._refuse_other_files()  # the folder may have changed before it was ours
        file, text = self.folder / MANIFEST, json.dumps(run, indent=1)
        if file.exists():
            old, new = json.loads(file.read_text(encoding="utf-8")), json.loads(text)
            for name in {**old, **new}:
                if old.get(name) != new.get(name):
                    raise OtherRun(
                        f"{self.folder} holds an unfinished run with another {name}: repeat that command to finish it, "
                        "or delete the folder"
                    )
        with replacing(file) as part:
            part.write_text(text + "\n", encoding="utf-8")
        self.begun = True

    def once(
        self, name: str, make: Callable[[], Arrays], rng: np.random.RandomState | None = None, part: bool = False
    ) -> dict[str, npt.NDArray[Any]]:
        """What `make` gives, or has given in an earlier run, after which `rng` is then as it was."""
        kept = self._load(name)
        if kept is None:
            kept = super().once(name, make, part=part)
            self._save(name, kept if rng is None else {**kept, **_state(rng)})
        elif rng is not None:
            _set_state(rng, kept)
        return kept

    def note(self, name: str, make: Callable[[], Arrays]) -> None:
        """Keep how far a stage has come, if the last note is old enough."""
        if monotonic() - self._last >= EVERY:
            self._save(name, make())
            self._last = monotonic()

    def noted(self, name: str) -> dict[str, npt.NDArray[Any]] | None:
        """What was noted last."""
        return self._load(name)

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
        """A memory-mapped array to work in, with what it held when the run was stopped."""
        file = self.folder / f"{name}.npy"
        mode: Any = "r+" if file.exists() else "w+"
        A = np.lib.format.open_memmap(file, mode, *(() if mode == "r+" else (np.dtype(dtype), shape)))
        give_back_pages_of(A)
        return A

    def room(self) -> int:
        """Bytes of memory that may still be taken."""
        return super().room() if self.limit is None else max(0, self.limit - resident())

    def close(self) -> None:
        """Let others use the folder."""
        self.begun = False
        self._lock.drop()

    def end(self) -> None:
        """Delete the folder, if it is ours."""
        if self.begun:
            files = [path for suffix in STAGES for path in self.folder.glob(f"*{suffix}")]
            for path in [*files, self.folder / MANIFEST]:
                with suppress(OSError):
                    path.unlink()
            self.close()  # the lock is the last to go, so that nobody takes up what is half deleted
            with suppress(OSError):
                self.folder.rmdir()

    def _refuse_other_files(self) -> None:
        names = {path.name for path in self.folder.iterdir()}
        if MANIFEST not in names and names - {LOCK}:
            raise OtherRun(f"{self.folder} holds other files: choose a folder that is empty, or not there yet")

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.npz"

    def _save(self, name: str, arrays: Arrays) -> None:
        with replacing(self._file(name)) as part, part.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
            file.flush()
            os.fsync(file.fileno())  # a name without its content would look like a finished stage

    def _load(self, name: str) -> dict[str, npt.NDArray[Any]] | None:
        if not self._file(name).exists():
            return None
        with np.load(self._file(name), allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}


_current: ContextVar[Memory | None] = ContextVar("workspace", default=None)


@contextmanager
def working_in(stages: Memory) -> Iterator[None]:
    """While the block runs, selections that are given no workspace use this one."""
    token = _current.set(stages)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def opened(workspace: "str | Path | Memory | None") -> Iterator[Memory]:
    """The workspace meant: a folder, which is deleted if all goes well, a workspace, or the one we are working in."""
    if workspace is None:
        yield _current.get() or Memory()
        return
    if isinstance(workspace, Memory):
        with closed_if_stopped([workspace]):
            yield workspace
        return
    folder = Workspace(workspace)
    with kept_unless_mistaken(folder):
        yield folder
    folder.end()


@contextmanager
def kept_unless_mistaken(stages: Memory) -> Iterator[None]:
    """What is finished stays if the run is stopped, but not after an error that the same call would meet again."""
    with closed_if_stopped([stages]):
        try:
            yield
        except OtherRun:
            raise
        except (ValueError, TypeError):
            stages.end()
            raise


@contextmanager
def closed_if_stopped(unfinished: Iterable[Memory]) -> Iterator[None]:
    """A run that was stopped keeps nobody else out, though what has been raised may still refer to it.

    unfinished : its workspaces; those of a list that are there when it is stopped
    """
    try:
        yield
    except BaseException:
        for stages in unfinished:
            stages.close()
        raise


def mark(X: Any) -> dict[str, Any]:
    """What tells one pool from another: a few of its rows and, of a file, its name, size and time."""
    if not isinstance(X, np.ndarray):
        raise UserTypeError(f"a workspace is for pools that are arrays or .npy files, not for {type(X).__name__}")
    found: dict[str, Any] = {"shape": list(X.shape), "dtype": str(X.dtype), "rows": digest(X[:: max(1, len(X) // 64)])}
    file = getattr(X, "filename", None)
    if isinstance(X, np.memmap) and file is not None:
        at = os.stat(file)
        found |= {"file": Path(file).name, "bytes": at.st_size, "changed": at.st_mtime_ns}
    return found


def digest(values: Any) -> str:
    """What tells these numbers from others."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def _state(rng: np.random.RandomState) -> Arrays:
    _, keys, *numbers = rng.get_state()
    return {"rng_keys": np.asarray(keys), "rng_numbers": np.array(numbers, np.float64)}


def _set_state(rng: np.random.RandomState, kept: dict[str, npt.NDArray[Any]]) -> None:
    position, has_gauss, gauss = kept.pop("rng_numbers")
    rng.set_state(("MT19937", kept.pop("rng_keys"), int(position), int(has_gauss), float(gauss)))
