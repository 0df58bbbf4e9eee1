"""Speed of farthest-first traversal (Eq. 8), plain and with density weights, beside packages that have the plain one.

All start at row 0 of the same float32 rows. Heuristics are timed, too, but do not count as exact.
"""

import warnings
from typing import Any

import numpy as np
from harness import Book, Contender, arguments, expect, race, show, wanted

from pools import greedy_shortfall, mixture, on_grid, same_picks

ROWS = {  # name: (rows, columns, picks, with packaged peers)
    "100kx128 1000 picks": (100_000, 128, 1000, True),
    "1Mx64 100 picks": (1_000_000, 64, 100, True),
    "density 100kx128 1000 picks": (100_000, 128, 1000, False),
}
QUICK = {
    "3000x16 50 picks": (3_000, 16, 50, True),
    "density 3000x16 50 picks": (3_000, 16, 50, False),
}
PROBED = ("scikit-activeml",)  # slow: tried on a twentieth of the rows first
HEURISTIC = ("fpsample npdu",)


def sgemv_loop(X: np.ndarray, n: int, start: int = 0) -> np.ndarray:
    """The usual NumPy loop: one matrix-vector product per pick, a running minimum, the first row of ties."""
    square = np.einsum("ij,ij->i", X, X)
    nearest = np.full(len(X), np.inf, X.dtype)
    picks = np.empty(n, np.int64)
    picks[0] = row = start
    for t in range(1, n):
        distance = X @ X[row]
        distance *= -2
        distance += square
        distance += square[row]
        np.minimum(nearest, distance, out=nearest)
        picks[t] = row = int(nearest.argmax())
    return picks


def packaged(X: np.ndarray, n: int) -> dict[str, Contender]:
    """Packages that offer farthest-first on rows, each called through its own interface."""
    few, few_n = X[:200], 5

    def fps(name: str, **options: Any) -> Any:
        import fpsample

        call = getattr(fpsample, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "k is too large" on the warm-up rows
            call(few, few_n, start_idx=0, **options)  # the bucket variants raise beyond few dimensions
        return lambda: call(X, n, start_idx=0, **options)

    def skmatter(name: str) -> Any:
        import skmatter.sample_selection as module

        cls = getattr(module, name)
        cls(n_to_select=few_n, initialize=0).fit(few)
        return lambda: cls(n_to_select=n, initialize=0).fit(X).selected_idx_

    def activeml() -> Any:
        from skactiveml.pool import CoreSet
        from skactiveml.utils import MISSING_LABEL

        def query(A: np.ndarray = X, b: int = n) -> np.ndarray:
            y = np.full(len(A), MISSING_LABEL)
            y[0] = 0  # row 0 counts as the first pick, as for everyone else
            return np.r_[0, CoreSet(random_state=0).query(A, y, batch_size=b - 1)]

        query(few, few_n)
        return query

    return {
        "fpsample": Contender(lambda: fps("fps_sampling")),
        "fpsample bucket kdtree": Contender(lambda: fps("bucket_fps_kdtree_sampling")),
        "fpsample bucket kdline": Contender(lambda: fps("bucket_fps_kdline_sampling", h=7)),
        "fpsample npdu": Contender(lambda: fps("fps_npdu_sampling")),
        "skmatter FPS": Contender(lambda: skmatter("FPS")),
        "skmatter Voronoi": Contender(lambda: skmatter("VoronoiFPS")),
        "scikit-activeml": Contender(activeml, memory=8.0 * len(X) * n),  # its utilities matrix
    }


def ours(X: np.ndarray, n: int, power: float | None) -> Contender:
    def build() -> Any:
        import mheal

        options = {"start": 0} if power is None else {"density_power": power}
        mheal.farthest_first(X[:2000], 20, **options)
        return lambda: mheal.farthest_first(X, n, **options)

    return Contender(build, note="spacing included" if power else "")


def loop(X: np.ndarray, n: int) -> Contender:
    def build() -> Any:
        sgemv_loop(X[:200], 5)
        return lambda: sgemv_loop(X, n)

    return Contender(build)


def guards(X: np.ndarray, n: int, results: dict[str, Any]) -> dict[str, Any]:
    """Compare the picks on these rows, and on rows rounded to a grid, where all arithmetic is exact."""
    reference = results["sgemv loop"]
    verdict: dict[str, Any] = {
        "picks": {name: same_picks(picks, reference) for name, picks in results.items()},
        "shortfall": {
            name: greedy_shortfall(X, picks) for name, picks in results.items() if name in ("mheal", "sgemv loop")
        },
    }
    if "mheal" in results:
        import mheal

        grid = on_grid(X)
        verdict["grid"] = same_picks(mheal.farthest_first(grid, n, start=0), sgemv_loop(grid, n))
        verdict["passed"] = verdict["grid"]["identical"] and (
            verdict["picks"]["mheal"]["identical"] or verdict["shortfall"]["mheal"] < 1e-5
        )
    return verdict


def best_packaged(stats: dict[str, dict]) -> str | None:
    """Name the fastest package that does the exact traversal."""
    names = [s for s in stats if s not in ("mheal", "sgemv loop", *HEURISTIC) and stats[s]["times"]]
    return min(names, key=lambda s: stats[s]["min"], default=None)


def main() -> None:
    args = arguments(__doc__).parse_args()
    book = Book("traversal", args)
    for key, (n, d, picks, peers) in (QUICK if args.quick else ROWS).items():
        if not wanted(args, key):
            continue
        power = 1.25 if key.startswith("density") else None
        X = mixture(n, d, 50, seed=3, spread=args.spread)
        sides = {"mheal": ours(X, picks, power), "sgemv loop": loop(X, picks)}
        if peers:
            sides |= packaged(X, picks)
            small = packaged(X[: n // 20], picks)
            for name in PROBED:
                sides[name].expected = expect(small[name], 20)
        stats, results = race(sides, args.rounds, args.time_limit)
        row = {"shape": [n, d], "picks": picks, "contenders": stats}
        if power is None:
            row["guard"] = guard = guards(X, picks, results)
            row["best_packaged"] = best_packaged(stats)
            for name, entry in guard["picks"].items():
                share = f"{entry['fraction_equal']:.3f} of picks equal the loop's"
                stats[name]["note"] = f"heuristic, {share}" if name in HEURISTIC else share
        elif "mheal" in results:
            row["guard"] = {"passed": len(np.unique(results["mheal"])) == picks}
        show(f"traversal {key}", stats)
        print(f"  guard: { {k: v for k, v in row.get('guard', {}).items() if k != 'picks'} }", flush=True)
        book.save(key, row)


if __name__ == "__main__":
    main()
