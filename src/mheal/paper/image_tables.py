"""The protocol of Tables 3, 4 and 5: networks that learn from few labelled images, bought by every strategy.

What the paper leaves open is set here, alike for every line: 20 labels are there at the start, drawn at random and
counted; every network starts from scratch at each number of labels, with one recipe a dataset; accuracy is that of the
network without dropout on the official test set. Lines that look at no network plan all their labels from the features:
codes of an autoencoder, or of DEC ("MHEAL (paper)"), trained once a seed on the images alone. Lines that do look at one
buy 10 labels a round, CDAL+RL and VAAL all that the next column allows, Hierarchical 50.
"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import datasets
from ..deep.recipes import Recipe, mnist
from ..learn.networks import ImagePool, Method, Rows, Run, run_together
from ..pool.source import Progress
from ..strategies import get
from .rows import RawRows

KINDS = ("clean", "repeated", "noisy")
FIRST = 20  # labels that are there at the start
EXTRA = 10_000  # rows added to a repeated or noisy pool
ROUND, CANDIDATES, DRAWS = 10, 10_000, 20
COLUMNS = {"mnist": (20, 50, 100, 150, 200, 300, 400, 500)}  # numbers of labels: the tables', and more for the curves
AT_ONCE = 12  # networks that are trained side by side


@dataclass(frozen=True)
class Line:
    """A line of the tables: how it buys, and which features it looks at."""

    method: Method
    features: str = "codes"
    printed: str | None = None  # the line of the paper that it answers


def lines(classes: int, image_shape: tuple[int, int, int]) -> dict[str, Line]:
    """Every line of the tables, by title."""

    def asking(name: str, batch: int | None = ROUND, **parameters: Any) -> Method:
        return Method(get(name)(**parameters), network=True, batch=batch, candidates=CANDIDATES)

    def planning(name: str, **parameters: Any) -> Method:
        return Method(get(name)(**parameters))

    return {
        "Random": Line(planning("random")),
        "K-means": Line(planning("kmeans"), printed="K-means"),
        "K-medoids": Line(planning("kmedoids"), printed="K-medoids"),
        "Hierarchical": Line(Method(get("hierarchical")(), batch=5 * ROUND), printed="Hierarchical"),
        "Max Entropy": Line(asking("max-entropy", draws=DRAWS), printed="Max Entropy"),
        "Variation Ratios": Line(asking("variation-ratios", draws=DRAWS), printed="Variation Ratios"),
        "Core-set": Line(Method(get("coreset")(), features="network", batch=ROUND), printed="Core-set"),
        "BALD": Line(asking("bald", draws=DRAWS), printed="BALD"),
        "BatchBALD": Line(asking("batchbald", draws=DRAWS)),
        "BADGE": Line(asking("badge")),
        "CDAL+CoreSet": Line(asking("cdal-coreset"), printed="CDAL+CoreSet"),
        "CDAL+RL": Line(asking("cdal-rl", batch=None), printed="CDAL+RL"),
        "VAAL": Line(Method(get("vaal")(image_shape=image_shape)), "pixels", printed="VAAL"),
        "MHEAL (paper)": Line(planning("mheal-paper", n_clusters=classes), "dec", printed="MHEAL"),
        "MHEAL (paper), codes": Line(planning("mheal-paper", n_clusters=classes)),
        "Core-set, codes": Line(planning("coreset")),
        "TypiClust": Line(planning("typiclust")),
        "MaxHerding": Line(planning("maxherding")),
        "MHEAL": Line(planning("mheal")),
    }


def image_pool(labels: Rows, kind: str, seed: int) -> ImagePool:
    """The pool of a seed: every training image or, repeated, 10,000 of them twice; noisy, the copies mislabelled."""
    rows = np.arange(len(labels))
    if kind == "clean":
        return ImagePool(rows, labels)
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    copied = rng.choice(len(labels), min(EXTRA, len(labels) // 6), replace=False)
    said = labels[copied]
    if kind == "noisy":
        classes = int(labels.max()) + 1
        said = (said + rng.integers(1, classes, len(said))) % classes  # any class but the right one
    return ImagePool(np.append(rows, copied), np.append(labels, said))


def share_of_copies(pool: ImagePool, bought: Rows) -> float:
    """Of the labels bought, the share spent on an image that was bought before."""
    return 1 - len(np.unique(pool.images[bought])) / len(bought)


def share_of_wrong(pool: ImagePool, truth: Rows, bought: Rows) -> float:
    """Of the labels bought, the share that is wrong."""
    return float((pool.labels[bought] != truth[pool.images[bought]]).mean())


@dataclass(frozen=True, eq=False)
class Task:
    """A dataset, with what every run of it shares."""

    name: str
    images: npt.NDArray[np.uint8]
    labels: Rows
    test_images: npt.NDArray[np.uint8]
    test_labels: Rows
    features: dict[tuple[str, int], npt.NDArray[np.float32]]  # by kind and seed

    @property
    def classes(self) -> int:
        """How many there are."""
        return int(self.labels.max()) + 1

    @property
    def image_shape(self) -> tuple[int, int, int]:
        """Channels, height, width."""
        shape = self.images.shape[1:]
        return (1, shape[0], shape[1]) if len(shape) == 2 else (shape[2], shape[0], shape[1])

    def run(self, title: str, kind: str, seed: int, diary: Path) -> Run:
        """A run of the line `title`."""
        line, pool = lines(self.classes, self.image_shape)[title], image_pool(self.labels, kind, seed)
        columns = [n for n in COLUMNS[self.name] if n <= len(pool.images) // 4]  # fewer for a small pool
        first = np.random.default_rng(seed).choice(len(pool.images), FIRST, replace=False)
        X = self._features(line.features, seed)[pool.images]
        return Run(line.method, pool, X, columns, first, seed, diary)

    def _features(self, name: str, seed: int) -> npt.NDArray[np.float32]:
        if name == "pixels":
            return self.images.reshape(len(self.images), -1).astype(np.float32) / np.float32(255)
        return self.features[name, seed]


def load_task(name: str, data: Path | None, seeds: list[int], quick: bool) -> Task:
    """The images, and codes of them: an autoencoder a seed and DEC after it."""
    from ..deep.clustering import fit_many
    from ..deep.dec import Recipe as CodeRecipe

    X, y, X_test, y_test = datasets.load(name, data)
    recipe = CodeRecipe(pretrain_epochs=5, max_iter=20) if quick else CodeRecipe()
    found = fit_many(X.reshape(len(X), -1), seeds, recipe=recipe)
    codes = {("codes", one.seed): one.initial_codes for one in found}
    return Task(name, X, y, X_test, y_test, codes | {("dec", one.seed): one.codes for one in found})


def collect(
    kind: str, name: str, rows: RawRows, data: Path | None, seeds: range, titles: list[str], quick: bool,
    progress: Progress,
) -> None:  # fmt: skip
    """Add the rows of a dataset that are missing, one a line and seed; all runs go on side by side."""
    from ..deep.training import Trainer

    units = [(title, seed) for title in titles for seed in seeds]
    missing = [unit for unit in units if not rows.has(name, unit[0], kind, unit[1])]
    if not missing:
        return
    task = load_task(name, data, sorted({seed for _, seed in missing}), quick)
    diaries = rows.file.parent / "unfinished"
    runs = {unit: task.run(unit[0], kind, unit[1], diaries / f"{name} {unit[0]} {unit[1]}.json") for unit in missing}

    def finished(unit: tuple[str, int], run: Run) -> None:
        title, seed = unit
        rows.add([{"dataset": name, "method": title, "setting": kind, "seed": seed, **_found(task, run)}])
        if run.diary is not None:
            run.diary.unlink(missing_ok=True)
        progress(len(units) - sum(not rows.has(name, t, kind, s) for t, s in units), len(units), f"{name}, {title}")

    places = min(AT_ONCE, len(runs))
    with Trainer(task.images, network_recipe(quick), classes=task.classes, places=places) as trainer:
        run_together(runs, trainer.train, partial(_score, task), finished)
    diaries.rmdir()


def network_recipe(quick: bool) -> Recipe:
    """How all networks are trained, at every number of labels."""
    return replace(mnist(), steps=30) if quick else mnist()


def protocol(quick: bool) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    return {"recipe": asdict(network_recipe(quick)), "first": FIRST, "round": ROUND, "candidates": CANDIDATES}


def _score(task: Task, network: Any) -> float:
    return float(network.accuracy(task.test_images, task.test_labels))


def _found(task: Task, run: Run) -> dict[str, Any]:
    return {
        "accuracy": run.scores,
        "copies": {n: share_of_copies(run.pool, bought) for n, bought in run.bought.items()},
        "wrong": {n: share_of_wrong(run.pool, task.labels, bought) for n, bought in run.bought.items()},
    }
