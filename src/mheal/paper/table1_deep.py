"""The lower half of Table 1: K-means, GMM and SphericalKMeans on the codes of an autoencoder, refined by DEC.

The paper names the network and little else. Here: the clusterer finds the centres DEC starts from, and the
label of an image is its most likely cluster; every seed has its own images, the same as in the upper half, and its own
autoencoder, which the three clusterers share. NAME+Auto+DEC is that; NAME+Auto+IDEC-DA keeps the decoder while it
clusters and moves the images a little, which is not in the paper.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .. import datasets
from ..cluster.accuracy import clustering_accuracy
from ..pool.source import Progress
from .rows import RawRows, Row
from .table1 import drawn, sizes
from .table1_page import DATASETS, METHODS

if TYPE_CHECKING:
    from ..deep.clustering import Clusterer
    from ..deep.dec import Recipe

CLUSTERERS: dict[str, "Clusterer"] = dict(zip(METHODS, ("kmeans", "gmm", "spherical"), strict=True))
VARIANTS = ("Auto+DEC", "Auto+IDEC-DA")


def deep_rows(rows: RawRows, data: Path | None, seeds: Sequence[int], quick: bool, progress: Progress) -> None:
    """Add the rows of all seeds, sizes and methods that are not there yet; all seeds of a size are trained as one."""
    units = [(name, variant, n) for n in sizes(quick) for name in DATASETS for variant in VARIANTS]
    for done, (name, variant, n) in enumerate(units):
        progress(done, len(units), f"{name}, {variant}, n={n}")
        methods = [f"{method}+{variant}" for method in METHODS]
        missing = [seed for seed in seeds if not all(rows.has(name, method, f"n={n}", seed) for method in methods)]
        if missing:
            found = _measure(name, variant, n, missing, data, quick)
            rows.add(row for row in found if not rows.has(name, row["method"], row["setting"], row["seed"]))
    progress(len(units), len(units), "done")


def _measure(name: str, variant: str, n: int, seeds: list[int], data: Path | None, quick: bool) -> list[Row]:
    from ..deep.clustering import fit_many  # torch is an extra

    X, y = datasets.load(name, data)[:2]
    index = np.stack([drawn(len(X), n, seed) for seed in seeds])
    recipe = _recipe(variant, X.shape[1:], len(np.unique(y)), quick)
    members = fit_many(X.reshape(len(X), -1), seeds, clusterers=list(CLUSTERERS.values()), rows=index, recipe=recipe)
    names = {clusterer: method for method, clusterer in CLUSTERERS.items()}
    classes = dict(zip(seeds, y[index], strict=True))
    return [
        {
            "dataset": name,
            "method": f"{names[one.clusterer]}+{variant}",
            "setting": f"n={n}",
            "seed": one.seed,
            "accuracy": clustering_accuracy(classes[one.seed], one.labels),
            "accuracy_before": clustering_accuracy(classes[one.seed], one.initial_labels),
            "iterations": one.n_iter,
            "kl_first": one.history[0],
            "kl_last": one.history[-1],
            "seconds": one.seconds,
        }
        for one in members
    ]


def _recipe(variant: str, shape: tuple[int, ...], n_clusters: int, quick: bool) -> "Recipe":
    from ..deep.dec import Recipe

    recipe = Recipe(n_clusters)
    if variant == "Auto+IDEC-DA":
        recipe = replace(recipe, variant="idec", image_shape=shape)
    return replace(recipe, pretrain_epochs=5, max_iter=6) if quick else recipe
