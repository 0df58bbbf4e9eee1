"""The protocol of Tables 3, 4 and 5: networks that learn from few labelled images, bought by every strategy.

What the paper leaves open is set here and in the modules beside, alike for every line: the first labels are drawn at
random and counted; every network starts from scratch at each number of labels, with a recipe that depends on the
dataset and that number alone; accuracy is that of the network without dropout on the official test set.
"""

from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.algorithms.density import POWER, TRIM
from mheal.algorithms.facility_location import CANDIDATES as COVERING
from mheal.algorithms.facility_location import REFERENCES as COVERED
from mheal.algorithms.local_spacing import COMPARISONS, NEIGHBOURS, REFERENCES
from mheal.runtime.progress import Progress
from mheal.runtime.threads import thread_count
from mheal.selector import COVER
from mheal.uncertainty import ASK_FROM, DOUBT

from ..networks.labelling import Network, Rows, Run, run_together
from ..networks.recipes import Recipe, cifar, mnist
from . import Part
from .deep_constants import constants_of
from .image_features import Features, made
from .image_lines import (
    CANDIDATES,
    CLASSES,
    COLUMNS,
    COPIES,
    DRAWS,
    FIRST,
    ROUND,
    TREE_ROUNDS,
    VAAL_BATCHES,
    Line,
    answers,
    lines,
)
from .image_plans import make_plans
from .image_pools import EXTRA, KINDS, image_pool, share_of_copies, share_of_wrong
from .image_tables_page import page
from .image_tables_picture import draw
from .image_unfinished import Unfinished, Unit
from .machine import gpu, hindrance
from .report import write_page
from .rows import RawRows, made_so, stored_rows

SEEDS = {"mnist": 10, "cifar10": 5, "cifar100": 5}
QUICK, SMALL = (20, 30, 50), 2000  # labels and images of a quick run, which is about MNIST only
AT_ONCE = {"cnn": 20, "resnet20": 9}  # networks that are trained side by side


def run(
    kind: str, out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress,
    part: Part | None = None,
) -> str:  # fmt: skip
    """Measure what is missing, or a part of it, and write rows, pictures and the page into `out`."""
    number = 3 + KINDS.index(kind)
    names, titles = _wanted(part or Part(), ("mnist",) if quick else tuple(COLUMNS))
    why = hindrance(quick)
    if not why:
        rows = RawRows(out, f"table{number}", protocol(quick))
        for name in names:
            wanted = range(seeds or (1 if quick else SEEDS[name]))
            collect(kind, name, rows, data, wanted, titles, quick, progress)
    found, clean = stored_rows(out), stored_rows(out.parent / "table3")
    draw(out, kind, found, answers())
    earlier = bool(found) and not made_so(out, protocol(quick))
    return write_page(out, page(kind, found, answers(), quick, clean, why, earlier))


def _wanted(part: Part, datasets: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """The datasets and lines of a part, in the order of display."""
    names = [name for name in datasets if name in part.datasets or not part.datasets]
    titles = [title for title in answers() if any(title in lines(name) for name in names)]
    for what, asked, known in (("dataset", part.datasets, datasets), ("line", part.lines, titles)):
        for name in set(asked) - set(known):
            raise ValueError(f"there is no {what} {name!r} here: choose from {'; '.join(known)}")
    return names, [title for title in titles if title in part.lines or not part.lines]


def protocol(quick: bool) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    found: dict[str, Any] = {
        "first": FIRST, "round": ROUND, "candidates": CANDIDATES, "draws": DRAWS, "vaal batches": VAAL_BATCHES,
        "extra": EXTRA, "shuffled": True, "tree rounds": TREE_ROUNDS, "unit rows": "as they are",
    }  # fmt: skip
    for name in COLUMNS:
        recipes = {n: asdict(network_recipe(name, n, quick)) for n in columns(name, quick)}
        found[name] = {"recipes": recipes, "codes": made(name, "dec")}
    ours = {
        "cover": COVER,
        "covering": COVERING,
        "covered": COVERED,
        "neighbours": NEIGHBOURS,
        "references": REFERENCES,
        "comparisons": COMPARISONS,
        "power": POWER,
        "trim": TRIM,
        "copies": COPIES,
    }
    asking = {"doubt": DOUBT, "from": ASK_FROM, "candidates": "of draws only"}
    return found | {"simclr": made("", "simclr"), "mheal": ours, "asking": asking} | constants_of("vaal")


def columns(name: str, quick: bool) -> tuple[int, ...]:
    """Numbers of labels at which networks are tested."""
    return QUICK if quick else COLUMNS[name]


def network_recipe(name: str, labels: int, quick: bool) -> Recipe:
    """How networks are trained with so many labels."""
    recipe = mnist() if name == "mnist" else cifar(labels)
    return replace(recipe, steps=30, warm_up=0) if quick else recipe


@dataclass(frozen=True, eq=False)
class Task:
    """A dataset and a kind of pool, with what all runs share."""

    name: str
    kind: str
    quick: bool
    images: npt.NDArray[np.uint8]  # channels first, or none
    labels: Rows
    test_images: npt.NDArray[np.uint8]
    test_labels: Rows
    features: Features

    @classmethod
    def load(cls, name: str, kind: str, data: Path | None, quick: bool) -> "Task":
        """Read the images; features are prepared later."""
        X, y, X_test, y_test = datasets.load(name, data)
        if quick:
            X, y, X_test, y_test = X[:SMALL], y[:SMALL], X_test[:SMALL], y_test[:SMALL]
        folder = None if quick else datasets.path(name, data).parent / "features"
        features = Features(name, X, CLASSES[name], folder, quick)
        return cls(name, kind, quick, channels_first(X), y, channels_first(X_test), y_test, features)

    @property
    def lines(self) -> dict[str, Line]:
        """By title."""
        shape = self.images.shape[1:]
        return lines(self.name, (1, *shape) if len(shape) == 2 else shape, self.quick)

    def run(self, unit: Unit, unfinished: Unfinished) -> Run:
        """The run of a line and seed, with its plan if there is one."""
        title, seed = unit
        line, pool, planned = self.lines[title], image_pool(self.labels, self.kind, seed), unfinished.plan(unit)
        first = np.random.default_rng(seed).permutation(len(pool.labels))[: min(line.first, len(self.labels) // 10)]
        X = np.empty((0, 0), np.float32) if planned else self._rows(line.features, seed, pool.images)
        return Run(line.method, pool, X, columns(self.name, self.quick), first, seed, unfinished.diary(unit), planned)

    def prepare(self, units: list[Unit], progress: Progress) -> None:
        """Get the features that these runs look at."""
        kinds = {self.lines[title].features for title, _ in units} - {"none", "pixels"}
        self.features.prepare(sorted(kinds), sorted({seed for _, seed in units}), progress)

    @cached_property
    def pixels(self) -> npt.NDArray[np.float32]:
        """Rows of numbers in [0, 1], shared by all runs."""
        return self.images.reshape(len(self.images), -1).astype(np.float32) / np.float32(255)

    def _rows(self, kind: str, seed: int, images: Rows) -> npt.NDArray[np.float32]:
        if kind == "none":
            return np.ones((len(images), 1), np.float32)  # to be counted, not looked at: the network is asked instead
        found = self.pixels if kind == "pixels" else self.features(kind, seed)
        return found if len(images) == len(found) else found[images]


def collect(
    kind: str, name: str, rows: RawRows, data: Path | None, seeds: range, titles: list[str], quick: bool,
    progress: Progress,
) -> None:  # fmt: skip
    """Add the rows of a dataset that are missing, one a line and seed; all runs go on side by side."""
    task = Task.load(name, kind, data, quick)
    units = [(title, seed) for title in titles if title in task.lines for seed in seeds]
    missing = [unit for unit in units if not rows.has(name, unit[0], kind, unit[1])]
    unfinished = Unfinished(rows.file.parent / "unfinished" / name)
    for unit in set(units) - set(missing):  # where a run was killed between its row and this
        unfinished.forget(unit)
    if not missing:
        unfinished.end()
        return
    unfinished.begin(protocol(quick))
    workers = 1 if quick else thread_count()
    task.prepare([unit for unit in missing if unfinished.plan(unit) is None], progress)
    make_plans(task, missing, unfinished, progress, workers)
    runs = {unit: task.run(unit, unfinished) for unit in missing}
    device = gpu() or "CPU"

    def finished(unit: Unit, run: Run) -> None:
        found = {"dataset": name, "method": unit[0], "setting": kind, "seed": unit[1], **_found(task, run)}
        rows.add([found | {"seconds": run.seconds, "device": device}])
        unfinished.forget(unit)
        progress(len(units) - sum(not rows.has(name, t, kind, s) for t, s in units), len(units), f"{name}, {unit[0]}")

    often = sum(run.method.asks_network and run.method.batch is not None for run in runs.values())
    with Trainers(task, often or len(runs)) as trainers:
        run_together(runs, trainers.train, trainers.score, finished, thread_count())
    unfinished.end()


class Trainers(ExitStack):
    """Trains networks of a task: a trainer for each recipe, made when it is needed. Use it in a `with` statement."""

    def __init__(self, task: Task, usual: int) -> None:
        """`usual` is how many networks are often wanted at a time."""
        super().__init__()
        from mheal.embed.device_images import Images

        from ..networks.training import Trainer, default_device

        self.task, self.usual = task, max(1, usual)
        images = Images.load(task.images, default_device(task.images))
        self._tests = images.like(task.test_images)
        self._new = partial(Trainer, images, classes=CLASSES[task.name])
        self._trainers: dict[Recipe, Any] = {}

    def train(self, sets: list[tuple[Rows, Rows]], seeds: list[int]) -> list[Network]:
        """A network for each set of images and labels."""
        recipes = [network_recipe(self.task.name, len(images), self.task.quick) for images, _ in sets]
        found: dict[int, Network] = {}
        for recipe in dict.fromkeys(recipes):
            mine = [i for i, one in enumerate(recipes) if one == recipe]
            if recipe not in self._trainers:
                groups = -(-self.usual // AT_ONCE[recipe.network])
                self._trainers[recipe] = self.enter_context(self._new(recipe, places=-(-self.usual // groups)))
            networks = self._trainers[recipe].train([sets[i] for i in mine], [seeds[i] for i in mine])
            found |= dict(zip(mine, networks, strict=True))
        return [found[i] for i in range(len(sets))]

    def score(self, network: Any) -> float:
        """Accuracy on the test images."""
        return float(network.accuracy(self._tests, self.task.test_labels))


def _found(task: Task, run: Run) -> dict[str, Any]:
    return {
        "accuracy": run.scores,
        "copies": {n: share_of_copies(run.pool, bought) for n, bought in run.bought.items()},
        "wrong": {n: share_of_wrong(run.pool, task.labels, bought) for n, bought in run.bought.items()},
    }


def channels_first(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Images as networks take them; grey ones have no channels and stay as they are."""
    return images if images.ndim == 3 else np.ascontiguousarray(images.transpose(0, 3, 1, 2))
