"""What `mheal select` was asked for, as data: it can be carried out, written down and carried out again."""

import os
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UserError
from ..io.source import Source
from ._asked import ASKING, own_model, too_few
from ._common import progress_bar, read_source, refuse_together
from ._copies import COUNT, ONCE, copies_count_once, refuse_useless_copies
from ._device import CPU, refuse_missing_device
from ._predicted import Predicted, refuse_useless_proba

if TYPE_CHECKING:
    from rich.console import Console

    from ..runtime.checkpoint import Memory
    from ..selection import Selection
    from ..strategies import Strategy

ON_CLUSTER = ("mheal", "mheal-paper")  # strategies that a Dask cluster carries out
RESUMED = ("mheal", "mheal-paper", ASKING)  # those that can be stopped and taken up again, without a model


@dataclass(frozen=True)
class Request:
    """The options of `mheal select` that decide which rows are picked. Paths are as typed."""

    pool: str
    budget: int
    strategy: str = "mheal"
    clusters: int | None = None
    labeled: str | None = None
    keep: str | None = None
    columns: str | None = None
    without: str | None = None
    id: str | None = None
    text: str | None = None
    embed: str | None = None
    seed: int = 0
    max_memory: int | None = None
    scheduler: str | None = None
    device: str = CPU
    proba: str | None = None
    copies: str | None = None  # None: as the pool has it

    PATHS = ("pool", "labeled", "keep", "proba")

    def moved(self, start: Path, to: Path) -> "Request":
        """The same with paths that were relative to the folder `start` made relative to `to`."""
        changes = {}
        for name in self.PATHS:
            path = getattr(self, name)
            if path is not None and not os.path.isabs(path):
                changes[name] = os.path.relpath(start / path, to)
        return Request(**(asdict(self) | changes))

    @classmethod
    def of(cls, parameters: dict[str, Any]) -> "Request":
        """From the parameters in a record."""
        known = {f.name for f in fields(cls)}
        return cls(**{name: value for name, value in parameters.items() if name in known})


@dataclass(frozen=True)
class Result:
    """The picks, the pool they are rows of, and how long it took."""

    picks: "Selection"
    source: Source
    strategy: "Strategy"
    labeled: int
    asked: bool  # whether a model was
    seconds: dict[str, float] = field(default_factory=dict)
    unfinished: tuple["Memory", ...] = ()  # what can be deleted when the picks are written


def carry_out(request: Request, console: "Console", folder: Path | None = None) -> Result:
    """Read the pool and pick. What a large pool needs on disk, and what is finished of it, is in `folder` meanwhile."""
    from ..runtime.checkpoint import closed_if_stopped
    from ..runtime.memory import resident
    from ._memory import large_shards, refuse_small_limit

    strategy = _strategy(request)
    before = resident()
    limit = request.max_memory
    start = perf_counter()
    clustered, shards = request.scheduler is not None, []
    if limit is not None and folder is not None and not clustered:
        shards = large_shards(request.pool, request.strategy, limit, before)
    unfinished: list[Memory] = []
    with closed_if_stopped(unfinished):
        if shards and folder is not None:
            source, stages = _streamed(request, shards, folder, before, console)
            unfinished.append(stages)
        else:
            source = read(request, console)
        reading = perf_counter() - start
        if copies_count_once(request, strategy, source):
            strategy.set_params(copies=ONCE)
        if limit is not None:  # what streaming leaves behind goes as other memory is asked for
            present = before if shards else resident()
            refuse_small_limit(limit, present, source.X.shape, source.X.dtype, mapped=isinstance(source.X, np.memmap))
        start = perf_counter()
        picks, labeled, asked, stages = _pick(request, strategy, source, console, folder)
        unfinished.append(stages)
        if (shards or clustered) and source.id_column is not None:
            from ..io.shards import ids_of

            source = replace(source, ids=ids_of(source.files, source.id_column, picks.indices))  # type: ignore[arg-type]
    took = {"reading": reading, "picking": perf_counter() - start}
    return Result(picks, source, strategy, labeled, asked, took, tuple(unfinished))


def _streamed(
    request: Request, shards: list[Path], folder: Path, present: int, console: "Console"
) -> tuple[Source, "Memory"]:
    """The pool of shards that do not fit into memory, as one file in `folder`."""
    from ..io.shards import stream_shards
    from ..runtime.checkpoint import Workspace, kept_unless_mistaken
    from ..runtime.memory import limited_pages
    from ._common import names, say_source
    from ._memory import refuse_small_limit

    for option, value in {"--text": request.text, "--embed": request.embed}.items():
        if value is not None:
            raise UserError(f"{option} reads the pool into memory, which is too small: leave out --max-memory")
    limit = request.max_memory or 2**63

    def check(shape: tuple[int, int], dtype: Any) -> None:
        refuse_small_limit(limit, present, shape, dtype, np.float32, mapped=True)

    with progress_bar(console) as progress, limited_pages(None, limit):
        stages = Workspace(folder / "pool", limit, progress)
        with kept_unless_mistaken(stages):
            source = stream_shards(
                shards, request.pool, stages, columns=names(request.columns), without=names(request.without) or (),
                id_column=request.id, check=check,
            )  # fmt: skip
    say_source(request.pool, source, console)
    return source, stages


def read(request: Request, console: "Console") -> Source:
    """The pool that the request names."""
    from ._common import names, say_source

    if request.scheduler is not None:
        source = _on_cluster(request, names(request.columns), names(request.without) or [])
        say_source(request.pool, source, console)
        return source
    return read_source(
        request.pool, console, columns=request.columns, without=names(request.without) or (), id_column=request.id,
        text=request.text, embed=request.embed, seed=request.seed,
    )  # fmt: skip


def _on_cluster(request: Request, columns: list[str] | None, without: list[str]) -> Source:
    """Parquet files as a cluster reads them: X is a Dask array, and only those ids are read that are asked for."""
    for option in ("text", "embed", "max_memory"):
        if getattr(request, option) is not None:
            raise UserError(f"a cluster reads columns of numbers as they are: leave out --{option.replace('_', '-')}")
    if request.strategy not in ON_CLUSTER:
        raise UserError(f"{request.strategy} does not run on a cluster: {' and '.join(ON_CLUSTER)} do")
    try:
        from ..io.dask_parquet import Ids, column_names, parquet_files, read_parquet
    except ImportError as error:
        raise UserError("--scheduler needs Dask: pip install 'mheal[dask]'") from error
    id_column = request.id
    if id_column is None and "id" in column_names(request.pool) and "id" not in [*(columns or []), *without]:
        id_column = "id"
    ids: Any = None if id_column is None else Ids(request.pool, id_column)
    X = read_parquet(request.pool, columns, [*without, *([] if id_column is None else [id_column])])
    said = f"{X.shape[1]:,} columns of numbers, in {X.npartitions:,} parts"
    return Source(X, "vectors", said, parquet_files(request.pool), ids, id_column)


def _cluster(request: Request) -> AbstractContextManager[Any]:
    """The cluster that was asked for, if any."""
    if request.scheduler is None:
        return nullcontext()
    from ..backends.dask import connected

    return connected(request.scheduler)


def _strategy(request: Request) -> "Strategy":
    from ..strategies import get

    kind = get(request.strategy)
    parameters: dict[str, Any] = {}
    if request.clusters is not None:
        if "n_clusters" not in kind._get_param_names():
            raise UserError(f"{request.strategy} has no clusters to set: leave out --clusters and --classes")
        parameters["n_clusters"] = request.clusters
    if request.device != CPU:
        if "device" not in kind._get_param_names():
            raise UserError(
                f"{request.strategy} takes no --device: leave it out, or use mheal, mheal-asking or mheal-paper"
            )
        refuse_together("--device", ("max_memory", "scheduler"), request)
        refuse_missing_device(request.device)
        parameters["device"] = request.device
    if request.copies is not None:
        refuse_useless_copies(request, kind._get_param_names())
        parameters["copies"] = request.copies
    if request.proba is not None:
        refuse_useless_proba(request)
        if request.labeled is None and "ask_from" in kind._get_param_names():
            parameters["ask_from"] = 0  # the model has learnt from labels that are not in the pool
    return kind(**parameters)


def _pick(
    request: Request, strategy: "Strategy", source: Source, console: "Console", folder: Path | None
) -> tuple["Selection", int, bool, "Memory"]:
    from ..io.labels import read_labels
    from ..runtime.checkpoint import Memory, Workspace, kept_unless_mistaken, working_in
    from ..runtime.memory import limited_pages
    from ..strategies import Pool
    from ..validation import as_budget

    n = len(source.X)
    rows, values, kept = np.empty(0, np.int64), np.empty(0), None
    if request.labeled is not None:
        labels = read_labels(request.labeled, source.ids, n, id_column=source.id_column)
        rows, values = labels.rows, values if labels.values is None else labels.values
    new = request.budget
    if request.keep is not None:
        kept = _kept(request.keep, source, rows)
        new -= len(kept)
        if new < 1:
            raise UserError(f"{request.keep} holds {len(kept)} picks already: ask for a budget above that")
    before = rows if kept is None else np.concatenate([rows, kept.indices])
    as_budget(new, n - len(before))
    if (strategy.needs_model and request.proba is None) or strategy.needs_labels:
        if len(values) == 0:
            raise UserError(
                f"{strategy.name} learns from labels: give some with --labeled FILE (columns row or id, and label), "
                "or use mheal, which needs none"
            )
        if kept is not None:
            raise UserError(f"{strategy.name} learns from labels, which kept picks do not have: leave out --keep")
    if request.proba is not None:
        model: Any = Predicted(request.proba, source)
        model = None if too_few(strategy, len(rows), console) else model  # kept picks have no labels yet
    else:
        model = own_model(strategy, source.X, rows, values, request.seed, console)
    known = values if kept is None else np.empty(0)  # labels of all rows before, or of none
    pool = Pool(source.X, before, known, model, np.random.default_rng(request.seed))
    with progress_bar(console) as progress, limited_pages(source.X, request.max_memory or 2**63):
        stages: Memory = Memory(progress)
        in_memory = getattr(strategy, "copies", COUNT) == ONCE or model is not None
        if folder is not None and request.strategy in RESUMED and _is_large(request, source.X) and not in_memory:
            stages = Workspace(folder / "picks", request.max_memory, progress)
        else:
            progress(0, 0, f"picking {new:,} of {n:,} rows")
        with kept_unless_mistaken(stages), working_in(stages), _cluster(request):
            picks = strategy.select(pool, new)
    return picks if kept is None else _joined(kept, picks), len(rows), model is not None, stages


def _kept(file: str, source: Source, labeled: np.ndarray[Any, Any]) -> "Selection":
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
    return Selection(rows, old.cluster, old.gain, old.radius)


def _joined(first: "Selection", then: "Selection") -> "Selection":
    from ..selection import Selection

    columns = ("indices", "cluster", "gain", "radius")
    return Selection(*(np.concatenate([getattr(first, name), getattr(then, name)]) for name in columns))


def _is_large(request: Request, X: Any) -> bool:
    """Whether it pays to keep what is finished: picking may take long, or memory is short."""
    if request.max_memory is not None:
        return True
    if not hasattr(os, "sysconf"):
        return False
    return bool(X.nbytes > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2)
