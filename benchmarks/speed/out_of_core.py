"""`mheal select --max-memory` on a pool larger than the limit, as one .npy file and as shards of Parquet.

The pool is written to --folder. Before each command the system is asked to drop its cache of the file, so that reading
is cold. Each row has the time and the peak memory of the command, and whether it picks the same rows as a selection in
memory. For comparison it also has the time of one cold read of the whole file.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Book, arguments, busy_elsewhere, command, wanted

from pools import mixture

SHARDS = 10
ITERATIONS = 10  # at most, of the k-means in mheal.select


def forget(*files: Path) -> None:
    """Ask the system to drop its cache of these files."""
    for file in files:
        handle = os.open(file, os.O_RDONLY)
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(handle)


def cold_read(file: Path) -> float:
    """Seconds of one sequential read after the cache is dropped."""
    forget(file)
    buffer, start = bytearray(1 << 24), time.perf_counter()
    with file.open("rb", buffering=0) as stream:
        while stream.readinto(buffer):
            pass
    return time.perf_counter() - start


def in_memory(file: str, budget: int, out: str) -> None:
    """Save the picks from an array in memory, which the command should equal, and the seconds."""
    import mheal

    X = np.load(file)
    start = time.perf_counter()
    picks = mheal.select(X, budget, random_state=0)
    seconds = time.perf_counter() - start
    picks.save(f"{out}.csv")
    Path(f"{out}.json").write_text(json.dumps({"seconds": seconds}))


def write_shards(file: Path, folder: Path) -> list[Path]:
    import polars as pl

    X, files = np.load(file, mmap_mode="r"), []
    for at, rows in enumerate(np.array_split(np.arange(len(X)), SHARDS)):
        part = pl.Series("embedding", X[rows[0] : rows[-1] + 1])
        files.append(folder / f"shard{at}.parquet")
        pl.DataFrame({"id": rows, "embedding": part}).write_parquet(files[-1], row_group_size=1 << 18)
    return files


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--folder", type=Path, help="where the pool is written; default: a temporary folder")
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        in_memory(args.child[0], int(args.child[1]), args.child[2])
        return
    n, d, budget, limit = (60_000, 16, 500, "600MB") if args.quick else (10_000_000, 64, 10_000, "1GB")
    book = Book("out_of_core", args)
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder = Path(name)
        file = folder / "pool.npy"
        np.save(file, mixture(n, d, 50, seed=7, spread=args.spread))
        read = min(cold_read(file) for _ in range(args.rounds))
        memory = command(__file__, "--child", str(file), str(budget), str(folder / "expected"))
        memory |= json.loads((folder / "expected.json").read_text())
        allowed = 3 * ITERATIONS * read
        size = file.stat().st_size / 1e6
        print(f"cold read of {size:.0f} MB {read:.2f} s", flush=True)
        print(f"in memory  {memory['seconds']:.1f} s, peak {memory['peak_mb']:.0f} MB", flush=True)
        common = {"shape": [n, d], "budget": budget, "file_mb": size, "cold_read_seconds": read, "in_memory": memory}
        expected = np.loadtxt(folder / "expected.csv", delimiter=",", skiprows=1, usecols=1)
        for key, source in {".npy": [file], ".parquet": []}.items():
            if not wanted(args, key):
                continue
            files = source or write_shards(file, folder)
            forget(file, *files)
            pool, picks = str(file if source else folder / "shard*.parquet"), folder / "picks.csv"
            busy = busy_elsewhere()
            row = command(
                "-m", "mheal", "select", pool, "--budget", str(budget), "--max-memory", limit, "--out", str(picks)
            )  # fmt: skip
            same = bool((np.loadtxt(picks, delimiter=",", skiprows=1, usecols=1) == expected).all())
            within = row["peak_mb"] * 1e6 <= (600e6 if args.quick else 1e9)
            guard = {"passed": same and within, "same_picks": same, "within": within}
            print(
                f"{key:10} {row['seconds']:.1f} s ({row['cpu_seconds']:.1f} of CPU; 3 × 10 reads "
                f"{allowed:.1f} s), peak {row['peak_mb']:.0f} MB of {limit}, same picks: {same}, busy {busy:.0%}",
                flush=True,
            )
            details = {"limit": limit, "allowed_seconds": allowed, "busy_elsewhere": busy, "guard": guard}
            book.save(key, row | common | details)


if __name__ == "__main__":
    main()
