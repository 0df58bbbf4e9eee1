"""The options of `mheal select` as data: a request can be carried out, written down and carried out again."""

import os
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import MODELS, POOL, Force, Labeled, PoolOptions, Seed, option, parse_size, paths

_picking = partial(option, panel="Picking")
_writing = partial(option, panel="Output")
running = partial(option, panel="Large pools and long runs")
BUDGET = "Number of rows to pick, or a share of the rows that can be picked, such as 10%."
CLUSTERS = "Number of clusters: the number of classes, if you know it. Default: by the size of the pool."
ESTIMATOR = f"Model fitted on your labels; from 64 labels on, rows that it is uncertain about are preferred: {MODELS}."
SCALING = (
    "Scaling before distances are measured: standard (columns of variance 1), unit (these, then rows of length 1), raw "
    "(none), or auto (raw where rows have length 1, else standard)."
)
RESUMED = "Folder for intermediate results: an interrupted run resumes there. Default with --max-memory: beside --out."
SCHEDULER = "Dask cluster that picks from .parquet files: local, or tcp://host:8786."
OUT = "File of the picks; - is standard output. Default: picks.csv."
FORMATS = "csv, parquet, jsonl, label-studio, or html (a page that shows the picks). Default: by the name of --out."
ESCAPED = "In CSV, put ' before text that a spreadsheet would run as a formula (= + - @)."
INPUTS = ("pool", "proba", "labeled", "keep")  # the options that name files which picks depend on


def parse_budget(text: str) -> int | str:
    """A number of rows, or a share of those that can be picked, such as 10%."""
    share = re.fullmatch(r"(\d+\.?\d*) ?%", text)
    if share and 0 < float(share[1]) <= 100:
        return text
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise typer.BadParameter(f"{text!r} is neither a number of rows nor a share of them such as 10%")
    return int(text)


def _strategies() -> list[str]:
    from ..strategies import names

    return names()


@dataclass(frozen=True, kw_only=True)
class Request(PoolOptions):
    """The options of `mheal select` that decide which rows are picked. Paths are as typed.

    Only --rerun does without a pool and a budget: `select` refuses other requests without them.
    """

    pool: Annotated[str, POOL] = None  # type: ignore[assignment]
    budget: Annotated[Any, option("N", BUDGET, "--budget", "-b", parser=parse_budget)] = None
    labeled: Labeled = None
    strategy: Annotated[str, _picking("NAME", "A name from mheal strategies.", autocompletion=_strategies)] = "mheal"
    classes: Annotated[int | None, _picking("K", CLUSTERS, "--clusters", "--classes", min=1)] = None
    estimator: Annotated[str | None, _picking("NAME", ESTIMATOR)] = None
    proba: Annotated[str | None, _picking("FILE", "Class probabilities of every row, instead of --estimator.")] = None
    keep: Annotated[str | None, _picking("FILE", "Earlier picks: they come first and count in the budget.")] = None
    deduplicate: Annotated[bool | None, _picking(None, "Use only the first of equal rows. Default: of images.")] = None
    scaling: Annotated[str, _picking("NAME", SCALING)] = "auto"
    max_memory: Annotated[str | None, running("4GB", "Memory limit; .npy and .parquet files may be larger.")] = None
    scheduler: Annotated[str | None, running("ADDRESS", SCHEDULER)] = None
    device: Annotated[str | None, running("NAME", "cpu, or a device of torch such as cuda (mheal[deep]).")] = None
    seed: Seed = 0

    @property
    def memory_limit(self) -> int | None:
        """Bytes that the process may use."""
        return None if self.max_memory is None else parse_size(str(self.max_memory))

    @property
    def how(self) -> dict[str, Any]:
        """How to pick, whatever the pool and the labels: arguments of `mheal.select`."""
        return dict(strategy=self.strategy, n_classes=self.classes, scaling=self.scaling, random_state=self.seed)

    def moved(self, start: Path, to: Path) -> "Request":
        """The same with paths that were relative to the folder `start` made relative to `to`."""
        changes: dict[str, Any] = {}
        for name, typed in self.paths.items():
            moved = [path if os.path.isabs(path) else os.path.relpath(start / path, to) for path in typed]
            changes[name] = moved if name == "labeled" else moved[0]
        return replace(self, **changes)

    @property
    def paths(self) -> dict[str, list[str]]:
        """The paths of the files that are read, as typed, by the option that names them."""
        return {name: typed for name in INPUTS if (typed := paths(getattr(self, name)))}

    @property
    def inputs(self) -> dict[str, list[Path]]:
        """The files that are read, by the option that names them."""
        from .pool import inputs

        return inputs(self.pool, self.proba, labeled=self.labeled, keep=self.keep)

    def count(self, free: int) -> int:
        """How many of the free rows to pick."""
        if isinstance(self.budget, int):
            return self.budget
        return max(1, round(free * float(self.budget.rstrip(" %")) / 100))


@dataclass(frozen=True, kw_only=True)
class Output:
    """What comes out, and where."""

    out: Annotated[str | None, _writing("FILE", OUT, "--out", "-o")] = None
    format: Annotated[str | None, _writing("NAME", FORMATS)] = None
    plot: Annotated[Path | None, _writing("FILE.png", "Draw the pool, the picks, and how far other rows are.")] = None
    force: Force = False
    escape_formulas: Annotated[bool, _writing(None, ESCAPED, "--escape-formulas")] = False
    checkpoint: Annotated[Path | None, running("FOLDER", RESUMED)] = None

    @property
    def file(self) -> str:
        """The file of the picks; "-" is standard output."""
        return self.out or "picks.csv"

    @property
    def files(self) -> list[tuple[str, Path]]:
        """The file of the picks and the picture, each with its option."""
        picks = [] if self.file == "-" else [("--out", Path(self.file))]
        return picks if self.plot is None else [*picks, ("--plot", self.plot)]
