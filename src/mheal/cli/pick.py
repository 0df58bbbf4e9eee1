"""Carries out a request of `mheal select`: reads the pool and the labels, and calls `mheal.select` once."""

import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from rich.console import Console

from ..exceptions import UserError
from ..io.labels import Labels
from ..io.read import read_pool
from ..io.source import Source
from ..runtime.checkpoint import Checkpoint, NullCheckpoint
from ..runtime.progress import as_progress
from ..selection import Selection
from ..strategies import Strategy, get
from ..strategies import names as strategies
from ..uncertainty import FewLabelsWarning
from .pool import labels_in, read_with_labels, say_source
from .request import Request

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Result:
    """The picks, the pool they are rows of, the model that was used, in words, and how long it took."""

    picks: Selection
    source: Source
    labeled: int
    model: str
    seconds: dict[str, float]


def carry_out(
    request: Request, console: Console, folder: Path, resume: bool, unfinished: list[NullCheckpoint]
) -> Result:
    """Read the pool and pick.

    folder : for intermediate results
    resume : whether they are wanted though there is no memory limit
    unfinished : gets the checkpoints, which the caller ends when the picks are written
    """
    start = perf_counter()
    source, labels = _read(request, folder, unfinished, console)
    say_source(request.pool, source, console)
    between = perf_counter()
    picks, labeled, model = _pick(request, source, labels, folder, resume, unfinished, console)
    return Result(picks, source, labeled, model, {"reading": between - start, "picking": perf_counter() - between})


def _read(
    request: Request, folder: Path, unfinished: list[NullCheckpoint], console: Console
) -> tuple[Source, Labels | None]:
    """The pool: in memory or mapped, as shards on a cluster, or streamed to disk where memory is too small; labels."""
    from ..runtime.memory import resident
    from .cost import refuse_small_limit, shards_to_stream, stream

    limit = request.memory_limit
    if request.scheduler is not None:
        source = _on_cluster(request)
        return source, None if request.labeled is None else labels_in(request.labeled, source)
    if limit is None:
        return read_with_labels(request, request.labeled, console, request.seed)
    if not get(request.strategy).limits_memory:
        able = [name for name in strategies() if get(name).limits_memory]
        raise UserError(f"{request.strategy} does not work within --max-memory: use {', '.join(able)}, or leave it out")
    present = resident()
    shards = shards_to_stream(request.pool, limit, present)
    if shards:
        source, stages = stream(request, shards, folder / "pool", present, console)
        unfinished.append(stages)
        labels = None if request.labeled is None else labels_in(request.labeled, source)
    else:
        source, labels = read_with_labels(request, request.labeled, console, request.seed)
        present = resident()  # what streaming leaves there goes as other memory is asked for
    X, mapped = source.X, isinstance(source.X, np.memmap)
    refuse_small_limit(limit, present, X.shape, X.dtype, mapped=mapped, model=request.uses_model)
    return source, labels


def _on_cluster(request: Request) -> Source:
    """Parquet files as a cluster reads them: X is a Dask array, and ids are read only when they are needed."""
    for option in ("text", "embed", "max_memory", "device"):
        if getattr(request, option) is not None:
            name = option.replace("_", "-")
            raise UserError(f"--scheduler and --{name} do not go together: leave out --{name}")
    try:
        from ..io.dask_parquet import read_on_cluster
    except ImportError as error:
        raise UserError("--scheduler needs Dask: pip install 'mheal[dask]'") from error
    return read_on_cluster(request.pool, **request.features)


def _kept(request: Request, source: Source, labeled: Rows) -> Selection | None:
    """The earlier picks that are kept, as rows of the pool as it is now."""
    if request.keep is None:
        return None
    old, now = Selection.load(request.keep), labels_in(request.keep, source).rows
    if len(now) != len(old):
        raise UserError(f"{request.keep} names a row twice, or one that was left out: leave it out there")
    if len(old) >= request.budget:
        raise UserError(f"{request.keep} holds {len(old)} picks already: give a larger budget")
    both = now[np.isin(now, labeled)]
    if len(both):
        raise UserError(f"row {both[0]} is in --keep and in --labeled: leave it out of one of them")
    return Selection(now, old.cluster, old.gain, old.radius, old.reason)


def _pick(
    request: Request, source: Source, labels: Labels | None, folder: Path, resume: bool,
    unfinished: list[NullCheckpoint], console: Console,
) -> tuple[Selection, int, str]:  # fmt: skip
    """The picks, kept ones first; how many rows have labels; and the model that was used."""
    from ..api import select

    strategy, n = get(request.strategy), len(source.X)
    rows, y = (np.empty(0, np.int64), None) if labels is None else (labels.rows, labels.values)
    kept = _kept(request, source, rows)
    labeled, budget = len(rows), request.budget
    model = _model(request, strategy, y is not None, labeled)
    if kept is not None:
        budget -= len(kept)
        if y is not None or request.labeled is None:  # kept picks have no labels yet
            every = np.full(n, None, object)
            every[rows] = y
            y = every
        rows = np.concatenate([rows, kept.indices])
    cluster: AbstractContextManager[Any] = nullcontext()
    if request.scheduler is not None:
        from ..backends.dask import connected

        cluster, y = connected(request.scheduler), None  # a cluster picks without a model
    with as_progress(True, console) as progress, cluster, _memory_errors(), _warnings(console) as unused:
        stages = None
        if resume or (request.max_memory is not None and strategy.resumable):
            stages = Checkpoint(folder / "picks", None, progress)
            unfinished.append(stages)
        progress(0, 0, f"picking {budget:,} of {n:,} rows")
        picks = select(
            source.X, budget, labeled=rows, y=y, estimator=request.estimator, proba=_proba(request, source),
            deduplicate=_deduplicate(request, strategy, source.kind, stages is None), device=request.device,
            memory_limit=request.memory_limit, checkpoint=stages, progress=progress, **request.how,
        )  # fmt: skip
    _refuse_alike(request.pool, picks, console)
    return picks if kept is None else kept + picks, labeled, "" if unused else model


def _refuse_alike(pool: str, picks: Selection, console: Console) -> None:
    """Picks that equal a row before them gain nothing: if most do, there are too few different rows to choose from."""
    alike = int((picks.gain == 0).sum())
    if not alike:
        return
    different = len(picks) - alike
    wrong = f"{pool}: after {different} picks all other rows equal a labelled or picked one in every feature"
    if alike <= different:
        console.print(f"{wrong}: the last {alike} picks gain nothing")
        return
    enough = f"give a budget of at most {different}" if different else "nothing is left to pick"
    raise UserError(f"{wrong}: {enough}, or give other columns")


def _deduplicate(request: Request, strategy: type[Strategy], kind: str, in_memory: bool) -> bool | Literal["auto"]:
    """Images are in a folder twice by mistake; equal rows of a table may well be two items."""
    if request.deduplicate is not None:
        return request.deduplicate
    return True if kind == "images" and in_memory and "deduplicate" in strategy._get_param_names() else "auto"


def _proba(request: Request, source: Source) -> npt.NDArray[Any] | None:
    """The probabilities in the file; its rows are matched by their ids where both have some, else by their order."""
    if request.proba is None:
        return None
    found = read_pool(request.proba, missing="refuse")
    if source.ids is None or found.ids is None:
        whole = source.rows is not None and len(found.X) == source.n_rows
        return found.X[source.rows] if whole else found.X
    places = {name: row for row, name in enumerate(found.ids)}
    wanted = source.ids_of(np.arange(len(source.X))) or []
    missing = next((name for name in wanted if name not in places), None)
    if missing is not None:
        raise UserError(f"{request.proba} has no row for id {missing!r}: predict all rows of the pool")
    return found.X[[places[name] for name in wanted]]


def _model(request: Request, strategy: type[Strategy], labels: bool, labeled: int) -> str:
    """The model that is used, in words."""
    if request.proba is not None:
        return f" with the probabilities in {request.proba}"
    if request.scheduler is not None or (request.estimator is None and not (labels and strategy.kind == "adaptive")):
        return ""
    return f" with {request.estimator or strategy.default_estimator} fitted on {labeled:,} labels"


@contextmanager
def _warnings(console: Console) -> Iterator[list[str]]:
    """Print the library's warnings that labels or a model are not used; the list says, afterwards, which there were."""
    unused: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", FewLabelsWarning)
        yield unused
    for warning in caught:
        if issubclass(warning.category, FewLabelsWarning):
            unused.append(str(warning.message))
            console.print(unused[-1])
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Too little memory is no bug: say what helps."""
    try:
        yield
    except MemoryError as error:
        remedy = "write the pool to a .npy file with `mheal embed`, and use --max-memory"
        raise UserError(f"not enough memory ({error}): {remedy}") from error
    except RuntimeError as error:
        if type(error).__name__ != "OutOfMemoryError":  # known by name, since torch may not be here
            raise
        remedy = "end what else runs there, or leave out --device to use the CPU"
        raise UserError(f"the GPU has too little free memory: {remedy}") from error
