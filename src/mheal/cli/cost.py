"""What picking costs: memory, with the limit of `--max-memory`, and time, with `--forecast`."""

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

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
SMALL, MEDIUM, LARGE = 2_000, 20_000, 80_000  # rows on which time is measured
SHARE, TINY = 8, 100  # a sample is at most this part of the pool, unless that is tiny;
PICKED = 2  # the picks are at most this part of the sample
LITTLE = 60.0  # seconds of which an upper bound will do


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
        found = estimate(partial(_measured, request, X), len(X), budget, get(request.strategy).quadratic)
    print(
        f"Picking {budget:,} of {len(X):,} rows should take {'at most' if found.bound else 'about'} "
        f"{found.seconds:.1f} s (measured on {found.measured:,} rows) and {size(bytes_needed)} of memory. "
        "Nothing was written."
    )


class Estimate(NamedTuple):
    """Seconds, how many rows they were measured on, and whether they are an upper bound."""

    seconds: float
    measured: int
    bound: bool = True


def estimate(measure: Callable[[int, int], float], rows: int, budget: int, quadratic: bool) -> Estimate:
    """The time of picking `budget` of so many rows, from samples as small as will do.

    measure : the seconds for a number of rows and of picks
    quadratic : whether time grows with the square of the rows as long as they are few: small samples then say little

    Time grows at most linearly with the picks and, from MEDIUM rows on, with the rows.
    """
    limit = min(max(rows // SHARE, TINY), rows)
    sizes = sorted({min(most, limit) for most in ((MEDIUM,) if quadratic else (SMALL, MEDIUM))})
    taken: dict[int, float] = {}
    measure(min(SMALL, limit), min(budget, TINY // PICKED))  # it may compile
    for measured in [*sizes, LARGE] if limit >= LARGE else sizes:
        n = min(budget, -(-measured // PICKED))
        taken[measured] = measure(measured, n) * budget / n
        bound = taken[measured] * rows / measured
        if bound <= LITTLE:
            break
    if measured < LARGE:
        return Estimate(bound, measured)
    slope = max(0.0, taken[LARGE] - taken[MEDIUM]) / (LARGE - MEDIUM)
    return Estimate(taken[LARGE] + slope * (rows - LARGE), LARGE, bound=False)


def _measured(request: Request, X: npt.NDArray[Any], rows: int, n: int) -> float:
    """The seconds for n picks from a random sample."""
    sample = np.asarray(X[np.sort(np.random.default_rng(request.seed).choice(len(X), rows, replace=False))])
    start = perf_counter()
    select(sample, n, **request.how)
    return perf_counter() - start
