"""Options that several commands share, what their text means, and options that are declared as a dataclass."""

import re
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Annotated, Any

import typer

from ..exceptions import UserError

MODELS = "logistic, svm, knn, forest, logistic+knn, or your own as package.module:attribute"
LABELED = (
    "Labels so far: a table with row or id, and label; or a Label Studio export. These rows are not picked. May be "
    "given several times: a file for each round."
)
COLUMNS = "Columns to use as features. Default: numbers, dates and categories, but no labels, ids and codes."
MISSING = "Missing values: impute (median or most frequent value), drop (leave out the rows), or refuse."
EMBED = (
    "How items become vectors: shapes, pixels, pca, tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME, "
    "sentence:NAME, or the name of a method that an installed package adds. Default: by the kind of items."
)
SPLITS = "Random splits to average over. The first has the seed --seed, the others the numbers after it."
FORCE = "Replace files that mheal did not write, or that were changed since. Files that are read are never replaced."
POOL = typer.Argument(
    metavar="POOL",
    help="A .npy, .npz, .csv, .tsv, .xlsx, .parquet, .jsonl or .txt file, a folder of images, or a quoted pattern.",
    show_default=False,
)


def option(metavar: str | None, help: str, *flags: str, panel: str | None = None, **more: Any) -> Any:
    """A Typer option; `panel` is the part of the help that lists it."""
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


Labeled = Annotated[list[str] | None, option("FILE", LABELED)]
Estimator = Annotated[str, option("NAME", f"The model that learns from the labels: {MODELS}.")]
Seed = Annotated[int, option("N", "Same seed, same result.", min=0, max=2**31 - 1)]
Quiet = Annotated[bool, option(None, "Print nothing but results and errors.", "--quiet", "-q")]
Force = Annotated[bool, option(None, FORCE, "--force")]
_feature = partial(option, panel="Features of the pool")


@dataclass(frozen=True, kw_only=True)
class PoolOptions:
    """Which pool, and what its features are, as typed."""

    pool: Annotated[str, POOL]
    columns: Annotated[str | None, _feature("A,B", COLUMNS)] = None
    without: Annotated[str | None, _feature("A,B", "Columns to leave out.")] = None
    also: Annotated[str | None, _feature("A,B", "Columns to use although they would be left out.", "--with")] = None
    missing: Annotated[str, _feature("NAME", MISSING)] = "impute"
    id: Annotated[str | None, _feature("COLUMN", "Column of ids. Default: one that is named like ids.")] = None
    text: Annotated[str | None, _feature("COLUMN", "Column to read as texts.")] = None
    embed: Annotated[str | None, _feature("METHOD", EMBED)] = None

    @property
    def features(self) -> dict[str, Any]:
        """Which columns are features and which one names the rows, as arguments of `read_pool`."""
        without, also = names(self.without) or (), names(self.also) or ()
        return dict(columns=names(self.columns), without=without, also=also, id_column=self.id)


def from_fields(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer takes it: the fields of an argument that is a dataclass are options of their own."""
    arguments = signature(command).parameters
    kinds: dict[str, Any] = {name: kind for name, kind in command.__annotations__.items() if is_dataclass(kind)}
    groups = {name: signature(kind) for name, kind in kinds.items()}

    @wraps(command)
    def run(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = kinds[name](**{field: given.pop(field) for field in group.parameters})
        command(**given)

    options = [
        one.replace(kind=Parameter.KEYWORD_ONLY)
        for name, argument in arguments.items()
        for one in (groups[name].parameters.values() if name in groups else [argument])
    ]
    run.__signature__ = Signature(options)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in options}
    return run


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
