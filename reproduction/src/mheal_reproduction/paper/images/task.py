"""The runs of Tables 3, 4 and 5 on one dataset, and the training of their networks."""

from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.runtime.progress import Progress

from ...networks.images import TrainingImages
from ...networks.labelling import Network, Rows, Run
from ...networks.recipes import Recipe
from ...networks.training import Trainer, default_device
from .features import Features
from .methods import CLASSES, Method, methods
from .pools import image_pool
from .size import Size
from .unfinished import Unfinished, Unit

AT_ONCE = {"cnn": 20, "resnet20": 9}  # networks that are trained side by side


@dataclass(frozen=True, eq=False)
class Task:
    """A dataset and a kind of pool, and the data that all runs on it share."""

    name: str
    kind: str
    size: Size
    images: npt.NDArray[np.uint8]  # channels first, or none
    labels: Rows
    test_images: npt.NDArray[np.uint8]
    test_labels: Rows
    features: Features

    @classmethod
    def load(cls, name: str, kind: str, data: Path | None, size: Size) -> "Task":
        """Read the images; features are prepared later."""
        X, y, X_test, y_test = (array[: size.images] for array in datasets.load(name, data))
        folder = datasets.path(name, data).parent / "features" if size.keep_features else None
        features = Features(name, X, CLASSES[name], folder, size)
        return cls(name, kind, size, channels_first(X), y, channels_first(X_test), y_test, features)

    @property
    def methods(self) -> dict[str, Method]:
        """By title."""
        shape = self.images.shape[1:]
        return methods(self.name, (1, *shape) if len(shape) == 2 else shape, self.size)

    def run(self, unit: Unit, unfinished: Unfinished) -> Run:
        """The run of a method and seed, with the picks made ahead if there are any."""
        title, seed = unit
        method, pool, ahead = self.methods[title], image_pool(self.labels, self.kind, seed), unfinished.picks(unit)
        count = min(method.first, len(self.labels) // 10)
        first = np.random.default_rng(seed).permutation(len(pool.labels))[:count]
        X = np.empty((0, 0), np.float32) if ahead else self._rows(method.features, seed, pool.images)
        budgets, log = self.size.columns[self.name], unfinished.log(unit)
        return Run(method.acquisition, pool, X, budgets, first, seed, log, ahead)

    def prepare(self, units: list[Unit], progress: Progress) -> None:
        """Read or learn the features that these runs use."""
        kinds = {self.methods[title].features for title, _ in units} - {"none", "pixels"}
        self.features.prepare(sorted(kinds), sorted({seed for _, seed in units}), progress)

    @cached_property
    def pixels(self) -> npt.NDArray[np.float32]:
        """Rows of numbers in [0, 1], shared by all runs."""
        return self.images.reshape(len(self.images), -1).astype(np.float32) / np.float32(255)

    def _rows(self, kind: str, seed: int, images: Rows) -> npt.NDArray[np.float32]:
        if kind == "none":
            return np.ones((len(images), 1), np.float32)  # a placeholder: the network is queried instead
        found = self.pixels if kind == "pixels" else self.features(kind, seed)
        return found if len(images) == len(found) else found[images]


class Trainers(ExitStack):
    """Trains the networks of a task, with a trainer for each recipe. Use it in a `with` statement."""

    def __init__(self, task: Task, usual: int) -> None:
        """`usual` is the usual number of networks that are trained at a time."""
        super().__init__()
        self.task, self.usual = task, max(1, usual)
        images = TrainingImages.load(task.images, default_device(task.images))
        self._tests = images.like(task.test_images)
        self._new = partial(Trainer, images, classes=CLASSES[task.name])
        self._trainers: dict[Recipe, Any] = {}

    def train(self, sets: list[tuple[Rows, Rows]], seeds: list[int]) -> list[Network]:
        """A network for each set of images and labels."""
        recipes = [self.task.size.recipe(self.task.name, len(images)) for images, _ in sets]
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


def channels_first(images: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Images as networks take them; grey ones have no channels and stay as they are."""
    return images if images.ndim == 3 else np.ascontiguousarray(images.transpose(0, 3, 1, 2))
