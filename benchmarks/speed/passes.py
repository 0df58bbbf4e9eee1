"""Where the time of SphericalKMeans goes: seconds of every pass over 1M × 128 rows, with and without codes.

The parts of one fit of kmeans.py: the norms, ten assignments, and the one that ends it. Minimum over the rounds.
"""

import time

import numpy as np
from harness import Book, arguments, wanted
from pools import mixture, unit_rows

from mheal.backends.cpu import quantized as codes
from mheal.backends.cpu.points import Points
from mheal.cluster.lloyd import Lloyd

USABLE = codes.usable


def passes(X: np.ndarray, centres: np.ndarray) -> list[float]:
    """Seconds of the norms and of each assignment."""
    start = time.perf_counter()
    lloyd = Lloyd(Points.raw(X), centres)
    took = [time.perf_counter() - start]
    for _ in range(11):
        start = time.perf_counter()
        lloyd.assign()
        took.append(time.perf_counter() - start)
        lloyd.update()
    return took


def main() -> None:
    args = arguments(__doc__).parse_args()
    n, d, components = (5_000, 16, 10) if args.quick else (1_000_000, 128, 50)
    book = Book("passes", args)
    X = unit_rows(mixture(n, d, components, seed=1, spread=args.spread))
    for k in (10, 100):
        C0 = X[np.random.default_rng(2).choice(n, k, replace=False)].copy()
        best = {}
        for mode, usable in {"codes": USABLE, "no codes": lambda *_: False}.items():
            if not wanted(args, f"k={k} {mode}"):
                continue
            codes.usable = usable
            best[mode] = np.min([passes(X, C0) for _ in range(args.rounds + 1)], axis=0)
            shown = " ".join(f"{1000 * s:.0f}" for s in best[mode])
            print(f"k={k:<4} {mode:9} {best[mode].sum():.3f} s: norms, first, …, last (ms): {shown}", flush=True)
            book.save(f"k={k} {mode}", {"shape": [n, d], "k": k, "seconds": best[mode].tolist()})


if __name__ == "__main__":
    main()
