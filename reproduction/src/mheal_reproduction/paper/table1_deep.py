"""The lower half of Table 1: K-means, GMM and SphericalKMeans on the codes of an autoencoder, refined by DEC.

The paper names the network and little else. Here: the clusterer finds the centres DEC starts from (SphericalKMeans by
directions from the origin, which is `DeepClustering(center=False)`), and the label of an image is its most likely
cluster; every seed has its own images, the same as in the upper half, and its own autoencoder, which the three
clusterers share; GMM has one start, the others ten. NAME+Auto+DEC is that; NAME+Auto+DEC-DA, which is not in the
paper, moves the images a little whenever they are shown to the network, needs longer for it, and is run at the
largest n only.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mheal.runtime.progress import Progress

from ..clustering_accuracy import clustering_accuracy
from .deep_constants import CENTER, CLUSTERING, constants_of
from .machine import gpu, hindrance
from .rows import RawRows, Row, stored_rows
from .table1_images import DATASETS, drawn, figure_sizes, load
from .table1_numbers import DEC, DEEP, METHODS, MOVED, full

if TYPE_CHECKING:
    from ..networks.clustering import Clusterer
    from ..networks.dec import Recipe

CLUSTERERS: dict[str, "Clusterer"] = dict(zip(METHODS, ("kmeans", "gmm", "spherical"), strict=True))


def lower_half(
    folder: Path, data: Path | None, seeds: Sequence[int], quick: bool, progress: Progress
) -> tuple[list[Row], str]:
    """Add the rows of these seeds where this machine can, and give all that are in `folder`, and what is missing."""
    why = hindrance(quick)
    if not why:
        deep_rows(open_deep_rows(folder, quick), data, seeds, quick, progress)
    rows = stored_rows(folder)
    there = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    wanted = [
        (name, full(method, variant), f"n={n}", seed)
        for name, variant, n in _units(quick)
        for method in METHODS
        for seed in seeds
    ]
    missing = [unit for unit in wanted if unit not in there]
    if not missing:
        return rows, ""
    where = ", ".join(dict.fromkeys(f"{setting.removeprefix('n=')}" for _, _, setting, _ in missing))
    return rows, (
        f"Of {len(wanted):,} runs with {len(seeds)} seeds, {len(missing):,} are missing, n = {where}; "
        f"this machine did not make them: {why}."
    )


def open_deep_rows(folder: Path, quick: bool) -> RawRows:
    """The rows in `folder`, to which rows made as today's code makes them can be added."""
    return RawRows(folder, "table1", protocol(quick))


def protocol(quick: bool) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    recipes: dict[str, Any] = {variant: asdict(recipe_of(variant, quick)) for variant in DEEP}
    return recipes | {"center": CENTER} | constants_of(*CLUSTERING)


def deep_rows(rows: RawRows, data: Path | None, seeds: Iterable[int], quick: bool, progress: Progress) -> None:
    """Add the rows of all seeds, sizes and methods that are not there yet; all seeds of a size are trained as one."""
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
    """Datasets, variants and sizes, the largest first: a run that is cut short has what says most."""
    *smaller, largest = figure_sizes(quick)
    first = [(name, variant, largest) for name in DATASETS for variant in DEEP]
    return first + [(name, DEC, n) for n in reversed(smaller) for name in DATASETS]


def _measure(name: str, variant: str, n: int, seeds: list[int], data: Path | None, quick: bool) -> list[Row]:
    from ..networks.clustering import fit_many  # torch is an extra

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


def recipe_of(variant: str, quick: bool, shape: tuple[int, ...] = (28, 28), n_clusters: int = 10) -> "Recipe":
    """How a variant is trained; both of the paper's datasets have ten classes of 28 × 28 pixels."""
    from ..networks.dec import Recipe

    recipe = Recipe(n_clusters, pretrain_epochs=300, max_iter=12_000)
    if variant == MOVED:
        recipe = replace(recipe, image_shape=shape, pretrain_epochs=500)
    return replace(recipe, pretrain_epochs=2, max_iter=3) if quick else recipe
