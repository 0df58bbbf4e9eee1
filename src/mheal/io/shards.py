"""Parquet shards larger than memory: their rows are streamed into one array on disk, which is then read in place."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.checkpoint import NullCheckpoint
from ..runtime.files import reading
from .features import feature_array, fits_float32
from .parquet import ShardIds, row_count, shards_table
from .schema import choose
from .source import Source

SLICE = 1 << 26  # bytes of rows that are read at a time


def stream_shards(
    files: Sequence[Path], name: str, checkpoint: NullCheckpoint, *, columns: Sequence[str] | None = None,
    without: Sequence[str] = (), id_column: str | None = None,
    check: Callable[[tuple[int, int], np.dtype[Any]], None] | None = None, slice_bytes: int = SLICE,
) -> Source:  # fmt: skip
    """The shards as a pool in the checkpoint's folder. An interrupted run resumes with the next shard.

    Features are those of `read_pool`, but that text is refused: it would have to be counted before it could be encoded.
    That ids do not repeat is not checked.

    check : called with the pool's shape and type before anything is written, to refuse it; float64 may become float32
    slice_bytes : bytes of rows that are read at a time
    """
    table = shards_table(files, name)
    schema = choose(table, columns, without, id_column)
    starts = np.append(0, np.cumsum([row_count(file) for file in files]))
    total, dtype = int(starts[-1]), np.dtype(schema.dtype)
    if check is not None:
        check((total, schema.width), dtype)
    checkpoint.begin({"files": [_mark(file) for file in files], "features": schema.names})
    A = checkpoint.scratch("pool", (total, schema.width), dtype)
    for at, file in enumerate(files):
        rows = A[starts[at] : starts[at + 1]]

        def copy(at: int = at, file: Path = file, rows: npt.NDArray[Any] = rows) -> dict[str, npt.NDArray[Any]]:
            for lo, hi in _slices(rows, slice_bytes):
                with reading(file):
                    values = table.parts[at].select(schema.names).slice(lo, hi - lo).collect()
                rows[lo:hi] = feature_array(values, schema, file.name, lo)
                checkpoint.yield_point()
            return {"rows": np.array(len(rows))}

        checkpoint.stage(f"shard {at}", copy, part=True)
        checkpoint.report(int(starts[at + 1]), total, "reading shards")
    if dtype == np.float64:
        fits = checkpoint.stage("precision", lambda: {"fits": np.array(fits_float32(A, checkpoint.yield_point))})
        A = _halved(A, checkpoint, slice_bytes) if fits["fits"] else A
    ids = None if schema.id_column is None else ShardIds(files, schema.id_column)
    description = f"{schema.description}, from {len(files):,} shards"
    return Source(_read_only(A), "table", description, list(files), ids, schema.id_column)


def _slices(A: npt.NDArray[Any], n_bytes: int) -> list[tuple[int, int]]:
    step = max(1, n_bytes // max(1, A[:1].nbytes))
    return [(lo, min(len(A), lo + step)) for lo in range(0, len(A), step)]


def _mark(file: Path) -> dict[str, Any]:
    with reading(file):
        at = file.stat()
    return {"file": file.name, "bytes": at.st_size, "changed": at.st_mtime_ns}


def _halved(A: npt.NDArray[Any], checkpoint: NullCheckpoint, slice_bytes: int) -> npt.NDArray[Any]:
    """The same numbers in float32."""
    small = checkpoint.scratch("pool-float32", A.shape, np.float32)

    def write() -> dict[str, npt.NDArray[Any]]:
        for lo, hi in _slices(A, slice_bytes):
            small[lo:hi] = A[lo:hi]
            checkpoint.yield_point()
        return {}

    checkpoint.stage("halved", write)
    return small


def _read_only(A: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if not isinstance(A, np.memmap):
        return A
    A.flush()
    return np.lib.format.open_memmap(A.filename, "r")  # type: ignore[arg-type]
