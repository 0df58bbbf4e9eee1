"""How time grows with rows and with picks: exponents fitted by least squares to the logarithms."""

from collections.abc import Callable
from typing import Any

import numpy as np
from harness import Book, Contender, arguments, race, wanted

from pools import mixture


def exponent(sizes: list[int], times: list[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def works() -> dict[str, Callable[[np.ndarray, int], Any]]:
    import mheal

    return {
        "farthest_first": lambda X, n: mheal.farthest_first(X, n, start=0),
        "select": lambda X, n: mheal.select(X, n, random_state=0).indices,
    }


def main() -> None:
    args = arguments(__doc__).parse_args()
    book = Book("scaling", args)
    if args.quick:
        grid, d, fixed_picks, fixed_rows = [500, 1000, 2000], 8, 20, 2000
        counts = [10, 30, 100]
    else:
        grid = [10_000, 31_623, 100_000, 316_228, 1_000_000, 3_162_278, 10_000_000]
        d, fixed_picks, fixed_rows = 64, 100, 100_000
        counts = [100, 316, 1000, 3162, 10_000]
    X = mixture(max(grid), d, 50, seed=8, spread=args.spread)
    for name, work in works().items():
        work(X[:500], 10)  # compile
        axes = {
            "rows": (grid, {str(n): (n, fixed_picks) for n in grid}),
            "picks": (counts, {str(b): (fixed_rows, b) for b in counts}),
        }
        for axis, (sizes, cases) in axes.items():
            key = f"{name} {axis}"
            if not wanted(args, key):
                continue
            sides = {
                label: Contender(lambda n=n, b=b, work=work: lambda: work(X[:n], b)) for label, (n, b) in cases.items()
            }
            stats, _ = race(sides, args.rounds, args.time_limit, ours=next(iter(sides)))
            times = [stats[str(s)]["min"] for s in sizes]
            fitted = exponent(sizes, times)
            ends = exponent([sizes[0], sizes[-1]], [times[0], times[-1]])
            steps = [exponent(sizes[i : i + 2], times[i : i + 2]) for i in range(len(sizes) - 1)]
            for entry in stats.values():
                for field in ("ratio_min", "ratio_median"):
                    entry.pop(field, None)  # ratios to the smallest size, not to a peer
            print(f"{key:16} exponent {fitted:.3f} (ends {ends:.3f}); steps {np.round(steps, 2).tolist()}")
            print(" " * 17 + "  ".join(f"{s}: {t:.4f} s" for s, t in zip(sizes, times, strict=True)), flush=True)
            fixed = {"picks": fixed_picks} if axis == "rows" else {"rows": fixed_rows}
            row = {"sizes": sizes, "times": times, "exponent": fitted, "exponent_ends": ends}
            book.save(key, row | fixed | {"exponent_steps": steps, "d": d, "contenders": stats})


if __name__ == "__main__":
    main()
