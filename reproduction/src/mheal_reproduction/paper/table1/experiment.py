"""Table 1 and Figure 9: how well K-means, GMM and SphericalKMeans find the classes of MNIST and Fashion-MNIST.

The paper gives neither the number of starts, nor the covariance of GMM, nor the number of runs. Here pixels are divided
by 255 and not standardised. There are n random training images; smaller samples of a seed are part of its larger ones.
There are as many clusters as classes. Methods run at most 60 iterations, from k-means++ or, for GMM, from k-means. The
best of 10 starts by the method's own objective is kept, or a single start. GMM has diagonal covariances, 1e-3 added, on
50 principal components, because full covariances of 784 pixels are singular. Accuracy is that of the best matching of
clusters and classes, on the clustered images. The lower half of the table has its own rows, made by `deep`.
"""

import warnings
from pathlib import Path
from time import perf_counter

import numpy as np

from mheal.runtime.progress import Progress
from mheal.runtime.threads import thread_count

from ...clustering_accuracy import clustering_accuracy
from ...machine import gpu
from ...report import write_page
from ...rows import RawRows, measure_all, stored_rows
from .deep import deep_rows, missing, open_deep_rows
from .images import DATASETS, draw_images, figure_sizes, table_sizes
from .names import METHODS, STARTS
from .numbers import Accuracies
from .page import page
from .picture import draw_figure, draw_table
from .pixels import COMPONENTS, MAX_ITER, REGULARISATION, cluster


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, deep/rows.jsonl, table1.png, figure9.png and README.md into `out`."""
    rows = open_rows(out)
    units = [
        (name, method, f"n={n} n_init={starts}", seed)
        for starts in STARTS
        for n in reversed(figure_sizes(quick))  # long ones first, so that none is left to run alone at the end
        for name in DATASETS
        for method in METHODS
        for seed in range(seeds or (2 if quick else 10))
    ]
    measure_all(rows, units, measure, (data,), progress, workers=1 if quick else thread_count())
    if not quick and gpu() is None:
        warnings.warn("the lower half of Table 1 is not run: it needs a GPU, without one it takes days", stacklevel=2)
    else:
        deep_rows(open_deep_rows(out / "deep", quick), data, range(seeds or (1 if quick else 5)), quick, progress)
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write table1.png, figure9.png and README.md from the rows in `out` and `out`/deep."""
    deep = stored_rows(out / "deep")
    rows = stored_rows(out) + deep
    found = Accuracies(rows, table_sizes(quick))
    draw_table(out / "table1.png", found)
    draw_figure(out / "figure9.png", found)
    return write_page(out, page(found, quick, missing(deep, seeds or (1 if quick else 5), quick)), rows)


def open_rows(out: Path) -> RawRows:
    """The rows of the upper half in `out`."""
    gmm = {"covariance": "diagonal", "components": COMPONENTS, "regularisation": REGULARISATION}
    return RawRows(out, "table1", {"starts": list(STARTS), "max_iter": MAX_ITER, "gmm": gmm})


def measure(name: str, method: str, setting: str, seed: int, data: Path | None) -> dict[str, float]:
    """Accuracy of one clustering, its iterations and seconds, and the objective, which is better when smaller."""
    n, starts = (int(part.partition("=")[2]) for part in setting.split())
    X, y = draw_images(name, n, seed, data)
    k = len(np.unique(y))
    begin = perf_counter()
    clusters, iterations, objective = cluster(method, X, k, starts, seed)
    seconds = perf_counter() - begin
    accuracy = clustering_accuracy(y, clusters)
    return {"accuracy": accuracy, "iterations": iterations, "seconds": seconds, "objective": objective}
