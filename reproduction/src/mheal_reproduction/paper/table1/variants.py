"""Variants of Table 1 at its largest n: standardised pixels, codes of any length, all 70,000 images.

The paper leaves these open. §5.1 standardises features, but our Table 1 divides pixels by 255; here they are
standardised. Before DEC, our codes are scaled to a mean length of 12, because Student's t has scale 1; here they are
not scaled. The last variant runs DEC on training and test images together.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from mheal import datasets
from mheal.runtime.progress import Progress

from ...clustering_accuracy import clustering_accuracy
from ...machine import gpu
from ...networks.dec import Recipe
from ...networks.many import fit_many
from ...rows import Key, RawRows, Row
from .deep import CENTER, CLUSTERERS, recipe_of
from .images import DATASETS, drawn, figure_sizes
from .names import DEC, METHODS, full
from .pixels import cluster

STANDARDISED, ANY_LENGTH, ALL = "standardised pixels", "codes of any length", "training and test images"
DEEP = (ANY_LENGTH, ALL)
SETTINGS = (STANDARDISED, *DEEP)
STARTS = 10


def protocol(quick: bool) -> dict[str, Any]:
    """The settings that rows depend on, beside their key."""
    recipes = {setting: asdict(_recipe(setting, quick)) for setting in DEEP}
    return {"n": figure_sizes(quick)[-1], "starts": STARTS, "center": CENTER} | recipes


def units(names: Sequence[str], settings: Sequence[str], seeds: int) -> Iterator[Key]:
    """(dataset, method, setting, seed) of every row; the paper's method comes first."""
    for setting in settings:
        for method in METHODS[::-1]:
            for name in names:
                for seed in range(seeds):
                    yield name, full(method, DEC) if setting in DEEP else method, setting, seed


def collect(
    out: Path, data: Path | None, seeds: int, quick: bool, progress: Progress, names: Sequence[str] = DATASETS,
    settings: Sequence[str] = SETTINGS,
) -> None:  # fmt: skip
    """Add the missing rows; all seeds of a dataset and setting of DEC are trained as one stack."""
    rows = RawRows(out, "table1_variants", protocol(quick))
    wanted = list(units(names, settings, seeds))
    missing = [unit for unit in wanted if not rows.has(*unit)]
    while missing:
        name, method, setting, seed = missing[0]
        progress(len(wanted) - len(missing), len(wanted), f"{name}, {setting}")
        if setting in DEEP:
            mine = sorted({unit[3] for unit in missing if (unit[0], unit[2]) == (name, setting)})
            found = _deep(name, setting, mine, data, quick)
        else:
            found = [_pixels(name, method, seed, data, quick)]
        rows.add(row for row in found if not rows.has(row["dataset"], row["method"], row["setting"], row["seed"]))
        missing = [unit for unit in wanted if not rows.has(*unit)]
    progress(len(wanted), len(wanted), "done")


def _pixels(name: str, method: str, seed: int, data: Path | None, quick: bool) -> Row:
    X, y = datasets.load(name, data)[:2]
    index = drawn(len(X), figure_sizes(quick)[-1], seed)
    pixels = StandardScaler().fit_transform(X[index].reshape(len(index), -1).astype(np.float32))
    began = perf_counter()
    labels, _, _ = cluster(method, pixels, len(np.unique(y)), STARTS, seed)
    about = {"dataset": name, "method": method, "setting": STANDARDISED, "seed": seed}
    return about | {
        "accuracy": clustering_accuracy(y[index], labels), "seconds": perf_counter() - began, "device": "CPU"
    }  # fmt: skip


def _deep(name: str, setting: str, seeds: list[int], data: Path | None, quick: bool) -> list[Row]:
    X, y = _images(name, setting, data)
    n = len(X) if setting == ALL and not quick else figure_sizes(quick)[-1]
    index = np.stack([drawn(len(X), n, seed) for seed in seeds])
    members = fit_many(
        X.reshape(len(X), -1), seeds, clusterers=list(CLUSTERERS.values()), rows=index,
        recipe=_recipe(setting, quick), center=CENTER,
    )  # fmt: skip
    names, classes = {one: method for method, one in CLUSTERERS.items()}, dict(zip(seeds, y[index], strict=True))
    device = gpu() or "CPU"
    return [
        {
            "dataset": name, "method": full(names[one.clusterer], DEC), "setting": setting, "seed": one.seed,
            "accuracy": clustering_accuracy(classes[one.seed], one.labels),
            "accuracy_before": clustering_accuracy(classes[one.seed], one.initial_labels),
            "length": float(np.linalg.norm(one.initial_codes, axis=1).mean()),
            "iterations": one.n_iter, "seconds": one.seconds, "device": device,
        }
        for one in members
    ]  # fmt: skip


def _images(name: str, setting: str, data: Path | None) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    X, y, *test = datasets.load(name, data)
    return (np.concatenate([X, test[0]]), np.concatenate([y, test[1]])) if setting == ALL and test else (X, y)


def _recipe(setting: str, quick: bool) -> Recipe:
    recipe = recipe_of(DEC, quick)
    return replace(recipe, length=None) if setting == ANY_LENGTH else recipe
