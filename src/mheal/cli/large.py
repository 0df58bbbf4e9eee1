"""Pools larger than memory: what picking needs, the limit of `--max-memory`, shards that are streamed to disk."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..exceptions import UserError
from ..io.source import Source
from ..runtime.progress import as_progress
from .console import size
from .options import names
from .request import Request

if TYPE_CHECKING:
    from rich.console import Console

    from ..runtime.checkpoint import NullCheckpoint

ROW_NUMBERS = 16  # bytes of whole numbers that picking keeps for each row,
ROW_FLOATS = 5  # and floats
SCRATCH = 50_000_000  # bytes of buffers, whatever the pool
MODEL = 200_000_000  # bytes that a model takes to predict a part of the pool,
MODEL_ROW = 16  # and for each row
READER = 60_000_000  # bytes that Polars itself takes,
READING = 4  # and times the columns' own bytes that reading Parquet files as a whole takes at its worst
MARGIN = 1.1  # what a process has in memory differs from run to run


def needed(shape: tuple[int, ...], dtype: Any, mapped: bool, model: bool = False) -> int:
    """Bytes that picking needs besides what the process has now; a memory-mapped pool itself can be given back."""
    from ..backends.cpu.traversal import FRONT_BYTES, FRONT_SHARE
    from ..runtime.memory import headroom
    from ..validation import working_dtype

    rows, columns = shape
    dtype = np.dtype(dtype)
    floats = np.dtype(working_dtype(dtype)).itemsize
    front = min(FRONT_BYTES, rows * columns * floats // FRONT_SHARE)
    copied = 0 if dtype in (np.float32, np.float64) else rows * columns * floats
    queried = MODEL + MODEL_ROW * rows if model else 0
    picking = SCRATCH + (ROW_NUMBERS + ROW_FLOATS * floats) * rows + front + copied
    return picking + queried + (headroom() if mapped else 0)


def refuse_small_limit(
    limit: int, present: int, shape: tuple[int, ...], *dtypes: Any, mapped: bool, model: bool = False
) -> None:
    """Refuse a limit that is too small whichever of these types the numbers turn out to have; name one that is not.

    present : bytes that the process has in memory now
    model : whether a model is queried
    """
    totals = [present + needed(shape, dtype, mapped, model) for dtype in dtypes]
    if min(totals) > limit:
        enough = MARGIN * max(totals)
        digit = 10**8 if enough >= 1e9 else 10**6  # the last that is shown
        raise UserError(
            f"picking from {shape[0]:,} rows takes about {size(max(totals))}: raise --max-memory to "
            f"{size(math.ceil(enough / digit) * digit).replace(' ', '')}"
        )


def shards_to_stream(pool: str, limit: int, present: int) -> list[Path]:
    """The Parquet files of the pool, if they would not fit into memory; other large files are refused."""
    from ..io.locate import locate

    found = locate(pool)
    if found.form == ".parquet":
        from ..io.shards import expected_shape

        rows, columns = shape = expected_shape(found.files)
        whole = READER + READING * 8 * rows * columns + needed(shape, np.float64, mapped=False)
        return found.files if present + whole > limit else []
    total = sum(file.stat().st_size for file in found.files)
    if (found.form != ".npy" or len(found.files) > 1) and total > limit:
        raise UserError(
            f"{pool} holds {size(total)}, which cannot be read within {size(limit)}: only a single .npy file "
            "is read in place, and .parquet files are streamed (`mheal embed` writes a .npy file)"
        )
    return []


def stream(
    request: Request, shards: list[Path], folder: Path, present: int, console: "Console"
) -> tuple[Source, "NullCheckpoint"]:
    """The pool of shards that do not fit into memory, as one file in the folder; and the checkpoint that keeps it."""
    from ..io.shards import stream_shards
    from ..runtime.checkpoint import Checkpoint, kept_unless_mistaken
    from ..runtime.memory import MemoryLimit

    for option, value in {"--text": request.text, "--embed": request.embed}.items():
        if value is not None:
            raise UserError(f"{option} reads the pool into memory, which is too small: leave out --max-memory")
    limit = request.max_memory or 0

    def check(shape: tuple[int, int], dtype: Any) -> None:
        refuse_small_limit(limit, present, shape, dtype, np.float32, mapped=True, model=request.uses_model)

    with as_progress(True, console) as progress, MemoryLimit(limit) as keeper:
        stages = Checkpoint(folder, keeper, progress)
        with kept_unless_mistaken(stages):
            source = stream_shards(
                shards, request.pool, stages, columns=names(request.columns), without=names(request.without) or (),
                id_column=request.id, check=check,
            )  # fmt: skip
    return source, stages
