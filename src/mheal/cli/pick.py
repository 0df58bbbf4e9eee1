"""Carries a request out: reads the pool and the labels, and calls `mheal.select` once."""

import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..io.source import Source
from ..runtime.progress import as_progress
from ..strategies import Strategy, get
from .pool import read
from .request import Request

if TYPE_CHECKING:
    from rich.console import Console

    from ..runtime.checkpoint import NullCheckpoint
    from ..selection import Selection


@dataclass(frozen=True)
class Result:
    """The picks, the pool they are rows of, what was used to pick them, and how long it took."""

    picks: "Selection"
    source: Source
    labeled: int
    used: str
    seconds: dict[str, float]


def carry_out(
    request: Request, console: "Console", folder: Path, resume: bool, unfinished: list["NullCheckpoint"]
) -> Result:
    """Read the pool and pick.

    folder : for intermediate results
    resume : whether they are wanted; without, they are kept only where the pool fills the memory
    unfinished : gets the checkpoints, which the caller ends when the picks are written
    """
    strategy = get(request.strategy)
    start = perf_counter()
    source = _read(request, strategy, folder, unfinished, console)
    reading = perf_counter() - start
    before = _before(request, source)
    start = perf_counter()
    picks, used = _pick(request, strategy, source, before, folder, resume, unfinished, console)
    return Result(picks, source, before.labeled, used, {"reading": reading, "picking": perf_counter() - start})


def _read(
    request: Request, strategy: type[Strategy], folder: Path, unfinished: list["NullCheckpoint"], console: "Console"
) -> Source:
    from ..runtime.memory import resident
    from .large import on_cluster, refuse_small_limit, shards_to_stream, stream

    limit, present = request.max_memory, resident()
    if request.scheduler is not None:
        return on_cluster(request, console)
    if limit is None:
        return read(request, console)
    if not strategy.limits_memory:
        from ..strategies import names

        able = ", ".join(name for name in names() if get(name).limits_memory)
        raise UserError(f"{strategy.name} does not work within --max-memory: leave it out, or use {able}")
    shards = shards_to_stream(request.pool, limit, present)
    if shards:
        source, stages = stream(request, shards, folder / "pool", limit, present, console)
        unfinished.append(stages)
    else:
        source = read(request, console)
        present = resident()
    # What streaming leaves in memory goes as other memory is asked for.
    refuse_small_limit(limit, present, source.X.shape, source.X.dtype, mapped=isinstance(source.X, np.memmap))
    return source


@dataclass(frozen=True)
class Before:
    """Rows that are not to be picked: those with labels, and earlier picks that are kept.

    y : the labels of these rows or, if picks are kept, of all rows of the pool, None where there is none; None as a
        whole if no labels are known
    labeled : how many rows have labels
    """

    rows: npt.NDArray[np.int64]
    y: npt.NDArray[Any] | None
    labeled: int
    kept: "Selection | None"


def _before(request: Request, source: Source) -> Before:
    from ..io.labels import read_labels

    n = len(source.X)
    rows, y, kept = np.empty(0, np.int64), None, None
    if request.labeled is not None:
        labels = read_labels(request.labeled, source.ids, n, id_column=source.id_column)
        rows, y = labels.rows, labels.values
    labeled = len(rows)
    if request.keep is not None:
        kept = _kept(request.keep, source, rows)
        if y is not None or request.labeled is None:
            every = np.full(n, None, object)
            every[rows] = y
            y = every
        rows = np.concatenate([rows, kept.indices])
        if len(kept) >= request.budget:
            raise UserError(f"{request.keep} holds {len(kept)} picks already: ask for a budget above that")
    return Before(rows, y, labeled, kept)


def _kept(file: str, source: Source, labeled: npt.NDArray[np.int64]) -> "Selection":
    """Earlier picks, as rows of the pool as it is now; they may have been labelled since."""
    from ..io.labels import read_labels
    from ..selection import Selection

    old = Selection.load(file)
    rows = read_labels(file, source.ids, len(source.X), id_column=source.id_column).rows
    if len(rows) != len(old):
        raise UserError(f"{file} names a row twice: keep it once")
    both = np.isin(rows, labeled)
    if both.any():
        raise UserError(f"row {rows[both][0]} is in --keep and in --labeled: leave it out of one of them")
    return Selection(rows, old.cluster, old.gain, old.radius, old.reason)


def _pick(
    request: Request, strategy: type[Strategy], source: Source, before: Before, folder: Path, resume: bool,
    unfinished: list["NullCheckpoint"], console: "Console",
) -> tuple["Selection", str]:  # fmt: skip
    """The picks, kept ones first, and what was used to pick them."""
    import mheal

    from ..runtime.checkpoint import Checkpoint, kept_unless_mistaken

    n = request.budget - (0 if before.kept is None else len(before.kept))
    deduplicate = _deduplicate(request, strategy, source)
    y = before.y if request.scheduler is None else None  # a cluster picks without a model
    stages: NullCheckpoint | None = None
    with as_progress(True, console) as progress, _memory_errors(), _cluster(request), _warnings(console) as unused:
        if resume or (strategy.resumable and deduplicate is not True and _is_large(request, source.X)):
            stages = Checkpoint(folder / "picks", None, progress)
            unfinished.append(stages)
        progress(0, 0, f"picking {n:,} of {len(source.X):,} rows")
        with nullcontext() if stages is None else kept_unless_mistaken(stages):
            picks = mheal.select(
                source.X, n, labeled=before.rows, y=y, estimator=request.estimator, proba=_proba(request, source),
                strategy=request.strategy, n_classes=request.clusters, scaling=request.scaling,
                deduplicate=deduplicate, device=request.device, memory_limit=request.max_memory, checkpoint=stages,
                random_state=request.seed, progress=progress,
            )  # fmt: skip
    used = "" if unused else _model(request, strategy, y is not None, before.labeled)
    return picks if before.kept is None else before.kept + picks, used


def _deduplicate(request: Request, strategy: type[Strategy], source: Source) -> bool | Literal["auto"]:
    """Images are in a folder twice by mistake; equal rows of a table may well be two items."""
    if request.deduplicate is not None:
        return request.deduplicate
    able = "deduplicate" in strategy._get_param_names() and request.max_memory is None
    return True if able and source.kind == "images" else "auto"


def _is_large(request: Request, X: Any) -> bool:
    """Whether it pays to keep intermediate results: picking may take long, or memory is short."""
    if request.max_memory is not None:
        return True
    if request.scheduler is not None or not hasattr(os, "sysconf"):
        return False
    return bool(X.nbytes > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2)


def _proba(request: Request, source: Source) -> npt.NDArray[Any] | None:
    """The probabilities in the file; its rows are matched by their ids where both have some, else by their order."""
    if request.proba is None:
        return None
    from ..io.read import read_pool

    found = read_pool(request.proba)
    if source.ids is None or found.ids is None:
        return found.X
    places = {name: row for row, name in enumerate(found.ids)}
    missing = next((name for name in source.ids if name not in places), None)
    if missing is not None:
        raise UserError(f"{request.proba} has no row for id {missing!r}: predict all rows of the pool")
    return found.X[[places[name] for name in source.ids]]


def _model(request: Request, strategy: type[Strategy], labels: bool, labeled: int) -> str:
    """The model that was used, in words."""
    if request.proba is not None:
        return f" with the probabilities in {request.proba}"
    if request.estimator is None and not (labels and strategy.kind == "adaptive"):
        return ""
    return f" with {request.estimator or strategy.default_estimator} fitted on {labeled:,} labels"


def _cluster(request: Request) -> AbstractContextManager[Any]:
    """The cluster that was asked for, if any."""
    if request.scheduler is None:
        return nullcontext()
    from ..backends.dask import connected

    return connected(request.scheduler)


@contextmanager
def _warnings(console: "Console") -> Iterator[list[str]]:
    """Print the library's warnings that labels or a model are not used; yields what was printed."""
    from ..uncertainty import FewLabelsWarning

    printed: list[str] = []
    show = warnings.showwarning

    def show_or_print(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if not issubclass(category, FewLabelsWarning):
            return show(message, category, *place, **more)
        printed.append(str(message))
        return console.print(str(message))

    with warnings.catch_warnings():
        warnings.simplefilter("always", FewLabelsWarning)
        warnings.showwarning = show_or_print
        yield printed


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Too little memory is no bug: say what helps."""
    try:
        yield
    except MemoryError as error:
        raise UserError(
            f"not enough memory ({error}): write the pool to a .npy file with `mheal embed`, and use --max-memory"
        ) from error
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # known by name, since torch may not be here
            raise
        raise UserError(
            "the GPU has too little free memory: end what else runs there, or leave out --device to use the CPU"
        ) from error
