"""Speed of `mheal.select` beside scikit-activeml and apricot, and of `PaperMHEAL` beside Algorithm 2 in NumPy."""

from typing import Any

import numpy as np
from algorithm2_numpy import algorithm2
from harness import Book, Contender, arguments, expect, race, show, wanted
from sklearn.preprocessing import StandardScaler

from pools import mixture, same_picks

APRICOT_BYTES = 13.0  # measured peak per pair of rows: a float32 and a float64 matrix


def select(X: np.ndarray, budget: int) -> Contender:
    def build() -> Any:
        import mheal

        mheal.select(X[:2000], 20, random_state=0)
        return lambda: mheal.select(X, budget, random_state=0).indices

    return Contender(build)


def activeml(X: np.ndarray, budget: int, name: str) -> Contender:
    def build() -> Any:
        import skactiveml.pool
        from skactiveml.utils import MISSING_LABEL

        strategy = getattr(skactiveml.pool, name)

        def query(A: np.ndarray = X, b: int = budget) -> Any:
            return strategy(random_state=0).query(A, np.full(len(A), MISSING_LABEL), batch_size=b)

        query(X[:200], 5)
        return query

    return Contender(build, memory=8.0 * len(X) * budget)  # its utilities matrix


def facility_location(X: np.ndarray, budget: int) -> Contender:
    def build() -> Any:
        from apricot import FacilityLocationSelection

        FacilityLocationSelection(5, metric="euclidean").fit(X[:200])
        return lambda: FacilityLocationSelection(budget, metric="euclidean").fit(X).ranking

    return Contender(build, memory=APRICOT_BYTES * len(X) ** 2)


def default_rows(args: Any, book: Book) -> None:
    """Race the default strategy. The peers pick other rows by design, so only the number of rows is checked."""
    n, d, budget = (3_000, 16, 50) if args.quick else (100_000, 128, 1000)
    X = mixture(n, d, 50, seed=4, spread=args.spread)
    pair_limit = 2e7 if args.quick else args.apricot_gb * 1e9
    few = X[: min(n, int(np.sqrt(pair_limit / APRICOT_BYTES)))]
    races = {
        "select vs scikit-activeml": (X, ("CoreSet", "TypiClust")),
        "select vs apricot": (few, ("apricot",)),
    }
    for key, (pool, names) in races.items():
        if not wanted(args, key):
            continue
        sides = {"mheal": select(pool, budget)}
        for name in names:
            if name == "apricot":
                sides[name] = facility_location(pool, budget)
                sides[name].note = f"both on {len(pool)} rows: N² memory"
            else:
                sides[name] = activeml(pool, budget, name)
                if name == "CoreSet":  # linear in rows; TypiClust needs rows ≫ budget for its k-means
                    sides[name].expected = expect(activeml(pool[: n // 20], budget, name), 20)
        stats, results = race(sides, args.rounds, args.time_limit)
        guard = {"passed": all(len(np.unique(picks)) == budget for picks in results.values())}
        show(f"{key}: {len(pool)} x {d}, budget {budget}", stats)
        print(f"  guard, budget of distinct rows: {guard}", flush=True)
        book.save(key, {"shape": [len(pool), d], "budget": budget, "contenders": stats, "guard": guard})


def paper_row(args: Any, book: Book) -> None:
    """Race Algorithm 2; both sides have the same initial centres, iterations, restarts and quotas."""
    key = "paper"
    if not wanted(args, key):
        return
    n, d, k, budget = (4_000, 16, 5, 50) if args.quick else (1_000_000, 128, 10, 1000)
    X = mixture(n, d, 50, seed=5, spread=args.spread)
    some = X[np.random.default_rng(6).choice(n, k, replace=False)]
    C0 = StandardScaler().fit(X).transform(some)
    C0 /= np.linalg.norm(C0, axis=1, keepdims=True)
    draw = np.random.RandomState(0)  # as PaperMHEAL draws: one number for the check, one for k-means, then these
    draw.randint(2**31, size=2)
    seeds = draw.randint(2**31, size=k)

    def ours() -> Any:
        import mheal

        def pick(A: np.ndarray = X, b: int = budget) -> Any:
            return mheal.select(A, b, strategy=mheal.PaperMHEAL(k, init=C0, max_iter=10, tol=0.0)).indices

        pick(X[:2000], 2 * k)
        return pick

    def straightforward(lockstep: bool) -> Contender:
        def build() -> Any:
            algorithm2(X[:2000], 2 * k, C0, seeds=seeds, lockstep=lockstep)
            return lambda: algorithm2(X, budget, C0, seeds=seeds, lockstep=lockstep)

        return Contender(build)

    sides = {
        "mheal": Contender(ours),
        "numpy": straightforward(lockstep=False),
        "numpy lockstep": straightforward(lockstep=True),
    }
    stats, results = race(sides, args.rounds, args.time_limit)
    guard: dict[str, Any] = {
        f"{name} = numpy": same_picks(picks, results["numpy"]) for name, picks in results.items() if name != "numpy"
    }
    if "mheal" in results:
        guard["passed"] = guard["mheal = numpy"]["fraction_equal"] == 1.0
    show(f"{key}: {n} x {d}, k = {k}, m = 10, budget {budget}", stats)
    print(f"  guard: {guard}", flush=True)
    book.save(key, {"shape": [n, d], "k": k, "budget": budget, "contenders": stats, "guard": guard})


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--apricot-gb", type=float, default=6.0, help="memory for apricot's N x N matrix")
    args = parser.parse_args()
    book = Book("selection", args)
    default_rows(args, book)
    paper_row(args, book)


if __name__ == "__main__":
    main()
