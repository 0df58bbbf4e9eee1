"""Wall time and peak memory of the whole command `mheal select` on a .npy file, as a user types it.

Each case is a fresh process that starts Python, reads, picks and writes. A first run, which is not counted, compiles
the kernels. Peak memory includes the pages of the mapped file.
"""

import tempfile
from pathlib import Path

import numpy as np
from harness import Book, arguments, command, wanted

from pools import mixture


def main() -> None:
    args = arguments(__doc__).parse_args()
    n, d, budget, limit = (20_000, 16, 50, 600) if args.quick else (1_000_000, 128, 1000, 700)
    book = Book("command", args)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.save(folder / "pool.npy", mixture(n, d, 50, seed=7, spread=args.spread))
        size = (folder / "pool.npy").stat().st_size / 1e6
        select = ("-m", "mheal", "select", "pool.npy", "--budget", str(budget))
        command(*select, cwd=folder)
        reference = (folder / "picks.csv").read_bytes()
        for key, options in {"plain": (), f"--max-memory {limit}MB": ("--max-memory", f"{limit}MB")}.items():
            if not wanted(args, key):
                continue
            runs = [command(*select, *options, cwd=folder) for _ in range(args.rounds)]
            same = (folder / "picks.csv").read_bytes() == reference
            peak = max(r["peak_mb"] for r in runs)
            within = peak <= (limit if options else size + 1000)
            seconds = sorted(r["seconds"] for r in runs)
            row = {"seconds": {"min": seconds[0], "median": seconds[len(seconds) // 2]}, "peak_mb": peak}
            print(f"{key:20} {seconds[0]:.2f} s (median {row['seconds']['median']:.2f}), peak {peak:.0f} MB")
            guard = {"passed": same and within, "same_picks": same, "within": within}
            book.save(key, row | {"shape": [n, d], "budget": budget, "file_mb": size, "guard": guard})


if __name__ == "__main__":
    main()
