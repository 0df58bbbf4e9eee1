"""Checkpoints: a folder for the intermediate results of a long run, from which an interrupted run resumes.

The result of a stage is a dictionary of arrays. It is stored with the state of the random numbers after the stage.
"""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError, UserFileError, UserTypeError
from .files import LOCK, MISTYPED, Lock, OtherRun, reading, replacing, writing
from .memory import MemoryLimit, memory_map, resident
from .progress import Progress, silent

Arrays = dict[str, npt.NDArray[Any]]
Make = Callable[[], Mapping[str, npt.NDArray[Any]] | None]
Rng = np.random.RandomState | None
EVERY = 30.0  # seconds between saves of an unfinished stage
MANIFEST = "manifest.json"


class NullCheckpoint:
    """A checkpoint that stores nothing, for runs in memory. `report` is called with (done, total or 0, what)."""

    on_disk = False
    begun = False  # whether the folder is locked by this run

    def __init__(self, limit: MemoryLimit | None = None, progress: Progress | None = None) -> None:
        self.limit = limit
        self.report = progress or silent

    def begin(self, run: Mapping[str, Any]) -> None:
        """Lock the folder and store a description of the run. Raise an error if the folder belongs to another run."""

    def stage(self, name: str, make: Make, rng: Rng = None, part: bool = False) -> Arrays:
        """The result of `make`. If it is stored, `make` is not called, and `rng` is set to its state after the stage.

        Progress is reported, except for a `part` of another stage. `make` may fill scratch arrays and return None.
        """
        if part:
            return dict(make() or {})
        self.report(0, 0, name)
        made = dict(make() or {})
        self.report(1, 1, name)
        return made

    def save_partial(self, name: str, make: Make) -> None:
        """Store the state of an unfinished stage, if the last save was long enough ago."""

    def load_partial(self, name: str) -> Arrays | None:
        """The last stored state of a stage, finished or not; None if there is none, or the file is damaged."""
        return None

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
        """A working array; on disk a memory map, which keeps its content when the run is interrupted."""
        return np.empty(shape, dtype)

    def room(self) -> int:
        """Bytes of memory that may still be allocated."""
        return 2**63 if self.limit is None else max(0, self.limit.limit - resident())

    def yield_point(self) -> None:
        """Called between parts of work on the pool; frees memory if the limit is near."""
        if self.limit is not None:
            self.limit.yield_point()

    def close(self) -> None:
        """Unlock the folder, so that another process can resume the run."""

    def end(self) -> None:
        """Delete the stored results, and the folder if it is empty then."""


class Checkpoint(NullCheckpoint):
    """Stores the results of a run's stages as files in a folder, which `end` deletes.

    On Unix, no other process can use the folder from `begin` to `close` or `end`. An unfinished stage is saved at most
    once in `every` seconds.
    """

    on_disk = True

    def __init__(
        self, folder: str | Path, limit: MemoryLimit | None = None, progress: Progress | None = None,
        every: float = EVERY,
    ) -> None:  # fmt: skip
        super().__init__(limit, progress)
        self.folder, self.every = Path(folder), every
        self._last = monotonic()
        self._lock = Lock(self.folder)
        self._remedy = f": delete the folder {self.folder} to begin anew"

    def begin(self, run: Mapping[str, Any]) -> None:
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._refuse_other_files()
            self._lock.take()
            self._refuse_other_files()  # the folder may have changed before it was locked
        file, text = self.folder / MANIFEST, json.dumps(run, indent=1)
        if file.exists():
            with reading(file, self._remedy, MISTYPED):
                old, new = json.loads(file.read_text(encoding="utf-8")), json.loads(text)
                changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            if changed:
                remedy = "repeat that command to finish it, or delete the folder"
                raise OtherRun(f"{self.folder} holds an unfinished run with another {changed[0]}: {remedy}")
        with replacing(file) as part:
            part.write_text(text + "\n", encoding="utf-8")
        self.begun = True

    def stage(self, name: str, make: Make, rng: Rng = None, part: bool = False) -> Arrays:
        stored = self.load_partial(name)
        if stored is None:
            stored = super().stage(name, make, part=part)
            state: Any = () if rng is None else rng.get_state()
            self._save(name, stored | {f"rng {at}": np.asarray(some) for at, some in enumerate(state)})
        elif rng is not None:
            state = tuple(stored.pop(f"rng {at}")[()] for at in range(5))
            rng.set_state(state)
        return stored

    def save_partial(self, name: str, make: Make) -> None:
        if monotonic() - self._last >= self.every:
            self._save(name, make() or {})
            self._last = monotonic()

    def load_partial(self, name: str) -> Arrays | None:
        file = self.folder / f"{name}.npz"
        if not file.exists():
            return None
        try:
            with reading(file, "", MISTYPED), np.load(file, allow_pickle=False) as stored:
                return dict(stored)
        except UserFileError:
            raise
        except UserError:
            return None

    def scratch(self, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
        file = self.folder / f"{name}.npy"
        if not file.exists():
            with replacing(file) as part:
                np.lib.format.open_memmap(part, "w+", np.dtype(dtype), shape)
                if hasattr(os, "posix_fallocate"):  # writing to a memory map on a full disk would kill the process
                    with part.open("r+b") as made:
                        os.posix_fallocate(made.fileno(), 0, part.stat().st_size)
        with reading(file, self._remedy):
            found = np.lib.format.open_memmap(file, "r")  # "r+" would extend a truncated file
            if (found.shape, found.dtype) != (shape, np.dtype(dtype)):
                raise ValueError(f"it holds {found.dtype} {found.shape}")
            A = np.lib.format.open_memmap(file, "r+")
        if self.limit is not None:
            self.limit.add(A)
        return A

    def close(self) -> None:
        self.begun = False
        self._lock.drop()

    def end(self) -> None:
        if self.begun:
            for pattern in ("*.npz", "*.npy", "*.part", MANIFEST):  # stages before the arrays that they filled
                for path in self.folder.glob(pattern):
                    with suppress(OSError):
                        path.unlink()
            self.close()  # the lock is deleted last, so that no run resumes from some of the files
            with suppress(OSError):
                self.folder.rmdir()

    def _refuse_other_files(self) -> None:
        names = {path.name for path in self.folder.iterdir()}
        if MANIFEST not in names and names - {LOCK}:
            raise OtherRun(f"{self.folder} holds other files: choose a folder that is empty, or not there yet")

    def _save(self, name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        with replacing(self.folder / f"{name}.npz") as part, part.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]


@contextmanager
def kept_unless_mistaken(checkpoint: NullCheckpoint) -> Iterator[None]:
    """Keep stored results if the run is interrupted; delete them after a user's mistake, which a retry would repeat."""
    try:
        yield
    except BaseException as error:
        # UserFileError: such as a full disk, after which the run can resume.
        if isinstance(error, UserError) and not isinstance(error, OtherRun | UserFileError):
            checkpoint.end()
        checkpoint.close()  # explicitly, since the exception may refer to it
        raise


def mark(X: Any) -> dict[str, Any]:
    """Identify a pool by its shape, type and some rows, and a file also by its name, size and time of change."""
    if not isinstance(X, np.ndarray):
        raise UserTypeError(f"a checkpoint is for pools that are arrays or .npy files, not for {type(X).__name__}")
    found: dict[str, Any] = {"shape": list(X.shape), "dtype": str(X.dtype), "rows": digest(X[:: max(1, len(X) // 64)])}
    file = getattr(memory_map(X), "filename", None)
    return found if file is None else found | file_mark(Path(file))


def file_mark(file: Path) -> dict[str, Any]:
    """Identify a file by its name, size and time of change."""
    with reading(file):
        at = file.stat()
    return {"file": file.name, "bytes": at.st_size, "changed": at.st_mtime_ns}


def digest(values: Any) -> str:
    """SHA-256 of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()
