"""Estimates of the memory (for `--max-memory` and `--forecast`) and time (for `--forecast`) of reading and picking."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console

from ..api import select
from ..backends.cpu.traversal import FRONT_BYTES, FRONT_SHARE
from ..exceptions import UserError
from ..io.locate import Located, locate
from ..io.source import Source
from ..runtime.files import reading
from ..runtime.memory import headroom, memory_map, resident, unpacked
from ..runtime.progress import as_progress
from ..strategies import get
from ..validation import as_budget, working_dtype
from .console import size
from .options import Request
from .pool import print_source, read

READER = 60_000_000  # bytes that Polars itself takes
READING = 4  # peak of reading Parquet files, as a multiple of the bytes of their columns
COPIES, CELL = 2, 16  # peak as a multiple of a text file and its columns; bytes per number in X; both measured
WORDS, EMBEDDED = 16, 1_200  # TF-IDF takes this multiple of the bytes of the texts, and this many bytes a text
IMAGE, PIXEL = 50_000, 8  # bytes per image at the common size, and per pixel while it is decoded
SHEET = 8  # peak of reading a workbook, as a multiple of its XML
FIRST = 1 << 18  # bytes at the start of a text file from which its memory is estimated
ROW_NUMBERS, ROW_FLOATS = 16, 5  # for each row picking stores this many bytes of integers, and this many floats
SCRATCH = 50_000_000  # bytes of buffers for any pool
MODEL, MODEL_ROW = 200_000_000, 16  # bytes for a model's predictions: for a part of the pool, and for each row
MARGIN = 1.1  # memory in use differs from run to run
SMALL, MEDIUM, LARGE = 2_000, 20_000, 80_000  # numbers of rows on which time is measured
SHARE, TINY = 8, 100  # a sample is at most 1/SHARE of the pool, but may always have TINY rows
PICKED = 2  # picks are at most 1/PICKED of the sample
LITTLE = 60.0  # seconds up to which an upper bound is precise enough


def bytes_to_read(found: Located) -> int:
    """About how many bytes reading a pool takes at most; 0 for a single .npy file, which is memory-mapped."""
    files, total = found.files, sum(file.stat().st_size for file in found.files)
    if found.form == ".npy":
        return 0 if len(files) == 1 else 2 * total
    if found.form in (".npz", ".xlsx"):
        with reading(files[0]):
            return (2 if found.form == ".npz" else SHEET) * sum(map(unpacked, files))
    if found.form == "images":
        from ..embed.pixels import in_chunks, opened

        seen = in_chunks(lambda file: opened(file, lambda image: image.width * image.height), files, "", None)
        return IMAGE * len(files) + PIXEL * max((pixels for pixels in seen if not isinstance(pixels, str)), default=0)
    if found.form == ".parquet":
        from ..io.shards import expected_shape

        return READER + READING * 8 * math.prod(expected_shape(files))
    share = total / max(1, min(FIRST, files[0].stat().st_size))
    if found.form == ".txt":
        with reading(files[0]), files[0].open("rb") as content:
            return READER + WORDS * total + int(EMBEDDED * share * (1 + content.read(FIRST).count(b"\n")))
    import polars as pl

    from ..io.tables import read_frame
    from ..tables.schema import MAX_CATEGORIES

    try:
        frame = read_frame(files[0], most=FIRST)
    except UserError:  # the last line may be cut; real errors are raised when all is read
        return READER + WORDS * total
    different = [column.n_unique() for column in frame if column.dtype == pl.String]
    width = frame.width - len(different) + sum(count for count in different if count <= MAX_CATEGORIES)
    numbers = len(frame) * width + sum(int(column.list.len().sum()) for column in frame if column.dtype == pl.List)
    texts = 0 if width else WORDS * frame.estimated_size() + EMBEDDED * len(frame)
    return READER + int(COPIES * total + share * (COPIES * frame.estimated_size() + CELL * numbers + texts))


def needed(shape: tuple[int, ...], dtype: npt.DTypeLike, mapped: bool, model: bool = False) -> int:
    """Bytes that picking needs in addition to those in use. Pages of a memory-mapped pool can be freed."""
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
    """Refuse a limit that is too small for every one of these dtypes. `present` : bytes in use now."""
    totals = [present + needed(shape, dtype, mapped, model) for dtype in dtypes]
    if min(totals) > limit:
        about = f"picking from {shape[0]:,} rows takes about {size(max(totals))}"
        raise UserError(f"{about}: raise --max-memory to {_enough(max(totals))}")


def _enough(total: int) -> str:
    """This many bytes plus a margin, rounded up, as text."""
    digit = 10**8 if MARGIN * total >= 1e9 else 10**6  # the last digit that is shown
    return size(math.ceil(MARGIN * total / digit) * digit).replace(" ", "")


def shards_to_stream(pool: str, limit: int, present: int) -> list[Path]:
    """The Parquet files of the pool if it does not fit into memory. Other files that do not fit are refused."""
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
    """Time picking on samples, and print the estimated time and memory for the pool."""
    strategy = get(request.strategy)
    if request.device not in (None, "cpu") or request.proba is not None or request.estimator is not None:
        raise UserError("--forecast measures the CPU without a model: leave out --device, --proba and --estimator")
    if strategy.needs_model or strategy.needs_labels:
        raise UserError(f"--forecast measures picking without a model: {request.strategy} needs one or labels")
    shards = _first_rows(request)
    source = shards or read(request, console, request.seed)
    print_source(request.pool, source, console)
    X, n = source.X, source.n_rows if source.rows is None else len(source.rows)
    budget = as_budget(request.count(n), n)
    mapped = memory_map(X) is not None
    present = resident() - (0 if mapped else X.nbytes)
    taken = n * X[:1].nbytes + needed((n, X.shape[1]), X.dtype, mapped)
    to_read = 0 if shards is None else bytes_to_read(locate(request.pool))

    def measure(rows: int, n: int) -> float:
        sample = np.asarray(X[np.sort(np.random.default_rng(request.seed).choice(len(X), rows, replace=False))])
        start = perf_counter()
        select(sample, n, **request.how)
        return perf_counter() - start

    with as_progress(True, console) as progress:
        progress(0, 0, "measuring on samples")
        found = estimate(measure, n, budget, strategy.quadratic)
    print(
        f"Picking {budget:,} of {n:,} rows should take {'at most' if found.bound else 'about'} "
        f"{found.seconds:.1f} s (measured on {found.measured:,} rows) and {size(present + max(taken, to_read))} of "
        "memory. Nothing was written."
    )


def _first_rows(request: Request) -> Source | None:
    """Parquet files of numbers as a pool whose X has the first rows only; None for other pools."""
    found = locate(request.pool)
    if found.form != ".parquet" or request.text is not None or request.embed is not None:
        return None
    import polars as pl

    from ..io.shards import unread
    from ..io.tables import on_disk, scan
    from ..tables.features import feature_array, fits_float32
    from ..tables.schema import choose

    with suppress(UserError):  # the pool is read as a whole instead, which also reports errors
        pool = unread(found.files, schema := choose(on_disk(found.files, request.pool), **request.features))
        rows = pl.concat([scan(file).select(schema.names) for file in found.files], how="vertical_relaxed")
        if len(first := rows.head(LARGE).collect()):
            X = feature_array(first, schema, request.pool)
            return replace(pool, X=X.astype(np.float32) if fits_float32(X) else X)
    return None


class Estimate(NamedTuple):
    """Seconds, the number of rows on which they were measured, and whether they are an upper bound."""

    seconds: float
    measured: int
    bound: bool = True


def estimate(measure: Callable[[int, int], float], rows: int, budget: int, quadratic: bool) -> Estimate:
    """The estimated time of picking `budget` of this many rows, from samples as small as possible.

    measure : returns the seconds for a number of rows and a number of picks
    quadratic : whether time grows with the square of the rows while they are few; the smallest sample is then skipped

    Assumes that time grows at most linearly with the picks and, from MEDIUM rows on, with the rows.
    """
    limit = min(max(rows // SHARE, TINY), rows)
    sizes = sorted({min(most, limit) for most in ((MEDIUM,) if quadratic else (SMALL, MEDIUM))})
    taken: dict[int, float] = {}
    measure(min(SMALL, limit), min(budget, TINY // PICKED))  # kernels may be compiled
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
