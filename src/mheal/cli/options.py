"""The options of the commands: shared ones, those of `mheal select` as dataclasses, and parsers of their values."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass, replace
from functools import partial, wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any

import typer

from ..exceptions import UserError

MODELS = "logistic, svm, knn, forest, logistic+knn, or your own as package.module:attribute"
LABELED = (
    "Labels so far: a table with row or id, and label; or a Label Studio export. These rows are not picked. May be "
    "given several times, such as a file for each round."
)
COLUMNS = "Columns to use as features. Default: numbers, dates and categories, except labels, ids and codes."
MISSING = "Missing values: impute (median or most frequent value), drop (leave out the rows), or refuse."
EMBED = (
    "How items become vectors: auto, efficientnet, efficientnet+shapes, shapes, pixels, pca, minilm, minilm+tfidf, "
    "tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME, sentence:NAME, or the name of a method that an installed "
    "package adds. Default: none for numbers; auto for images and texts: a pretrained network, efficientnet (with "
    "shapes if all images are grey) or minilm+tfidf, if it is installed, else shapes or tfidf."
)
SPLITS = "Number of random splits to average over. Their seeds are --seed and the numbers after it."
FORCE = "Replace files that mheal did not write, or that were changed since. Input files are never replaced."
BUDGET = "Number of rows to pick, or a share of the rows that can be picked, such as 10%."
STRATEGY = "A name from mheal strategies."
CLUSTERS = "Number of clusters. Give the number of classes if you know it. Default: depends on the size of the pool."
ESTIMATOR = f"Model fitted on your labels; from 64 labels on, rows that it is uncertain about are preferred: {MODELS}."
SCALING = (
    "Scaling before distances are measured: standard (columns of variance 1), unit (these, then rows of length 1), raw "
    "(none), or auto (raw where rows have length 1, else standard)."
)
RESUMED = "Folder for intermediate results: an interrupted run resumes there. Default with --max-memory: beside --out."
SCHEDULER = "Dask cluster on which to pick from .parquet files: local, or tcp://host:8786."
OUT = "File of the picks; - is standard output. Default: picks.csv."
FORMATS = "csv, parquet, jsonl, label-studio, or html (a page that shows the picks). Default: by the name of --out."
ESCAPED = "In CSV, put ' before text that a spreadsheet would run as a formula (= + - @)."
POOL = typer.Argument(
    metavar="POOL",
    help="A .npy, .npz, .csv, .tsv, .xlsx, .parquet, .jsonl or .txt file, a folder of images, or a quoted pattern.",
    show_default=False,
)
INPUTS = ("pool", "proba", "labeled", "keep")  # options that name files on which the picks depend


def names(listed: str | None) -> list[str] | None:
    """The names in a comma-separated option."""
    return None if listed is None else [name.strip() for name in listed.split(",") if name.strip()]


def paths(typed: str | list[str] | None) -> list[str]:
    """The paths in an option that may be given once, several times or not at all."""
    return [typed] if isinstance(typed, str) else typed or []


def parse_size(text: str) -> int:
    """Bytes in '4GB', '500MB' or '1.5 GiB'."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    number = float(match[1]) if match else 0.0
    if match is None or number <= 0:
        raise UserError(f"cannot read the size {text!r}: write it like 4GB or 500MB")
    return int(number * (1024 if match[3] else 1000) ** (" KMGT".index(match[2].upper() or " ")))


def parse_budget(text: str) -> int | str:
    """A number of rows, or a share of those that can be picked, such as 10%."""
    share = re.fullmatch(r"(\d+\.?\d*) ?%", text)
    if share and 0 < float(share[1]) <= 100:
        return text
    if not re.fullmatch(r"[+-]?\d{1,18}", text):
        raise typer.BadParameter(f"{text!r} is neither a number of rows nor a share of them such as 10%")
    return int(text)


def parse_share(text: str) -> float:
    """A share such as 0.9 or 90%."""
    try:
        return float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not a share such as 0.9 or 90%") from None


def option(metavar: str | None, help: str, *flags: str, panel: str | None = None, **more: Any) -> Any:
    """A Typer option; `panel` is the part of the help that lists it."""
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


known = partial(import_module, "mheal.strategies")  # loaded on first use
_feature = partial(option, panel="Features of the pool")
_picking = partial(option, panel="Picking")
_writing = partial(option, panel="Output")
running = partial(option, panel="Large pools and long runs")
Labeled = Annotated[list[str] | None, option("FILE", LABELED)]
Estimator = Annotated[str, option("NAME", f"Model trained on the labels: {MODELS}.")]
Seed = Annotated[int, option("N", "Same seed, same result.", min=0, max=2**31 - 1)]
Quiet = Annotated[bool, option(None, "Print nothing but results and errors.", "--quiet", "-q")]
Force = Annotated[bool, option(None, FORCE, "--force")]


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """The options about the pool and its features, as typed."""

    pool: Annotated[str, POOL]
    columns: Annotated[str | None, _feature("A,B", COLUMNS)] = None
    without: Annotated[str | None, _feature("A,B", "Columns to leave out.")] = None
    also: Annotated[str | None, _feature("A,B", "Columns to use in addition to the default ones.", "--with")] = None
    missing: Annotated[str, _feature("NAME", MISSING)] = "impute"
    id: Annotated[str | None, _feature("COLUMN", "Column of ids. Default: one that is named like ids.")] = None
    text: Annotated[str | None, _feature("COLUMN", "Column to read as texts.")] = None
    embed: Annotated[str | None, _feature("METHOD", EMBED)] = None

    @property
    def features(self) -> dict[str, Any]:
        """The options about features and ids, as arguments of `read_pool`."""
        without, also = names(self.without) or (), names(self.also) or ()
        return dict(columns=names(self.columns), without=without, also=also, id_column=self.id)


@dataclass(frozen=True, kw_only=True)
class Request(PoolOptions):
    """The options of `mheal select` that decide which rows are picked. Paths are as typed.

    The pool and the budget may be missing only with --rerun: `select` checks that.
    """

    pool: Annotated[str, POOL] = None  # type: ignore[assignment]
    budget: Annotated[Any, option("N", BUDGET, "--budget", "-b", parser=parse_budget)] = None
    labeled: Labeled = None
    strategy: Annotated[str, _picking("NAME", STRATEGY, autocompletion=lambda: known().names())] = "mheal"
    classes: Annotated[int | None, _picking("K", CLUSTERS, "--clusters", "--classes", min=1)] = None
    estimator: Annotated[str | None, _picking("NAME", ESTIMATOR)] = None
    proba: Annotated[str | None, _picking("FILE", "Class probabilities of every row, instead of --estimator.")] = None
    keep: Annotated[str | None, _picking("FILE", "Earlier picks: they come first and count towards the budget.")] = None
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
        """The options that do not depend on the pool and the labels, as arguments of `mheal.select`."""
        return dict(strategy=self.strategy, n_classes=self.classes, scaling=self.scaling, random_state=self.seed)

    @property
    def paths(self) -> dict[str, list[str]]:
        """The paths of the input files, as typed, by option."""
        return {name: typed for name in INPUTS if (typed := paths(getattr(self, name)))}

    def moved(self, start: Path, to: Path) -> "Request":
        """The same request, with paths relative to the folder `to` instead of `start`."""
        changes: dict[str, Any] = {}
        for name, typed in self.paths.items():
            moved = [path if os.path.isabs(path) else os.path.relpath(start / path, to) for path in typed]
            changes[name] = moved if name == "labeled" else moved[0]
        return replace(self, **changes)

    def count(self, free: int) -> int:
        """The number of rows to pick if `free` rows can be picked."""
        if isinstance(self.budget, int):
            return self.budget
        return max(1, round(free * float(self.budget.rstrip(" %")) / 100))


@dataclass(frozen=True, kw_only=True)
class Output:
    """The options about the output."""

    out: Annotated[str | None, _writing("FILE", OUT, "--out", "-o")] = None
    format: Annotated[str | None, _writing("NAME", FORMATS)] = None
    plot: Annotated[Path | None, _writing("FILE.png", "Draw the pool, the picks and the largest distance.")] = None
    force: Force = False
    escape_formulas: Annotated[bool, _writing(None, ESCAPED, "--escape-formulas")] = False
    checkpoint: Annotated[Path | None, running("FOLDER", RESUMED)] = None

    @property
    def file(self) -> str:
        """The file of the picks; "-" is standard output."""
        if self.out is not None and not self.out.strip():
            raise UserError("--out is empty: name a file, or leave --out away for picks.csv")
        return self.out or "picks.csv"

    @property
    def files(self) -> list[tuple[str, Path]]:
        """The file of the picks and that of the picture, each with its option."""
        picks = [] if self.file == "-" else [("--out", Path(self.file))]
        return picks if self.plot is None else [*picks, ("--plot", self.plot)]


def from_fields(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a signature for Typer: an argument that is a dataclass is replaced by its fields."""
    kinds: dict[str, Any] = {name: kind for name, kind in command.__annotations__.items() if is_dataclass(kind)}
    groups = {name: signature(kind).parameters for name, kind in kinds.items()}

    @wraps(command)
    def run(**given: Any) -> None:
        for name, fields in groups.items():
            given[name] = kinds[name](**{field: given.pop(field) for field in fields})
        command(**given)

    options = [
        one.replace(kind=Parameter.KEYWORD_ONLY)
        for name, argument in signature(command).parameters.items()
        for one in (groups[name].values() if name in groups else [argument])
    ]
    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run
