"""What `mheal select` was asked for, as data: it can be carried out, written down and carried out again."""

import os
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..pool.source import Source
from ._common import progress_bar, read_source, size

if TYPE_CHECKING:
    from rich.console import Console

    from ..selection import Selection
    from ..strategies import Strategy

PER_ROW = 100  # bytes that picking keeps for each row; benchmarks/memory.py measures 65
SCRATCH = 100_000_000  # bytes of buffers, whatever the pool
THRIFTY = ("mheal", "mheal-paper", "random")  # strategies that never copy a memory-mapped pool


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

    PATHS = ("pool", "labeled", "keep")

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
    seconds: dict[str, float] = field(default_factory=dict)


def carry_out(request: Request, console: "Console") -> Result:
    """Read the pool and pick."""
    strategy = _strategy(request)
    limit = request.max_memory
    if limit is not None:
        _refuse_large_files(request, limit)
    start = perf_counter()
    source = read(request, console)
    reading = perf_counter() - start
    if limit is not None:
        _refuse_large_pool(source, limit)
    start = perf_counter()
    picks, labeled = _pick(request, strategy, source, console)
    return Result(picks, source, strategy, labeled, {"reading": reading, "picking": perf_counter() - start})


def read(request: Request, console: "Console") -> Source:
    """The pool that the request names."""
    from ._common import names

    return read_source(
        request.pool, console, columns=request.columns, without=names(request.without) or (), id_column=request.id,
        text=request.text, embed=request.embed, seed=request.seed,
    )  # fmt: skip


def _strategy(request: Request) -> "Strategy":
    from ..strategies import get

    kind = get(request.strategy)
    if request.clusters is None:
        return kind()
    if "n_clusters" not in kind._get_param_names():
        raise ValueError(f"{request.strategy} has no clusters to set: leave out --clusters and --classes")
    return kind(n_clusters=request.clusters)


def _pick(request: Request, strategy: "Strategy", source: Source, console: "Console") -> tuple["Selection", int]:
    from ..learn.models import fit_model
    from ..pool.check import as_budget
    from ..pool.labels import read_labels
    from ..pool.pages import limited_pages
    from ..strategies import Pool

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
            raise ValueError(f"{request.keep} holds {len(kept)} picks already: ask for a budget above that")
    before = rows if kept is None else np.concatenate([rows, kept.indices])
    as_budget(new, n - len(before))
    if strategy.needs_model or strategy.needs_labels:
        if len(values) == 0:
            raise ValueError(
                f"{strategy.name} learns from labels: give some with --labeled FILE (columns row or id, and label), "
                "or use mheal, which needs none"
            )
        if kept is not None:
            raise ValueError(f"{strategy.name} learns from labels, which kept picks do not have: leave out --keep")
    wants_model = strategy.kind == "adaptive" and len(values) > 0
    model = fit_model("logistic", request.seed, source.X[rows], values) if wants_model else None
    known = values if kept is None else np.empty(0)  # labels of all rows before, or of none
    pool = Pool(source.X, before, known, model, np.random.default_rng(request.seed))
    with progress_bar(console) as progress, limited_pages(source.X, request.max_memory or 2**63):
        progress(0, 0, f"picking {new:,} of {n:,} rows")
        picks = strategy.select(pool, new)
    return picks if kept is None else _joined(kept, picks), len(rows)


def _kept(file: str, source: Source, labeled: np.ndarray[Any, Any]) -> "Selection":
    """Earlier picks, as rows of the pool as it is now; they may have been labelled since."""
    from ..pool.labels import read_labels
    from ..selection import Selection

    old = Selection.load(file)
    rows = read_labels(file, source.ids, len(source.X), id_column=source.id_column).rows
    if len(rows) != len(old):
        raise ValueError(f"{file} names a row twice: keep it once")
    both = np.isin(rows, labeled)
    if both.any():
        raise ValueError(f"row {rows[both][0]} is in --keep and in --labeled: leave it out of one of them")
    return Selection(rows, old.cluster, old.gain, old.radius)


def _joined(first: "Selection", then: "Selection") -> "Selection":
    from ..selection import Selection

    columns = ("indices", "cluster", "gain", "radius")
    return Selection(*(np.concatenate([getattr(first, name), getattr(then, name)]) for name in columns))


def needed(X: Any) -> int:
    """Bytes that picking from X needs besides what the process has now; a memory-mapped X itself can be given back."""
    from ..pool.pages import HEADROOM

    return SCRATCH + PER_ROW * len(X) + (HEADROOM if isinstance(X, np.memmap) else 0)


def _refuse_large_files(request: Request, limit: int) -> None:
    from ..pool.locate import locate

    if request.strategy not in THRIFTY:
        raise ValueError(f"--max-memory is kept by {', '.join(THRIFTY)} only: {request.strategy} may copy the pool")
    found = locate(request.pool)
    total = sum(file.stat().st_size for file in found.files)
    if (found.form != ".npy" or len(found.files) > 1) and total > limit:
        raise ValueError(
            f"{request.pool} holds {size(total)}, which cannot be read within {size(limit)}: "
            "only a single .npy file is read in place (`mheal embed` writes one)"
        )


def _refuse_large_pool(source: Source, limit: int) -> None:
    from ..pool.pages import resident

    total = resident() + needed(source.X)
    if total > limit:
        raise ValueError(f"picking from {len(source.X):,} rows takes about {size(total)}: raise --max-memory to that")
