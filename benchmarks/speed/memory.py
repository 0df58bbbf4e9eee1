"""Extra peak memory of `mheal.select`, for rows in memory and for the same rows in a .npy file.

Each case is a fresh process. It makes the pool and warms up on a small one, so that memory of the compiler does not
count. Then it reads /proc/self/status every 2 ms during the selection.
"""

import argparse
import ctypes
import hashlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from harness import Book, arguments, wanted

from pools import mixture

FIELDS = ("VmRSS", "RssAnon", "RssFile", "RssShmem")
CASES = ("in-memory", "memmap")


def resident() -> dict[str, float]:
    """Megabytes (10⁶) resident now, by kind; RssAnon is what the process itself has allocated."""
    lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return {p[0][:-1]: int(p[1]) * 1024 / 1e6 for p in lines if p and p[0][:-1] in FIELDS}


class Watch(threading.Thread):
    """A thread that keeps the peak of each kind of memory until `done` is set."""

    def __init__(self, every: float = 0.002) -> None:
        super().__init__(daemon=True)
        self.every, self.done, self.samples = every, threading.Event(), 0
        self.peak = resident()

    def run(self) -> None:
        """Sample until `done` is set, and once more."""
        while True:
            last = self.done.wait(self.every)
            now = resident()
            self.peak = {kind: max(self.peak[kind], now[kind]) for kind in FIELDS}
            self.samples += 1
            if last:
                return


def child(case: str, n: int, d: int, budget: int, spread: float, file: str) -> None:
    import mheal

    if case == "memmap":
        X = np.load(file, mmap_mode="r")
        warm = np.load(file.replace("pool", "warm"), mmap_mode="r")
    else:
        X = mixture(n, d, 50, seed=7, spread=spread)
        warm = X[: n // 50].copy()
    mheal.select(warm, min(budget, len(warm) // 20), random_state=0)
    if sys.platform == "linux":
        ctypes.CDLL(None).malloc_trim(0)  # return freed memory to the system; if reused, it would not count as extra
    time.sleep(0.1)
    before = resident()
    watch = Watch()
    watch.start()
    begin = time.perf_counter()
    picks = mheal.select(X, budget, random_state=0).indices
    took = time.perf_counter() - begin
    watch.done.set()
    watch.join()
    extra = {kind: watch.peak[kind] - before[kind] for kind in FIELDS}
    report = {"before": before, "peak": watch.peak, "extra": extra, "samples": watch.samples}
    digest = hashlib.sha256(np.asarray(picks, np.int64).tobytes()).hexdigest()
    print(json.dumps(report | {"seconds": took, "digest": digest, "picks": len(picks)}))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    n, d, budget = (20_000, 16, 50) if args.quick else (1_000_000, 128, 1000)
    if args.child:
        child(args.child[0], n, d, budget, args.spread, args.child[1])
        return
    book = Book("memory", args)
    size = n * d * 4 / 1e6
    digests = {}  # both cases must pick the same rows
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "pool.npy")
        X = mixture(n, d, 50, seed=7, spread=args.spread)
        np.save(file, X)
        np.save(file.replace("pool", "warm"), X[: n // 50])
        del X
        for case in CASES:
            if not wanted(args, case):
                continue
            command = [sys.executable, __file__, "--child", case, file, "--spread", str(args.spread)]
            run = subprocess.run(command + ["--quick"] * args.quick, capture_output=True, text=True)
            if run.returncode:
                print(f"{case}: failed: {run.stderr.strip().splitlines()[-1]}", flush=True)
                continue
            row = json.loads(run.stdout.splitlines()[-1])
            row |= {"data_mb": size, "extra_over_data": row["extra"]["RssAnon"] / size}
            digests[case] = row["digest"]
            row["guard"] = {"passed": row["picks"] == budget and len(set(digests.values())) == 1}
            e = row["extra"]
            print(
                f"{case:10} data {size:.0f} MB, extra anonymous {e['RssAnon']:.1f} MB "
                f"({row['extra_over_data']:.3f} of the data), extra resident {e['VmRSS']:.1f} MB "
                f"(mapped file {e['RssFile']:.1f}), {row['seconds']:.2f} s, {row['samples']} samples",
                flush=True,
            )
            book.save(case, row | {"shape": [n, d], "budget": budget})


if __name__ == "__main__":
    main()
