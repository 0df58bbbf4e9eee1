"""The lower half of Table 1: K-means, GMM and SphericalKMeans on the codes of an autoencoder, refined by DEC.

The paper names the network and little else. Here the clusterer finds the centres that DEC starts from (SphericalKMeans
without subtracting the mean of the codes, as `DeepClustering(center=False)`). The label of an image is its most likely
cluster. Every seed has its own images, the same as in the upper half, and its own autoencoder, which the three
clusterers share. GMM has one start, the others ten. This is NAME+Auto+DEC. NAME+Auto+DEC-DA, which is not in the paper,
shifts and rotates the images a little each time the network sees them. It takes longer, and is run at the largest n
only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from mheal.runtime.progress import Progress

from ...clustering_accuracy import clustering_accuracy
from ...machine import gpu
from ...networks.dec import Recipe
from ...networks.initial import Clusterer
from ...networks.many import fit_many
from ...rows import RawRows, Row
from .images import DATASETS, drawn, figure_sizes, load
from .names import DEC, DEEP, METHODS, MOVED, full

CENTER = False  # as we read the paper; the default of `DeepClustering` is better, see results/dec
CLUSTERERS: dict[str, Clusterer] = dict(zip(METHODS, ("kmeans", "gmm", "spherical"), strict=True))


def missing(rows: Sequence[Row], seeds: int, quick: bool) -> str:
    """A sentence that counts the runs of the first `seeds` seeds without a row; empty if there are none."""
    there = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    wanted = [
        (name, full(method, variant), f"n={n}", seed)
        for name, variant, n in _units(quick)
        for method in METHODS
        for seed in range(seeds)
    ]
    absent = [unit for unit in wanted if unit not in there]
    if not absent:
        return ""
    where = ", ".join(dict.fromkeys(f"{setting.removeprefix('n=')}" for _, _, setting, _ in absent))
    return f"Of {len(wanted):,} runs with {seeds} seeds, {len(absent):,} are missing, n = {where}."


def open_deep_rows(folder: Path, quick: bool) -> RawRows:
    """Open the rows in `folder` to add rows; raises if they have another protocol than the present code."""
    return RawRows(folder, "table1", protocol(quick))


def protocol(quick: bool) -> dict[str, Any]:
    """The settings that rows depend on, beside their key."""
    return {variant: asdict(recipe_of(variant, quick)) for variant in DEEP} | {"center": CENTER}


def deep_rows(rows: RawRows, data: Path | None, seeds: Iterable[int], quick: bool, progress: Progress) -> None:
    """Add the missing rows of all seeds, sizes and methods; all seeds of a size are trained as one stack."""
    seeds, units = list(seeds), _units(quick)
    for done, (name, variant, n) in enumerate(units):
        progress(done, len(units), f"{name}, {variant}, n={n}")
        methods = [full(method, variant) for method in METHODS]
        missing = [seed for seed in seeds if not all(rows.has(name, method, f"n={n}", seed) for method in methods)]
        if missing:
            found = _measure(name, variant, n, missing, data, quick)
            rows.add(row for row in found if not rows.has(name, row["method"], row["setting"], row["seed"]))
    progress(len(units), len(units), "done")


def _units(quick: bool) -> list[tuple[str, str, int]]:
    """Datasets, variants and sizes, the largest first: an interrupted run has the most important ones."""
    *smaller, largest = figure_sizes(quick)
    first = [(name, variant, largest) for name in DATASETS for variant in DEEP]
    return first + [(name, DEC, n) for n in reversed(smaller) for name in DATASETS]


def _measure(name: str, variant: str, n: int, seeds: list[int], data: Path | None, quick: bool) -> list[Row]:
    X, y = load(name, n, data)
    index = np.stack([drawn(len(X), n, seed) for seed in seeds])
    recipe = recipe_of(variant, quick, X.shape[1:], len(np.unique(y)))
    pixels, clusterers = X.reshape(len(X), -1), list(CLUSTERERS.values())
    members = fit_many(pixels, seeds, clusterers=clusterers, rows=index, recipe=recipe, center=CENTER)
    names = {clusterer: method for method, clusterer in CLUSTERERS.items()}
    classes, device = dict(zip(seeds, y[index], strict=True)), gpu() or "CPU"
    return [
        {
            "dataset": name,
            "method": full(names[one.clusterer], variant),
            "setting": f"n={n}",
            "seed": one.seed,
            "accuracy": clustering_accuracy(classes[one.seed], one.labels),
            "accuracy_before": clustering_accuracy(classes[one.seed], one.initial_labels),
            "iterations": one.n_iter,
            "kl_first": one.history[0],
            "kl_last": one.history[-1],
            "seconds": one.seconds,
            "device": device,
        }
        for one in members
    ]


def recipe_of(variant: str, quick: bool, shape: tuple[int, ...] = (28, 28), n_clusters: int = 10) -> Recipe:
    """How a variant is trained; both of the paper's datasets have ten classes of 28 × 28 pixels."""
    recipe = Recipe(n_clusters, pretrain_epochs=300, max_iter=12_000)
    if variant == MOVED:
        recipe = replace(recipe, image_shape=shape, pretrain_epochs=500)
    return replace(recipe, pretrain_epochs=2, max_iter=3, widths=(64, 64, 128)) if quick else recipe
