"""Embedding Atlas: a Parquet file of the pool and the picks, which `embedding-atlas FILE` opens."""

from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import UserError
from ..runtime.files import replacing
from ..selection import Selection
from ..validation import as_array


def write(path: str | PathLike[str], X: Any, picks: Selection, *, data: Any = None, projection: Any = None) -> None:
    """Write all rows of X, with the fields of their picks, for `embedding-atlas FILE --vector vector`.

    path : a .parquet file
    X : (rows, columns) the pool, as `mheal.select` takes it; becomes the column `vector`
    data : a pandas or polars frame, or a dict of columns, with a row for each row of X: texts, names, labels
    projection : (rows, 2) coordinates, which become the columns `x` and `y`; draw them with `--disable-projection --x x
        --y y`. None: Embedding Atlas computes a projection of the vectors
    """
    import polars

    if (file := Path(path)).suffix != ".parquet":
        raise UserError(f"{file.name!r}: give a name that ends in .parquet")
    vectors = as_array(X).astype(np.float32)
    frame = _frame(data, len(vectors))
    taken = {"vector": polars.Series("vector", vectors, polars.Array(polars.Float32, vectors.shape[1]))}
    if projection is not None:
        places = np.asarray(projection, np.float32)
        if places.shape != (len(vectors), 2):
            raise UserError(
                f"projection has shape {places.shape}: it needs two numbers for each of {len(vectors)} rows"
            )
        taken |= {"x": polars.Series("x", places[:, 0]), "y": polars.Series("y", places[:, 1])}
    found = picks.to_frame().rename(lambda name: f"pick_{name}").rename({"pick_row": "row"})
    pool = frame.with_columns(*taken.values()).with_columns(
        polars.int_range(polars.len(), dtype=polars.Int64).alias("row")
    )
    with replacing(file) as partial:
        pool.join(found, on="row", how="left", maintain_order="left").write_parquet(partial)


def _frame(data: Any, rows: int) -> Any:
    """The data as a polars frame of this many rows."""
    import polars

    if data is None:
        return polars.DataFrame({"row": np.arange(rows)})
    if isinstance(data, polars.DataFrame):
        frame = data
    else:
        columns = {str(name): list(data[name]) for name in data}
        frame = polars.DataFrame(columns, strict=False)
    if len(frame) != rows:
        raise UserError(f"data has {len(frame)} rows and X has {rows}: give a row for each row of X")
    return frame
