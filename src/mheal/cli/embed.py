"""`mheal embed`: images, texts or tables as vectors in a .npy file."""

from pathlib import Path
from typing import Annotated

import typer

from ..exceptions import UserError
from ._common import POOL_HELP, Columns, Id, Quiet, Seed, Text, Without, messages, names, read_source


def embed(
    pool: Annotated[str, typer.Argument(help=POOL_HELP)],
    method: Annotated[
        str | None,
        typer.Option(
            help="shapes, pixels, pca, tfidf, none, autoencoder, simclr[:EPOCHS], timm:NAME or sentence:NAME. "
            "Default: by the kind."
        ),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write.")] = Path("vectors.npy"),
    columns: Columns = None,
    without: Without = None,
    id_column: Id = None,
    text: Text = None,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Turn a pool into vectors once, to use them many times.

    Row i of the file is item i of the pool, of unit length unless it is pixels, codes of an autoencoder, columns of a
    table or fewer than 8 numbers. The other commands do this themselves with --embed. simclr learns from the images
    for 100 passes over them, which is work for a GPU; simclr:20 takes 20.

    Example: mheal embed images --method pca --out vectors.npy
    """
    import numpy as np

    from ..runtime.files import replacing

    if out.suffix != ".npy":
        raise UserError(f"cannot write {out.name}: give --out a name that ends in .npy")
    console = messages(quiet)
    source = read_source(
        pool, console, columns=columns, without=names(without) or (), id_column=id_column, text=text, embed=method,
        seed=seed,
    )  # fmt: skip
    with replacing(out) as part, part.open("wb") as file:
        np.save(file, source.X)
    console.print(f"Written: {out}, {source.X.shape[0]:,} × {source.X.shape[1]} {source.X.dtype}", markup=False)
