"""Table 1: how well K-means, GMM and SphericalKMeans find the classes of MNIST and Fashion-MNIST.

The paper gives neither the number of starts, nor the covariance of GMM, nor the number of runs. Here: pixels divided by
255 and nothing else; n training images drawn at random, smaller draws of a seed being part of its larger ones; as many
clusters as classes; at most 60 iterations, from k-means++ starts or, for GMM, from a k-means of its own; the best of 10
starts by the method's own objective, or a single one; GMM with diagonal covariances, 1e-3 added, on 50 principal
components, because full covariances of 784 pixels are singular. Accuracy is that of the best matching of clusters and
classes, on the images that were clustered. Rows of the deep methods
(NAME+Auto+DEC, setting n=SIZE) are shown where the file has them.
"""

import warnings
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from .. import datasets
from ..cluster import SphericalKMeans
from ..cluster.accuracy import clustering_accuracy
from ..kernels.threads import thread_count
from ..pool.source import Progress
from .report import write_page
from .rows import RawRows, measure_all
from .table1_page import DATASETS, MAX_ITER, METHODS, STARTS, Accuracies, draw, page

COMPONENTS, REGULARISATION = 50, 1e-3  # of GMM


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, table1.png and README.md into `out`."""
    wanted = range(seeds or (2 if quick else 10))
    rows = open_rows(out, quick)
    units = [
        (name, method, f"n={n} n_init={starts}", seed)
        for starts in STARTS
        for n in reversed(sizes(quick))  # long ones first, so that no core is left with one at the end
        for name in DATASETS
        for method in METHODS
        for seed in wanted
    ]
    measure_all(rows, units, measure, (data,), progress, workers=1 if quick else thread_count())
    found = Accuracies(rows.where(seed=wanted))
    draw(out / "table1.png", found, len(wanted))
    return write_page(out, page(found, len(wanted), quick))


def sizes(quick: bool) -> tuple[int, ...]:
    """How many images are clustered."""
    return (500, 1000) if quick else (10_000, 20_000, 30_000, 40_000, 50_000, 60_000)


def open_rows(out: Path, quick: bool) -> RawRows:
    """The rows of this experiment in `out`, to which the deep methods add theirs."""
    gmm = {"covariance": "diagonal", "components": COMPONENTS, "regularisation": REGULARISATION}
    protocol = {"sizes": list(sizes(quick)), "starts": list(STARTS), "max_iter": MAX_ITER, "gmm": gmm}
    return RawRows(out, "table1", protocol)


def draw_images(name: str, n: int, seed: int, data: Path | None) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    """The n training images that this seed draws, as rows of pixels in [0, 1], and their labels."""
    X, y = _load(name, data)
    if n > len(X):
        raise ValueError(f"{name} has {len(X)} training images, and Table 1 needs {n}: get the whole dataset")
    rows = drawn(len(X), n, seed)
    return X[rows].reshape(n, -1).astype(np.float32) / np.float32(255), y[rows]


def drawn(total: int, n: int, seed: int) -> npt.NDArray[np.int64]:
    """The rows of the n images that this seed draws."""
    return np.random.default_rng(seed).permutation(total)[:n]


def measure(name: str, method: str, setting: str, seed: int, data: Path | None) -> dict[str, float]:
    """Accuracy of one clustering, its iterations and seconds, and the objective, which is better when smaller."""
    n, starts = (int(part.partition("=")[2]) for part in setting.split())
    X, y = draw_images(name, n, seed, data)
    k = len(np.unique(y))
    begin = perf_counter()
    clusters, iterations, objective = _cluster(method, X, k, starts, seed)
    seconds = perf_counter() - begin
    accuracy = clustering_accuracy(y, clusters)
    return {"accuracy": accuracy, "iterations": iterations, "seconds": seconds, "objective": objective}


def _cluster(
    method: str, X: npt.NDArray[np.float32], k: int, starts: int, seed: int
) -> tuple[npt.NDArray[Any], int, float]:
    """A cluster for each row, and what the best start took and reached."""
    if method == "GMM":
        codes = PCA(COMPONENTS, svd_solver="covariance_eigh").fit_transform(X).astype(np.float64)
        gmm = GaussianMixture(
            k, covariance_type="diag", reg_covar=REGULARISATION, n_init=starts, max_iter=MAX_ITER, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the paper's limit, and the page tells how often
            clusters = gmm.fit_predict(codes)
        return clusters, int(gmm.n_iter_), -float(gmm.lower_bound_)
    maker = {"K-means": KMeans, "SphericalKMeans": SphericalKMeans}[method]
    kmeans = maker(k, n_init=starts, max_iter=MAX_ITER, random_state=seed).fit(X)
    return kmeans.labels_, int(kmeans.n_iter_), float(kmeans.inertia_)


@lru_cache(maxsize=2)
def _load(name: str, data: Path | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    X, y = datasets.load(name, data)[:2]
    return X, y
