"""What picking costs: memory, with the limit of `--max-memory`, and time, with `--forecast`."""

import math
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console

from ..api import select
from ..backends.cpu.traversal import FRONT_BYTES, FRONT_SHARE
from ..exceptions import UserError
from ..io.locate import locate
from ..io.sizes import bytes_to_read
from ..runtime.memory import headroom, resident
from ..runtime.progress import as_progress
from ..strategies import get
from ..validation import working_dtype
from .console import size
from .pool import read, say_source
from .request import Request

ROW_NUMBERS = 16  # bytes of whole numbers that picking keeps for each row,
ROW_FLOATS = 5  # and floats
SCRATCH = 50_000_000  # bytes of buffers, whatever the pool
MODEL = 200_000_000  # bytes that a model takes to predict a part of the pool,
MODEL_ROW = 16  # and for each row
MARGIN = 1.1  # what a process has in memory differs from run to run
WARM_UP, SAMPLE, LARGE = 2_000, 20_000, 80_000  # rows on which time is measured; the first run may compile
SHARE, TINY = 8, 100  # a sample is at most this part of the pool, unless that is tiny; picks are of a sample
LITTLE = 30.0  # seconds of which an upper bound will do


def needed(shape: tuple[int, ...], dtype: npt.DTypeLike, mapped: bool, model: bool = False) -> int:
    """Bytes that picking needs besides what the process has now; a memory-mapped pool itself can be given back."""
    rows, columns = shape
    dtype = np.dtype(dtype)
    floats = np.dtype(working_dtype(dtype)).itemsize
    front = min(FRONT_BYTES, rows * columns * floats // FRONT_SHARE)
    copied = 0 if dtype in (np.float32, np.float64) else rows * columns * floats
    queried = MODEL + MODEL_ROW * rows if model else 0
    picking = SCRATCH + (ROW_NUMBERS + ROW_FLOATS * floats) * rows + front + copied
    return picking + queried + (headroom() if mapped else 0)


def refuse_small_limit(
    limit: int, present: int, shape: tuple[int, ...], *dtypes: npt.DTypeLike, mapped: bool, model: bool = False
) -> None:
    """Refuse a limit that is too small for each of these types of numbers, `present` bytes being in memory now."""
    totals = [present + needed(shape, dtype, mapped, model) for dtype in dtypes]
    if min(totals) > limit:
        about = f"picking from {shape[0]:,} rows takes about {size(max(totals))}"
        raise UserError(f"{about}: raise --max-memory to {_enough(max(totals))}")


def _enough(total: int) -> str:
    """A limit somewhat above this many bytes."""
    digit = 10**8 if MARGIN * total >= 1e9 else 10**6  # the last that is shown
    return size(math.ceil(MARGIN * total / digit) * digit).replace(" ", "")


def shards_to_stream(pool: str, limit: int, present: int) -> list[Path]:
    """The Parquet files of the pool, if they would not fit into memory; other large files are refused."""
    found = locate(pool)
    taken = bytes_to_read(found)
    reading = present + taken
    if found.form == ".parquet":
        from ..io.shards import expected_shape

        whole = reading + needed(expected_shape(found.files), np.float64, mapped=False)
        return found.files if whole > limit else []
    if taken and reading > limit:
        raise UserError(
            f"reading {pool} takes about {size(reading)}: raise --max-memory to {_enough(reading)}; only a single .npy "
            "file is read in place, and .parquet files are streamed (`mheal embed` writes a .npy file)"
        )
    return []


def print_forecast(request: Request, console: Console) -> None:
    """Read the pool, measure, and print what picking from it takes."""
    if request.device not in (None, "cpu") or request.proba is not None or request.estimator is not None:
        raise UserError("--forecast measures the CPU without a model: leave out --device, --proba and --estimator")
    if get(request.strategy).needs_model or get(request.strategy).needs_labels:
        raise UserError(f"--forecast measures picking without a model: {request.strategy} needs one or labels")
    source = read(request, console, request.seed)
    say_source(request.pool, source, console)
    X, mapped = source.X, isinstance(source.X, np.memmap)
    bytes_needed = resident() + needed(X.shape, X.dtype, mapped) + (X.nbytes if mapped else 0)
    budget = request.count(len(X))
    if budget > len(X):
        raise UserError(f"a budget of {budget:,} exceeds the {len(X):,} rows of {request.pool}: give a smaller one")
    with as_progress(True, console) as progress:
        progress(0, 0, "measuring on samples")
        _measured(request, X, budget, WARM_UP)
        rows, seconds = _measured(request, X, budget, SAMPLE)
        # Time grows at most linearly with the rows.
        about, bound = "at most", seconds * len(X) / rows
        if bound > LITTLE and len(X) > SHARE * LARGE:
            (fewer, less), (rows, seconds) = (rows, seconds), _measured(request, X, budget, LARGE)
            about, bound = "about", seconds + max(0.0, seconds - less) / (rows - fewer) * (len(X) - rows)
    print(
        f"Picking {budget:,} of {len(X):,} rows should take {about} {bound:.1f} s "
        f"(measured on {rows:,} rows) and {size(bytes_needed)} of memory. Nothing was written."
    )


def _measured(request: Request, X: npt.NDArray[Any], budget: int, most: int) -> tuple[int, float]:
    """The size of a sample, which is smaller than a pool that is not tiny, and the seconds for the budget in it."""
    rows = min(most, max(len(X) // SHARE, TINY), len(X))
    sample = np.asarray(X[np.sort(np.random.default_rng(request.seed).choice(len(X), rows, replace=False))])
    n = min(budget, -(-rows // SHARE))
    start = perf_counter()
    select(sample, n, **request.how)
    return rows, (perf_counter() - start) * budget / n
