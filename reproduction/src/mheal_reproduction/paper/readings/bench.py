"""Measure rows of the readings: picks, then the accuracy of networks or of a support vector machine."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.runtime.progress import Progress
from mheal.runtime.threads import single_threaded_blas

from ...machine import gpu
from ...networks.classifier import Classifier
from ...networks.images import TrainingImages
from ...networks.training import Trainer, default_device
from ...rows import Key, Row
from ..images.features import Features
from ..images.methods import CLASSES, DRAWS, FIRST
from .grid import METHODS, NETWORK, PENULTIMATE, RANDOM, Reading, by_setting
from .picks import Clusterings, Rows, cluster, picks_in
from .protocol import budgets, size_of, steps
from .spaces import SCALING, Spaces
from .svm import Machine

AT_ONCE = 8  # networks that a GPU trains side by side: those of two rows


class Bench:
    """Images, features and clusters that are needed to measure rows; learnt features are saved in `folder`."""

    def __init__(self, arrays: Iterable[npt.NDArray[Any]], folder: Path | None, quick: bool, progress: Progress):
        self.images, self.labels, self.test_images, self.test_labels = arrays
        self.labels, self.test_labels = self.labels.astype(np.int64), self.test_labels.astype(np.int64)
        self.size, self.budgets = size_of(quick), budgets(quick)
        self.readings, self.clusterings = by_setting(), Clusterings()
        learnt = Features("mnist", self.images, CLASSES["mnist"], folder, self.size)
        self.spaces = Spaces(self.images, steps(quick), folder, learnt, progress)
        self._machine = Machine(self.images, self.labels, self.test_images, self.test_labels)

    @classmethod
    def load(cls, data: Path | None, folder: Path | None, quick: bool, progress: Progress) -> "Bench":
        """Read the images. Learnt features are saved beside them, unless another folder is given."""
        size = size_of(quick)
        beside = datasets.path("mnist", data).parent / "features" if size.keep_features else None
        return cls((array[: size.images] for array in datasets.load("mnist", data)), folder or beside, quick, progress)

    def __call__(self, units: Sequence[Key]) -> list[Row]:
        """The rows of these (dataset, method, setting, seed): accuracy at each number of labels."""
        spent, accuracies, of_draws = ([0.0] * len(units), *([dict[int, float]() for _ in units] for _ in range(2)))
        wanted: list[tuple[int, int, Rows]] = []  # networks: place among the units, number of labels, picks
        for at, (_, method, setting, seed) in enumerate(units):
            began, learner, reading = perf_counter(), setting.partition(",")[0], self.readings.get(setting)
            if reading is not None and reading.space == PENULTIMATE:
                networks = self._in_rounds(method, reading, seed)
                accuracies[at] = {n: self._accuracy(network) for n, network in networks.items()}
                of_draws[at] = {n: self._accuracy_of_draws(network) for n, network in networks.items()}
            elif learner == NETWORK:
                wanted += [(at, n, self.picks(method, reading, n, seed)) for n in self.budgets]
            else:
                accuracies[at] = {n: self._machine.accuracy(self.picks(method, reading, n, seed)) for n in self.budgets}
            spent[at] = perf_counter() - began
        began = perf_counter()
        trained = self._train([picks for *_, picks in wanted], [units[at][3] for at, *_ in wanted])
        for (at, n, _), network in zip(wanted, trained, strict=True):
            accuracies[at][n], of_draws[at][n] = self._accuracy(network), self._accuracy_of_draws(network)
        for at in {at for at, *_ in wanted}:
            spent[at] += (perf_counter() - began) * len(self.budgets) / len(wanted)
        also = [{"accuracy_of_draws": found} if found else {} for found in of_draws]
        device = gpu() or "CPU"
        return [
            self._about(unit) | {"accuracy": found, **drawn, "seconds": seconds, "device": device}
            for unit, found, drawn, seconds in zip(units, accuracies, also, spent, strict=True)
        ]

    def ready(self, unit: Key) -> bool:
        """Whether the features of this row are available without learning."""
        reading = self.readings.get(unit[2])
        return reading is None or self.spaces.ready(reading.space, unit[3])

    def picks(self, method: str, reading: Reading | None, n: int, seed: int) -> Rows:
        """n rows to label, beginning with those of the start."""
        order = np.random.default_rng(seed).permutation(len(self.images))
        if reading is None:
            return order[:n]
        first, k = order[: FIRST if reading.start == "warm" else 0], reading.clusters or n
        X, scaling = self.spaces(reading.space, seed), SCALING[reading.space]
        with single_threaded_blas():  # as `mheal.select` does
            found = self.clusterings(X, reading.space, scaling, k, seed)
            rng = _random(seed, k, n, len(first), METHODS.index(method))
            more = picks_in(found, method, X, n - len(first), first, scaling, rng, reading.quota)
        return np.append(first, more)

    def _in_rounds(self, method: str, reading: Reading, seed: int) -> dict[int, Classifier]:
        """Train networks in turn; the features of each, trained on the labels so far, are used for the next picks."""
        picks = np.random.default_rng(seed).permutation(len(self.images))[:FIRST]
        (network,), networks = self._train([picks], [seed]), dict[int, Classifier]()
        for n in self.budgets:
            X, k, scaling = network.embed(np.arange(len(self.images))), reading.clusters or n, SCALING[reading.space]
            with single_threaded_blas():
                rng = _random(seed, k, n, len(picks), METHODS.index(method))
                found = cluster(X, k, scaling, rng)
                more = picks_in(found, method, X, n - len(picks), picks, scaling, rng, reading.quota)
            picks = np.append(picks, more)
            (network,) = self._train([picks], [seed])
            networks[n] = network
        return networks

    @cached_property
    def _trainer(self) -> Trainer:
        places = AT_ONCE if self._pixels.pixels.is_cuda else 1
        recipe = self.size.recipe("mnist", self.budgets[0])
        return Trainer(self._pixels, recipe, classes=CLASSES["mnist"], places=places, half=True)  # as on a GPU

    @cached_property
    def _pixels(self) -> TrainingImages:
        return TrainingImages.load(self.images, default_device(self.images))

    @cached_property
    def _tests(self) -> Any:
        return self._pixels.like(self.test_images)

    def _train(self, picks: list[Rows], seeds: list[int]) -> list[Classifier]:
        """Train a network for each set of labels, from the same initial weights as in Table 3."""
        if not picks:
            return []
        sets = [(rows, self.labels[rows]) for rows in picks]
        starts = [
            int(np.random.SeedSequence([s, len(p)]).generate_state(1)[0] // 2)
            for s, p in zip(seeds, picks, strict=True)
        ]
        return self._trainer.train(sets, starts)

    def _accuracy(self, network: Classifier) -> float:
        return float(network.accuracy(self._tests, self.test_labels))

    def _accuracy_of_draws(self, network: Classifier) -> float:
        """Accuracy of the mean probabilities over samples of the dropout, as Gal et al. (2017) test."""
        found = network.samples(self._tests, DRAWS, seed=0).mean(axis=0).argmax(axis=1)
        return float((found == self.test_labels).mean())

    def _about(self, unit: Key) -> Row:
        dataset, method, setting, seed = unit
        about = {"learner": setting.partition(",")[0]} if method == RANDOM else self.readings[setting].columns
        return {"dataset": dataset, "method": method, "setting": setting, "seed": seed, **about}


def _random(*words: int) -> np.random.RandomState:
    return np.random.RandomState(np.random.SeedSequence(words).generate_state(4))
