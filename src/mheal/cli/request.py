"""The options of `mheal select` as data: a request can be carried out, written down and carried out again."""

import os
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from .options import LABELS, MODELS, POOL, Force, PoolOptions, Seed, option, parse_size

_picking = partial(option, panel="How to pick")
_writing = partial(option, panel="What comes out")
running = partial(option, panel="Large pools and long runs")
LABELED = (
    f"Labels you have: {LABELS}. These rows are not picked again; from 64 labels on, mheal prefers rows that a "
    "model of the labels is uncertain about."
)
PROBA = "Your model's probabilities of all rows, one column per class."
DEDUPLICATE = "Leave out rows that equal an earlier one. Default: in images."
SCALING = (
    "What distances are measured on: columns of variance 1 (standard), these as rows of length 1 (unit), the columns "
    "as they are (raw), or raw where rows have length 1 and else standard (auto)."
)
MEMORY = "Stay below this, or refuse. A .npy file or .parquet files may be larger."
SCHEDULER = "A Dask cluster to pick from .parquet files on: local, or tcp://host:8786."
OUT = "File to write; - is standard output. Default: picks.csv"
FORMATS = "csv, parquet, jsonl, label-studio, or html (a page that shows the picks). Default: by the name of the file."
RESUMED = (
    "Folder for intermediate results: an interrupted run resumes from it. Default with --max-memory: beside the picks."
)
CLUSTERS = "Clusters to find: give the number of classes if you know it. Default: by the size of the pool."
BUDGET = "How many rows to pick, or a share of those that can be picked, such as 10%."
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
    strategy: Annotated[str, _picking("NAME", "See mheal strategies.", autocompletion=_strategies)] = "mheal"
    classes: Annotated[int | None, _picking("K", CLUSTERS, "--clusters", "--classes", min=1)] = None
    labeled: Annotated[str | None, _picking("FILE", LABELED)] = None
    estimator: Annotated[str | None, _picking("NAME", f"The model that learns from your labels: {MODELS}.")] = None
    proba: Annotated[str | None, _picking("FILE", PROBA)] = None
    keep: Annotated[str | None, _picking("FILE", "Earlier picks: they come first and count in the budget.")] = None
    deduplicate: Annotated[bool | None, _picking(None, DEDUPLICATE, "--deduplicate/--no-deduplicate")] = None
    scaling: Annotated[str, _picking("NAME", SCALING)] = "auto"
    max_memory: Annotated[str | None, running("4GB", MEMORY)] = None
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
        paths = {name: path for name in INPUTS if (path := getattr(self, name)) is not None and not os.path.isabs(path)}
        changes: dict[str, Any] = {name: os.path.relpath(start / path, to) for name, path in paths.items()}
        return replace(self, **changes)

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
