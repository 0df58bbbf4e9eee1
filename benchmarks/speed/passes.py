"""Time of each pass of SphericalKMeans over 1M × 128 rows, with quantized rows and without.

The passes of one fit in kmeans.py are the norms, ten assignments and a final assignment. Minimum over the rounds.
"""

import time

import numpy as np
from harness import Book, arguments, wanted

from mheal.backends.cpu.fitting import CpuFitting
from mheal.backends.cpu.points import Points
from pools import mixture, unit_rows


def passes(X: np.ndarray, centers: np.ndarray, quantize: bool) -> list[float]:
    """Measure the seconds of the norms and of each assignment."""
    start = time.perf_counter()
    fitting = CpuFitting(Points.raw(X), len(centers), quantize=quantize)
    took = [time.perf_counter() - start]
    for _ in range(11):
        start = time.perf_counter()
        fitting.assign(centers)
        took.append(time.perf_counter() - start)
        length = np.linalg.norm(fitting.sums, axis=1, keepdims=True)
        centers = np.where(length > 0, fitting.sums / np.maximum(length, 1e-12), centers).astype(np.float32)
    return took


def main() -> None:
    args = arguments(__doc__).parse_args()
    n, d, components = (5_000, 16, 10) if args.quick else (1_000_000, 128, 50)
    book = Book("passes", args)
    X = unit_rows(mixture(n, d, components, seed=1, spread=args.spread))
    for k in (10, 100):
        C0 = X[np.random.default_rng(2).choice(n, k, replace=False)].copy()
        best = {}
        for mode, quantize in {"quantized": True, "float": False}.items():
            if not wanted(args, f"k={k} {mode}"):
                continue
            best[mode] = np.min([passes(X, C0, quantize) for _ in range(args.rounds + 1)], axis=0)
            shown = " ".join(f"{1000 * s:.0f}" for s in best[mode])
            print(f"k={k:<4} {mode:9} {best[mode].sum():.3f} s: norms, first, …, last (ms): {shown}", flush=True)
            book.save(f"k={k} {mode}", {"shape": [n, d], "k": k, "seconds": best[mode].tolist()})


if __name__ == "__main__":
    main()
