"""Options that several commands share, and what their text means."""

import re
from functools import partial
from typing import Annotated, Any

import typer

from ..exceptions import UserError

MODELS = "logistic, svm, knn, forest, logistic+knn, or your own as package.module:attribute"
LABELS = "a table with row or id, and label; or a Label Studio export"


def option(metavar: str | None, help: str, *flags: str, panel: str | None = None, **more: Any) -> Any:
    """A Typer option; `panel` is the part of the help that lists it."""
    return typer.Option(*flags, metavar=metavar, help=help, rich_help_panel=panel, **more)


_POOL = typer.Argument(
    metavar="POOL",
    help="A .npy, .npz, .csv, .tsv, .parquet, .jsonl or .txt file, a folder of images, or a quoted pattern of files.",
    show_default=False,
)
Pool = Annotated[str, _POOL]
PoolUnlessRerun = Annotated[str | None, _POOL]
Estimator = Annotated[str, option("NAME", f"The model that learns from the labels: {MODELS}.")]
Seed = Annotated[int, option("N", "Same seed, same result.", min=0, max=2**31 - 1)]
Quiet = Annotated[bool, option(None, "Print nothing but results and errors.", "--quiet", "-q")]

EMBED = (
    "How items become vectors: shapes, pixels, pca, tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME, "
    "sentence:NAME. Default: by the kind of items."
)
_feature = partial(option, panel="What the pool's features are")
Columns = Annotated[str | None, _feature("A,B", "Columns that are features. Default: all numbers and categories.")]
Without = Annotated[str | None, _feature("A,B", "Columns that are not features.")]
Id = Annotated[str | None, _feature("COLUMN", "Column that names each row. Default: id, if there is one.", "--id")]
Text = Annotated[str | None, _feature("COLUMN", "Column to read as texts.", "--text")]
Embed = Annotated[str | None, _feature("METHOD", EMBED)]


def names(listed: str | None) -> list[str] | None:
    """The names in a comma-separated option."""
    if listed is None:
        return None
    return [name.strip() for name in listed.split(",") if name.strip()]


def whole_numbers(listed: str, option: str) -> list[int]:
    """The whole numbers in a comma-separated option."""
    try:
        return [int(name) for name in names(listed) or []]
    except ValueError:
        raise UserError(f"{option} takes whole numbers separated by commas, got {listed!r}") from None


def parse_size(text: str) -> int:
    """Bytes in '4GB', '500MB' or '1.5 GiB'."""
    match = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([KMGT]?)(i?)B?\s*", text, re.IGNORECASE)
    number = float(match[1]) if match else 0.0
    if match is None or number <= 0:
        raise UserError(f"cannot read the size {text!r}: write it like 4GB or 500MB")
    return int(number * (1024 if match[3] else 1000) ** (" KMGT".index(match[2].upper() or " ")))
