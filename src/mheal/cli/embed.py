"""`mheal embed`: images, texts or tables as vectors in a .npy or .parquet file."""

from pathlib import Path
from typing import Annotated

from ..exceptions import UserError
from .console import messages
from .options import Force, PoolOptions, Quiet, Seed, from_fields, option


@from_fields
def embed(
    options: PoolOptions,
    out: Annotated[Path, option("FILE", "File to write: .npy, or .parquet.", "--out", "-o")] = Path("vectors.npy"),
    force: Force = False,
    seed: Seed = 0,
    quiet: Quiet = False,
) -> None:
    """Turn a pool into vectors, to use them many times.

    Row i of the file is item i of the pool, not counting items that are left out. A .parquet file also holds the names
    of the items, in a column id. Rows have unit length, except pixels, codes of an autoencoder, columns of a table and
    rows of fewer than 8 numbers. The other commands embed a pool in the same way. simclr trains on the images for 100
    epochs, which is slow without a GPU; simclr:20 trains for 20.

    Example: mheal embed images --embed pca --out vectors.npy
    """
    import numpy as np
    import polars

    from ..runtime.outputs import Outputs
    from .pool import inputs, print_source, read

    if out.suffix not in (".npy", ".parquet"):
        raise UserError(f"cannot write {out.name!r}: give --out a name that ends in .npy or .parquet")
    console = messages(quiet)
    with Outputs([("--out", out)], inputs(pool=options.pool), force=force) as outputs:
        source = read(options, console, seed)
        print_source(options.pool, source, console)
        with outputs.writing(out) as parts, parts[0].open("wb") as file:
            if out.suffix == ".npy":
                np.save(file, source.X)
            else:
                ids = source.ids_of(rows := np.arange(len(source.X))) or source.numbers(rows)
                polars.DataFrame({"id": ids, "embedding": source.X}).write_parquet(file)
    if out.suffix == ".npy" and (source.skipped or source.rows is not None):
        console.print(f"row i of {out} is the i-th item that is not left out; a .parquet file holds the names of items")
    console.print(f"Written: {out}, {source.X.shape[0]:,} × {source.X.shape[1]} {source.X.dtype}")
