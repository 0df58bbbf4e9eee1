"""What picking takes of the memory, and which pools `--max-memory` therefore refuses."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import UserError
from ._common import size

ROW_NUMBERS = 16  # bytes of whole numbers that picking keeps for each row,
ROW_FLOATS = 5  # and floats
SCRATCH = 50_000_000  # bytes of buffers, whatever the pool
READER = 60_000_000  # bytes that Polars itself takes,
READING = 4  # and times the columns' own bytes that reading Parquet files as a whole takes at its worst
MARGIN = 1.1  # what a process has in memory differs from run to run
THRIFTY = ("mheal", "mheal-paper", "random")  # strategies that never copy a memory-mapped pool


def needed(shape: tuple[int, ...], dtype: Any, mapped: bool) -> int:
    """Bytes that picking needs besides what the process has now; a memory-mapped pool itself can be given back."""
    from ..backends.cpu.traversal import FRONT_BYTES, FRONT_SHARE
    from ..runtime.memory import headroom
    from ..validation import working_dtype

    rows, columns = shape
    dtype = np.dtype(dtype)
    floats = np.dtype(working_dtype(dtype)).itemsize
    front = min(FRONT_BYTES, rows * columns * floats // FRONT_SHARE)
    copied = 0 if dtype in (np.float32, np.float64) else rows * columns * floats
    return SCRATCH + (ROW_NUMBERS + ROW_FLOATS * floats) * rows + front + copied + (headroom() if mapped else 0)


def refuse_small_limit(limit: int, present: int, shape: tuple[int, ...], *dtypes: Any, mapped: bool) -> None:
    """Refuse a limit that is too small whichever of these types the numbers turn out to have; name one that is not."""
    totals = [present + needed(shape, dtype, mapped) for dtype in dtypes]
    if min(totals) > limit:
        raise UserError(
            f"picking from {shape[0]:,} rows takes about {size(max(totals))}: raise --max-memory to "
            f"{_enough(max(totals))}"
        )


def _enough(total: int) -> str:
    """A limit, as one types it, that will not be refused again."""
    limit = MARGIN * total
    digit = 10**8 if limit >= 1e9 else 10**6  # the last that is said
    return size(math.ceil(limit / digit) * digit).replace(" ", "")


def large_shards(pool: str, strategy: str, limit: int, present: int) -> list[Path]:
    """The Parquet files of the pool, if they would not fit into memory; other large files are refused."""
    from ..io.locate import locate

    if strategy not in THRIFTY:
        raise UserError(f"--max-memory is kept by {', '.join(THRIFTY)} only: {strategy} may copy the pool")
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
