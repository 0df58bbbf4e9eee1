"""Options that several commands share, and what their text means."""

import re
from functools import partial
from typing import Annotated

import typer

from ..exceptions import UserError

MODELS = "logistic, svm, knn, forest, logistic+knn, or your own as package.module:attribute"
LABELS = "a table with row or id, and label; or a Label Studio export"

_feature = partial(typer.Option, rich_help_panel="What the pool's features are")

_POOL = typer.Argument(
    metavar="POOL",
    help="A .npy, .npz, .csv, .tsv, .parquet, .jsonl or .txt file, a folder of images, or a quoted pattern of such "
    "files.",
    show_default=False,
)
Pool = Annotated[str, _POOL]
PoolUnlessRerun = Annotated[str | None, _POOL]
Columns = Annotated[
    str | None, _feature(metavar="A,B", help="Columns that are features. Default: all numbers and categories.")
]
Without = Annotated[str | None, _feature(metavar="A,B", help="Columns that are not features.")]
Id = Annotated[
    str | None, _feature("--id", metavar="COLUMN", help="Column that names each row. Default: `id`, if there is one.")
]
Text = Annotated[str | None, _feature("--text", metavar="COLUMN", help="Column to read as texts.")]
Embed = Annotated[
    str | None,
    _feature(
        metavar="METHOD",
        help="How items become vectors: shapes, pixels, pca, tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME, "
        "sentence:NAME. Default: by the kind of items.",
    ),
]
Seed = Annotated[int, typer.Option(min=0, max=2**31 - 1, metavar="N", help="Same seed, same result.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but results and errors.")]


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
