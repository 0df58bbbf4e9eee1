"""Speed of SphericalKMeans beside scikit-learn-intelex, scikit-learn lloyd, faiss and blocked NumPy.

All get the same unit rows and initial centres, and run 10 iterations without early stop on all threads.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from harness import Book, Contender, arguments, race, show, wanted

from pools import mixture, unit_rows

ITERATIONS = 10
ROWS = {  # name: (rows, columns, clusters, components of the mixture)
    "1Mx128 k=10": (1_000_000, 128, 10, 50),
    "1Mx128 k=100": (1_000_000, 128, 100, 200),
    "100kx128 k=1000": (100_000, 128, 1000, 400),
}
QUICK = {"5000x16 k=5": (5_000, 16, 5, 10), "4000x16 k=40": (4_000, 16, 40, 30)}


def numpy_blocked(X: np.ndarray, centres: np.ndarray, iterations: int, block: int = 4096) -> np.ndarray:
    """Spherical Lloyd with BLAS, argmax and a sparse one-hot product; centre sums in float64."""
    C = centres.copy()
    k = len(C)
    for _ in range(iterations):
        sums = np.zeros(C.shape)
        for lo in range(0, len(X), block):
            part = X[lo : lo + block]
            label = (part @ C.T).argmax(axis=1)
            ones = np.ones(len(part), np.float32)
            member = sp.csr_matrix((ones, label, np.arange(len(part) + 1)), shape=(len(part), k))
            sums += member.T @ part
        norm = np.linalg.norm(sums, axis=1, keepdims=True)
        filled = norm[:, 0] > 0
        C[filled] = (sums[filled] / norm[filled]).astype(C.dtype)
    return C


def objectives(X: np.ndarray, centres: np.ndarray, block: int = 8192) -> dict[str, float]:
    """The spherical objective (centres normalised) and the Euclidean one, summed in float64."""
    C = np.asarray(centres, np.float64)
    U = (C / np.linalg.norm(C, axis=1, keepdims=True)).astype(np.float32)
    half = 0.5 * np.einsum("ij,ij->i", C, C)
    cosine = euclidean = 0.0
    for lo in range(0, len(X), block):
        part = X[lo : lo + block]
        cosine += float(np.sum(1.0 - (part @ U.T).max(axis=1).astype(np.float64)))
        square = np.einsum("ij,ij->i", part, part, dtype=np.float64)
        nearest = ((part @ C.astype(np.float32).T).astype(np.float64) - half).max(axis=1)
        euclidean += float(np.sum(square - 2 * nearest))
    return {"sum_one_minus_cos": cosine, "sum_squared_distance": euclidean}


def contenders(X: np.ndarray, C0: np.ndarray) -> dict[str, Contender]:
    """All contenders, with the same rows, centres and iterations; `build` warms up on a few hundred rows."""
    k, d = C0.shape
    few = X[: max(2 * k, 500)]

    def ours() -> Any:
        import mheal

        def fit(A: np.ndarray = X) -> Any:
            return mheal.SphericalKMeans(
                n_clusters=k, init=C0, n_init=1, max_iter=ITERATIONS, tol=0.0, random_state=0
            ).fit(A)

        fit(few)
        return fit

    def lloyd(module: str) -> Any:
        from importlib import import_module

        KMeans = import_module(module).KMeans

        def fit(A: np.ndarray = X) -> Any:
            return KMeans(n_clusters=k, init=C0, n_init=1, max_iter=ITERATIONS, tol=0.0, algorithm="lloyd").fit(A)

        fit(few)
        return fit

    def faiss_spherical() -> Any:
        import faiss

        def train(A: np.ndarray = X) -> Any:
            model = faiss.Kmeans(
                d, k, niter=ITERATIONS, spherical=True, nredo=1, seed=0,
                max_points_per_centroid=len(X) + 1, min_points_per_centroid=1,
            )  # fmt: skip
            model.train(A, init_centroids=C0)
            return model

        train(few)
        return train

    def blocked() -> Any:
        numpy_blocked(few, C0, 1)
        return lambda: numpy_blocked(X, C0, ITERATIONS)

    return {
        "mheal": Contender(ours),
        "intelex": Contender(lambda: lloyd("sklearnex.cluster")),
        "lloyd": Contender(lambda: lloyd("sklearn.cluster")),
        "faiss": Contender(faiss_spherical),
        "numpy blocked": Contender(blocked),
    }


def guards(X: np.ndarray, results: dict[str, Any], stats: dict[str, dict]) -> dict[str, Any]:
    """Recompute the objectives of all contenders; those with the same objective must agree to 1e-4."""
    for name, model in results.items():
        if name == "numpy blocked":
            centres = model
        elif name == "faiss":
            centres = model.centroids
        else:
            centres = model.cluster_centers_
            stats[name]["n_iter"] = int(model.n_iter_)
            stats[name]["own_inertia"] = float(model.inertia_)
        if name == "intelex":  # a silent fall-back to scikit-learn would time the wrong thing
            stats[name]["onedal"] = hasattr(model, "_onedal_estimator")
        stats[name] |= objectives(X, centres)
    if "mheal" not in results:
        return {}
    mine = stats["mheal"]["sum_one_minus_cos"]
    verdict: dict[str, Any] = {
        "own_inertia_relative": abs(stats["mheal"]["own_inertia"] / mine - 1),
        "relative_to": {n: stats[n]["sum_one_minus_cos"] / mine - 1 for n in results if n != "mheal"},
    }
    same = [abs(verdict["relative_to"][n]) for n in ("faiss", "numpy blocked") if n in results]
    verdict["passed"] = max([verdict["own_inertia_relative"], *same]) <= 1e-4
    return verdict


def main() -> None:
    args = arguments(__doc__).parse_args()
    book = Book("kmeans", args)
    for key, (n, d, k, components) in (QUICK if args.quick else ROWS).items():
        if not wanted(args, key):
            continue
        X = unit_rows(mixture(n, d, components, seed=1, spread=args.spread))
        C0 = X[np.random.default_rng(2).choice(n, k, replace=False)].copy()
        stats, results = race(contenders(X, C0), args.rounds, args.time_limit)
        guard = guards(X, results, stats)
        show(f"k-means {key}, {ITERATIONS} iterations", stats)
        for name, entry in stats.items():
            if "sum_one_minus_cos" in entry:
                cosine, square = entry["sum_one_minus_cos"], entry["sum_squared_distance"]
                print(f"  {name:26}Σ(1−cos) {cosine:.7g}, Σ‖x−c‖² {square:.7g}, n_iter {entry.get('n_iter')}")
        print(f"  guard: {guard}", flush=True)
        book.save(key, {"shape": [n, d], "k": k, "contenders": stats, "guard": guard})


if __name__ == "__main__":
    main()
