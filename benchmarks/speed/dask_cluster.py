"""Time of a Dask cluster on one machine, against one process with the same picks; and Parquet shards streamed.

The script writes a line of JSON as each measurement ends. The peak memory of a worker is that of its process.
"""

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster

import mheal
from dask import delayed
from mheal.io import read_parquet
from pools import mixture

BLOCK = 100_000  # rows written at a time


@contextmanager
def workers(count: int, limit: str) -> Iterator[Client]:
    """Start a cluster of processes that have compiled and loaded the kernels."""
    with (
        LocalCluster(n_workers=count, threads_per_worker=1, memory_limit=limit, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        small = mixture(20_000, 16, 8, seed=1)
        mheal.select(small, 300)
        mheal.select(da.from_array(small, chunks=(10_000, -1)), 300)
        yield client


class Watch:
    """The peak memory of each worker process while the block runs, in MB."""

    def __init__(self, client: Client) -> None:
        self.processes = [psutil.Process(pid) for pid in client.run(lambda: __import__("os").getpid()).values()]
        self.peak = [0.0] * len(self.processes)
        self.done = threading.Event()

    def __enter__(self) -> "Watch":
        self.thread = threading.Thread(target=self._look)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.thread.join()

    def _look(self) -> None:
        while not self.done.wait(0.05):
            for i, process in enumerate(self.processes):
                if process.is_running():
                    self.peak[i] = max(self.peak[i], process.memory_info().rss / 1e6)


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def blocks(rows: int, columns: int) -> Iterator[np.ndarray]:
    """Yield a Gaussian mixture block by block, so that the client never holds all of it."""
    centers = np.random.default_rng(0).normal(size=(50, columns)).astype(np.float32)
    for lo in range(0, rows, BLOCK):
        rng = np.random.default_rng([1, lo])
        n = min(BLOCK, rows - lo)
        yield centers[rng.integers(len(centers), size=n)] + rng.standard_normal((n, columns), dtype=np.float32)


def mapped(file: Path, lo: int, hi: int) -> np.ndarray:
    return np.load(file, mmap_mode="r")[lo:hi]


def overhead(args: argparse.Namespace, folder: Path, say: Callable[..., None]) -> None:
    """Compare one process with the workers on the same .npy file, which they map."""
    n, d = args.rows, args.columns
    file = folder / "pool.npy"
    whole = np.lib.format.open_memmap(file, "w+", np.float32, (n, d))
    for i, block in enumerate(blocks(n, d)):
        whole[i * BLOCK : i * BLOCK + len(block)] = block
    whole.flush()
    cuts = np.linspace(0, n, args.partitions + 1).astype(int).tolist()
    read = delayed(mapped, pure=True)
    X = da.concatenate([da.from_delayed(read(file, lo, hi), (hi - lo, d), np.float32) for lo, hi in pairwise(cuts)])
    with workers(args.workers, args.memory) as client:
        for _ in range(args.rounds):
            alone, expected = seconds(lambda: mheal.select(np.load(file, mmap_mode="r"), args.budget))
            with Watch(client) as watch:
                spread, picks = seconds(lambda: mheal.select(X, args.budget))
            say(
                "overhead", in_process=alone, cluster=spread, ratio=spread / alone, worker_mb=watch.peak,
                same_picks=bool(np.array_equal(expected.indices, picks.indices)),
            )  # fmt: skip


def streaming(args: argparse.Namespace, folder: Path, say: Callable[..., None]) -> None:
    """Measure a selection from Parquet shards that only the workers read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = [f"x{j}" for j in range(args.columns)]
    for i, block in enumerate(blocks(args.rows, args.columns)):
        table = pa.table({name: block[:, j] for j, name in enumerate(names)})
        pq.write_table(table, folder / f"shard-{i:05d}.parquet", compression="none")
    with workers(args.workers, args.memory) as client:
        before = psutil.Process().memory_info().rss / 1e6
        with Watch(client) as watch:
            took, picks = seconds(lambda: mheal.select(read_parquet(folder / "shard-*.parquet"), args.budget))
        say("parquet", seconds=took, picks=len(picks), worker_mb=watch.peak, client_mb_before=before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["overhead", "parquet"])
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=128)
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="4GB", help="of each worker")
    parser.add_argument("--partitions", type=int, default=8, help="of the array; shards have 100,000 rows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="append the lines to this file too")
    parser.add_argument("--folder", type=Path, help="where the pool is written; by default a temporary folder")
    args = parser.parse_args()

    def say(what: str, **found: Any) -> None:
        settings = {name: getattr(args, name) for name in ("rows", "columns", "budget", "workers", "memory")}
        line = json.dumps({"what": what, **settings, **found}, default=lambda x: round(float(x), 3))
        print(line, flush=True)
        if args.out:
            with args.out.open("a") as lines:
                lines.write(line + "\n")

    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        (overhead if args.what == "overhead" else streaming)(args, Path(folder), say)


if __name__ == "__main__":
    main()
