"""What picking costs: memory, with the limit of `--max-memory` and shards streamed to disk, and time, `--forecast`."""

import math
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console

from ..api import select
from ..backends.cpu.traversal import FRONT_BYTES, FRONT_SHARE
from ..exceptions import UserError
from ..io.locate import locate
from ..io.source import Source
from ..runtime.checkpoint import Checkpoint, NullCheckpoint, kept_unless_mistaken
from ..runtime.memory import MemoryLimit, headroom, resident
from ..runtime.progress import Progress, as_progress
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
READER = 60_000_000  # bytes that Polars itself takes,
READING = 4  # and times the columns' own bytes that reading Parquet files as a whole takes at its worst
MARGIN = 1.1  # what a process has in memory differs from run to run
SAMPLES = (20_000, 80_000)  # rows on which time is measured


def needed(shape: tuple[int, ...], dtype: Any, mapped: bool, model: bool = False) -> int:
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
    request: Request, shards: list[Path], folder: Path, present: int, console: Console
) -> tuple[Source, NullCheckpoint]:
    """The pool of shards that do not fit into memory, as one file in the folder; and the checkpoint that keeps it."""
    from ..io.shards import stream_shards

    for option, value in {"--text": request.text, "--embed": request.embed}.items():
        if value is not None:
            raise UserError(f"{option} reads the pool into memory, which is too small: leave out --max-memory")
    limit = request.memory_limit or 0

    def check(shape: tuple[int, int], dtype: Any) -> None:
        refuse_small_limit(limit, present, shape, dtype, np.float32, mapped=True, model=request.uses_model)

    with as_progress(True, console) as progress, MemoryLimit(limit) as keeper:
        stages = Checkpoint(folder, keeper, progress)
        with kept_unless_mistaken(stages):
            source = stream_shards(shards, request.pool, stages, **request.features, check=check)
    return source, stages


def print_forecast(request: Request, console: Console) -> None:
    """Read the pool, measure, and say what picking from it takes."""
    if request.device not in (None, "cpu") or request.proba is not None or request.estimator is not None:
        raise UserError("--forecast measures the CPU without a model: leave out --device, --proba and --estimator")
    if get(request.strategy).needs_model or get(request.strategy).needs_labels:
        raise UserError(f"--forecast measures picking without a model: {request.strategy} needs one or labels")
    source = read(request, console, request.seed)
    say_source(request.pool, source, console)
    X = source.X
    mapped = isinstance(X, np.memmap)
    memory = resident() + needed(X.shape, X.dtype, mapped) + (X.nbytes if mapped else 0)
    with as_progress(True, console) as progress:
        seconds, sampled = _forecast(request, X, progress)
    print(
        f"Picking {request.budget:,} of {len(X):,} rows should take about {seconds:.1f} s "
        f"(measured on {sampled:,} rows) and {size(memory)} of memory. Nothing was written."
    )


def _forecast(request: Request, X: Any, progress: Progress) -> tuple[float, int]:
    """Seconds that picking should take, and the rows of the largest sample that was measured.

    One sample, or two and a straight line through them: growth is at most linear.
    """

    def seconds_of(sample: Any) -> float:
        start = perf_counter()
        select(sample, min(request.budget, len(sample)), **request.how)
        return perf_counter() - start

    rng = np.random.default_rng(request.seed)
    times: list[tuple[int, float]] = []
    for step, rows in enumerate(dict.fromkeys(min(len(X), n) for n in SAMPLES)):
        progress(step, len(SAMPLES), "measuring on samples")
        sample = np.asarray(X[np.sort(rng.choice(len(X), rows, replace=False))])
        times.append((rows, min(seconds_of(sample) for _ in range(2))))  # the first may compile
    (n, seconds), (larger, took) = times[0], times[-1]
    slope = max(0.0, (took - seconds) / (larger - n)) if larger > n else 0.0
    return took + slope * (len(X) - larger), larger
