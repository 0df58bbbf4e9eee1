"""Table 3 on MNIST under the readings of Algorithm 2 that the paper leaves open (§7.5).

The images, the networks and their recipe, and the 20 random labels of a warm start are those of Table 3. For each
reading there is a control: as many rows of each cluster, drawn at random, so that the difference is what the energy
adds to the clusters. A support vector machine on pixels, which takes seconds, learns from every reading; the network
from those that tell most, and from the others when there is time.
"""

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.runtime.progress import Progress
from mheal.runtime.threads import single_threaded_blas

from ...machine import gpu
from ...networks.images import TrainingImages
from ...networks.training import Trainer, default_device
from ...report import write_page
from ...rows import Key, RawRows, stored_rows
from ..images.features import Features
from ..images.methods import CLASSES, FIRST
from ..images.size import FULL, QUICK, Size
from .grid import BUDGETS, CONTROL, LEARNT_SPACES, NETWORK, PAPER, RANDOM, SPACES, Reading, by_setting, ordered_units
from .numbers import Found, with_random
from .page import PICTURES, page
from .picks import MANY, RUNS, RUNS_OF_MANY, Clusterings, Rows, paper_picks, random_picks
from .picture import draw
from .spaces import SCALING, Spaces
from .svm import GAMMA_TIMES_VARIANCE, PENALTY, Machine

SEEDS, STEPS = 5, 3000  # repetitions, and batches that an autoencoder of "codes" learns from
QUICK_BUDGETS, QUICK_STEPS = (30, 50), 20


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure what is missing, and write rows.jsonl, README.md and pictures into `out`."""
    rows = RawRows(out, "readings", protocol(quick))
    spaces = SPACES + LEARNT_SPACES if gpu() or quick else SPACES  # those of Table 3 take hours without a GPU
    units = ordered_units(seeds or (1 if quick else SEEDS), spaces)
    missing = [unit for unit in units if not rows.has(*unit)]
    progress(len(units) - len(missing), len(units), "readings")
    bench = Bench.load(data, quick, progress)
    for done, unit in enumerate(missing, start=len(units) - len(missing) + 1):
        rows.add([bench.measure(unit)])
        progress(done, len(units), ", ".join(map(str, unit[1:])))
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write the pictures and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds or row["method"] == RANDOM]
    found = Found(with_random(rows, stored_rows(out.parent / "table3")))
    for learner, name in PICTURES.items():
        if any(one.learner == learner for one in found.readings):
            draw(out / name, found, learner)
    return write_page(out, page(found, seeds or SEEDS, quick), rows)


def budgets(quick: bool) -> tuple[int, ...]:
    """Numbers of labels."""
    return QUICK_BUDGETS if quick else BUDGETS


def protocol(quick: bool) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    size = QUICK if quick else FULL
    return {
        "budgets": budgets(quick),
        "images": size.images,
        "first": FIRST,
        "recipes": {n: asdict(size.recipe("mnist", n)) for n in budgets(quick)},
        "autoencoder": {"steps": QUICK_STEPS if quick else STEPS},
        "clusterings": {"many": MANY, "runs": RUNS, "runs of many": RUNS_OF_MANY},
        "svm": {"C": PENALTY, "gamma times variance": GAMMA_TIMES_VARIANCE},
    }


class Bench:
    """The images, and what is needed to measure a row."""

    def __init__(self, arrays: Iterable[npt.NDArray[Any]], folder: Path | None, quick: bool, progress: Progress):
        self.images, self.labels, self.test_images, self.test_labels = arrays
        self.labels, self.test_labels = self.labels.astype(np.int64), self.test_labels.astype(np.int64)
        self.size: Size = QUICK if quick else FULL
        self.budgets, self.readings, self.clusterings = budgets(quick), by_setting(), Clusterings()
        learnt = Features("mnist", self.images, CLASSES["mnist"], folder, self.size)
        self.spaces = Spaces(self.images, QUICK_STEPS if quick else STEPS, folder, learnt, progress)
        images = TrainingImages.load(self.images, default_device(self.images))
        self._tests = images.like(self.test_images)
        recipe = self.size.recipe("mnist", self.budgets[0])
        self._trainer = Trainer(images, recipe, classes=CLASSES["mnist"], places=1, half=True)  # as on a GPU
        self._machine = Machine(self.images, self.labels, self.test_images, self.test_labels)

    @classmethod
    def load(cls, data: Path | None, quick: bool, progress: Progress) -> "Bench":
        """Read the images."""
        size = QUICK if quick else FULL
        folder = datasets.path("mnist", data).parent / "features" if size.keep_features else None
        return cls((array[: size.images] for array in datasets.load("mnist", data)), folder, quick, progress)

    def measure(self, unit: Key) -> dict[str, Any]:
        """The row of a method, a setting and a seed: accuracy at each number of labels."""
        dataset, method, setting, seed = unit
        begin, accuracy = perf_counter(), {}
        learner = setting.partition(",")[0]
        for n in self.budgets:
            picks = self.picks(method, self.readings.get(setting), n, seed)
            accuracy[n] = self._network(picks, seed) if learner == NETWORK else self._machine.accuracy(picks)
        about = {} if method == RANDOM else self.readings[setting].columns
        row = {"dataset": dataset, "method": method, "setting": setting, "seed": seed, "learner": learner, **about}
        return row | {"accuracy": accuracy, "seconds": perf_counter() - begin, "device": gpu() or "CPU"}

    def picks(self, method: str, reading: Reading | None, n: int, seed: int) -> Rows:
        """n rows to label, those of the start first."""
        order = np.random.default_rng(seed).permutation(len(self.images))
        if reading is None:
            return order[:n]
        first = order[: FIRST if reading.start == "warm" else 0]
        k, scaling = reading.clusters or n, SCALING[reading.space]
        X = self.spaces(reading.space, seed)
        with single_threaded_blas():  # as `mheal.select` does
            found = self.clusterings(X, reading.space, scaling, k, seed)
            words = (seed, k, n, len(first), (PAPER, CONTROL).index(method))
            rng = np.random.RandomState(np.random.SeedSequence(words).generate_state(4))
            if method == PAPER:
                more = paper_picks(X, n - len(first), first, found, scaling, rng)
            else:
                more = random_picks(n - len(first), first, found, rng)
        return np.append(first, more)

    def _network(self, picks: Rows, seed: int) -> float:
        """Accuracy of a network that is trained on these labels; it starts as those of Table 3."""
        start = int(np.random.SeedSequence([seed, len(picks)]).generate_state(1)[0] // 2)
        network = self._trainer.train([(picks, self.labels[picks])], [start])[0]
        return float(network.accuracy(self._tests, self.test_labels))
