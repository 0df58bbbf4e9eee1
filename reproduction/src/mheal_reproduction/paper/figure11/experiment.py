"""Figure 11 (§7.3): networks trained on random images inside, or outside, what the paper calls the version space.

The paper projects the training images to two principal components and computes the energy E_0 of each among its five
nearest neighbours. The 30 % of largest energy are its in-version-space. Large energy means close neighbours, so that
part is dense. The paper calls it the boundary, so we also try the sparsest 30 %. Both are tried among all images and
within clusters. A draw is a random order of all images, and every part takes its first images in that order. So smaller
budgets are nested, and parts are paired. Draw and budget decide a network's initial weights. All networks have the same
recipe.
"""

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from ...networks.classifier import accuracies
from ...networks.recipes import Recipe, mnist
from ...networks.training import Trainer
from ...report import Floats, Values, write_page
from ...rows import KEY, RawRows, stored_rows
from .page import CLASSES, CLUSTERS, DATASETS, LINES, NEIGHBOURS, RANDOM, SETTINGS, SHARE, Budgets, draw, page
from .version_space import neighbourhood_energy, split

CURVES_AT_ONCE = 2  # with six budgets, twelve networks fill a GPU

Members = npt.NDArray[np.bool_]
Curve = tuple[str, str, int]  # setting, method, draw


@dataclass(frozen=True)
class Size:
    """The settings that a quick run makes smaller."""

    budgets: Budgets
    images: int | None  # of the training set, drawn once; None: all
    tests: int | None  # the first of the test set
    recipe: Recipe

    @property
    def protocol(self) -> dict[str, Any]:
        """The settings that rows depend on, beside their key."""
        return asdict(self) | {"neighbours": NEIGHBOURS, "share": SHARE, "clusters": CLUSTERS}


def size_of(quick: bool) -> Size:
    """The size of a run."""
    recipe = mnist()
    if quick:
        return Size((20, 50), 2000, 200, replace(recipe, steps=60, batch=8))
    return Size((20, 50, 100, 200, 300, 500), None, None, recipe)


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure11.png and README.md into `out`."""
    size = size_of(quick)
    rows = RawRows(out, "figure11", size.protocol)
    draws = seeds or (2 if quick else 10)
    curves = [(setting, method, draw) for draw in range(draws) for setting, method in LINES]
    for at, name in enumerate(DATASETS):
        missing = [curve for curve in curves if not rows.has(name, *_key(curve))]
        if missing:
            steps = range((at + 1) * len(curves) - len(missing), len(DATASETS) * len(curves))
            _measure(rows, name, missing, data, size, steps, progress)
    progress(len(DATASETS) * len(curves), len(DATASETS) * len(curves), "done")
    return write(out, draws, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure11.png and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    size, values, draws = size_of(quick), Values(rows), len({row["seed"] for row in rows})
    draw(out / "figure11.png", values, size.budgets, draws)
    return write_page(out, page(values, size.budgets, size.recipe, draws, quick), rows)


def _measure(
    rows: RawRows, name: str, missing: list[Curve], data: Path | None, size: Size, steps: range, progress: Progress
) -> None:
    """Add rows for the parts of a dataset, then for its missing curves; `steps` counts curves for progress."""
    X, y, X_test, y_test = load(name, data, size)
    plane = Plane.of(X)
    members = plane.members()
    for setting in (*SETTINGS, "all"):
        if not rows.has(name, "parts", setting, 0):
            found = {method: plane.describe(members[s, method], y, setting) for s, method in LINES if s == setting}
            rows.add([dict(zip(KEY, (name, "parts", setting, 0), strict=True)) | found])
    with Trainer(X, size.recipe, classes=CLASSES, places=CURVES_AT_ONCE * len(size.budgets)) as trainer:
        for start in range(0, len(missing), CURVES_AT_ONCE):
            progress(steps[start], steps.stop, name)
            group = missing[start : start + CURVES_AT_ONCE]
            tasks = [(members[setting, method], draw, n) for setting, method, draw in group for n in size.budgets]
            drawn = [draw_images(*task) for task in tasks]
            seeds = [1000 * draw + n for _, draw, n in tasks]
            networks = trainer.train([(images, y[images]) for images in drawn], seeds)
            accuracy = accuracies(networks, X_test, y_test).reshape(len(group), -1)
            rows.add(
                dict(zip(KEY, (name, *_key(curve)), strict=True))
                | {"accuracy": dict(zip(size.budgets, line, strict=True))}
                for curve, line in zip(group, accuracy, strict=True)
            )


def load(name: str, data: Path | None, size: Size) -> tuple[npt.NDArray[Any], ...]:
    """The training images and their classes, and those of the official test set."""
    arrays = datasets.load(name, data)
    if len(arrays) != 4:
        raise UserError(f"{datasets.path(name, data)} has no test set: X_test and y_test are needed")
    X, y, X_test, y_test = arrays
    if size.images is not None and size.images < len(X):
        some = np.sort(np.random.default_rng(0).choice(len(X), size.images, replace=False))
        X, y = X[some], y[some]
    return X, y, X_test[: size.tests], y_test[: size.tests]


def draw_images(members: Members, draw: int, count: int) -> npt.NDArray[np.int64]:
    """The first `count` members in the random order of a draw, which is the same for all parts."""
    if members.sum() < count:
        raise UserError(f"a part has {members.sum()} images, and {count} are to be drawn")
    order = np.random.default_rng(draw).permutation(len(members))
    return order[members[order]][:count]


@dataclass(frozen=True)
class Plane:
    """The images on two principal components."""

    codes: Floats
    spacing: Floats  # mean distance to the nearest neighbours
    energy: Floats
    cluster: npt.NDArray[np.int64]
    centres: Floats  # one a cluster

    @classmethod
    def of(cls, images: npt.NDArray[Any]) -> "Plane":
        """Project and cluster images of bytes."""
        from sklearn.cluster import KMeans
        from sklearn.decomposition import PCA
        from sklearn.neighbors import NearestNeighbors

        X = images.reshape(len(images), -1).astype(np.float32) / np.float32(255)
        codes = PCA(2, svd_solver="covariance_eigh").fit_transform(X).astype(np.float64)
        spacing = NearestNeighbors(n_neighbors=NEIGHBOURS).fit(codes).kneighbors()[0].mean(axis=1)
        found = KMeans(CLUSTERS, n_init=10, random_state=0).fit(codes)
        energy = neighbourhood_energy(codes, NEIGHBOURS)
        return cls(codes, spacing, energy, found.labels_.astype(np.int64), found.cluster_centers_)

    def members(self) -> dict[tuple[str, str], Members]:
        """The images of each part, by setting and method."""
        parts = {RANDOM: np.ones(len(self.codes), bool)}
        for setting, (sign, clustered) in SETTINGS.items():
            inside = split(sign * self.energy, SHARE, self.cluster if clustered else None)
            parts |= {(setting, "in"): inside, (setting, "out"): ~inside}
        return parts

    def describe(self, members: Members, classes: npt.NDArray[Any], setting: str) -> dict[str, float]:
        """Size, density, distance from the centre (of the cluster, if clusters have thresholds) and class shares."""
        clustered = SETTINGS.get(setting, (1, False))[1]
        middle = self.centres[self.cluster] if clustered else self.codes.mean(axis=0)
        counts = np.bincount(classes[members], minlength=CLASSES)
        return {
            "images": int(members.sum()),
            "spacing": float(self.spacing[members].mean()),
            "radius": float(np.linalg.norm(self.codes - middle, axis=1)[members].mean()),
        } | {f"class {c}": count / members.sum() for c, count in enumerate(counts)}


def _key(curve: Curve) -> tuple[str, str, int]:
    """Method, setting and seed, as rows have them."""
    setting, method, draw = curve
    return method, setting, draw
