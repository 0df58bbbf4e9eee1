"""Figure 12 with other numbers of clusters: support vector machines with 20, 50 and 100 labels.

Datasets, pool, machine and the label of each class at the start are those of Figure 12. As in the readings of MNIST,
the control takes as many random rows of each cluster. Each number of labels has its own picks, because with k = labels
the number of clusters depends on it.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from mheal.runtime.progress import Progress
from mheal.runtime.threads import single_threaded_blas
from mheal.scaling import Scaling

from ...report import Floats, percent, table, write_page
from ...rows import Key, RawRows, Row, measure_all, stored_rows
from ..figure12.experiment import sizes
from ..figure12.page import DATASETS, PENALTIES
from ..figure12.svm_curves import GrowingSVC, Repetition, repetition
from ..images.words import above, mean_and_spread, points, points_of
from .grid import CONTROL, METHODS, PAPER, RANDOM, Reading, k_text, random_setting
from .numbers import PLACES, Found
from .picks import Clustering, Rows, cluster, picks_in

BUDGETS, QUICK_BUDGETS = (20, 50, 100), (15, 20)
CLUSTERS = (10, 20, 50)  # beside as many as classes, and as many as labels
CLASSES = {"phishing": 2, "adult": 2, "satimage": 6, "mnist": 10}
REPETITIONS = 20
SPACE, START = "unit columns", "warm"
SCALING: Scaling = "unit"


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure what is missing, and write rows.jsonl and README.md into `out`."""
    rows, pool = RawRows(out, "clusters", protocol(quick)), sizes(quick)["pool"]
    units = list(_units(seeds or (2 if quick else REPETITIONS)))
    measure_all(rows, units, measure, (data, pool, budgets(quick)), progress)
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    return write_page(out, page(rows, quick), rows)


def budgets(quick: bool) -> tuple[int, ...]:
    """Numbers of labels."""
    return QUICK_BUDGETS if quick else BUDGETS


def protocol(quick: bool) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    return {"pool": sizes(quick)["pool"], "budgets": list(budgets(quick)), "penalties": PENALTIES}


def readings(name: str, penalty: str) -> list[Reading]:
    """Those of a dataset and a machine, in the order of pages."""
    return [Reading(penalty, SPACE, k, START) for k in (*sorted({CLASSES[name], *CLUSTERS}), None)]


def _units(seeds: int) -> Iterator[Key]:
    """Seed by seed: an interrupted run has as many of all."""
    for seed in range(seeds):
        for name in DATASETS:
            for penalty in PENALTIES:
                yield name, RANDOM, random_setting(penalty), seed
                for one in readings(name, penalty):
                    for method in METHODS:
                        yield name, method, one.setting, seed


def measure(
    name: str, method: str, setting: str, seed: int, data: Path | None, pool: int, numbers: tuple[int, ...]
) -> dict[str, Any]:
    """Accuracy on the test rows, by number of labels."""
    began, penalty = perf_counter(), setting.partition(",")[0]
    task = _task(name, data, seed, pool)
    reading = next((one for one in readings(name, penalty) if one.setting == setting), None)
    accuracy = {}
    with single_threaded_blas():
        for n in numbers:
            svc = GrowingSVC(task, PENALTIES[penalty], n)
            svc.learn(np.append(task.first, _picks(task, name, method, reading, n, seed, data)))
            accuracy[n] = svc.accuracy()
    about = {"learner": penalty} if reading is None else reading.columns
    return {**about, "accuracy": accuracy, "seconds": perf_counter() - began, "device": "CPU"}


def _picks(
    task: Repetition, name: str, method: str, reading: Reading | None, n: int, seed: int, data: Path | None
) -> Rows:
    k, more = 0 if reading is None else reading.clusters or n, n - len(task.first)
    words = (seed, crc32(f"{method} {k} {n}".encode()))
    rng = np.random.RandomState(np.random.SeedSequence(words).generate_state(4))
    if reading is None:
        return len(task.first) + rng.permutation(len(task.X) - len(task.first))[:more]
    found = _clusters(name, data, seed, len(task.X), k)
    return picks_in(found, method, task.X, more, task.first, SCALING, rng)


@lru_cache(maxsize=1)
def _task(name: str, data: Path | None, seed: int, pool: int) -> Repetition:
    return repetition(name, data, seed, pool)


@lru_cache(maxsize=32)
def _clusters(name: str, data: Path | None, seed: int, pool: int, k: int) -> Clustering:
    rng = np.random.RandomState(np.random.SeedSequence((seed, k)).generate_state(4))
    return cluster(_task(name, data, seed, pool).X, k, SCALING, rng)


class Compared(NamedTuple):
    """A reading of a dataset against Random and against the control, paired by repetition: means over the budgets."""

    name: str
    reading: Reading
    found: Found

    @property
    def random(self) -> Floats:
        """Points above Random."""
        ours = (PAPER, self.reading.setting)
        return self.found.gain(ours, (RANDOM, random_setting(self.reading.learner))).mean(axis=1)

    @property
    def control(self) -> Floats:
        """Points above the control."""
        return self.found.gain((PAPER, self.reading.setting), (CONTROL, self.reading.setting)).mean(axis=1)


def page(rows: list[Row], quick: bool) -> str:
    """The page in Markdown."""
    found, compared = _found(rows), comparisons(rows)
    size = "Quick run: small sizes, not the paper's.\n" if quick else ""
    sections = "\n\n".join(
        _section(of_it, name, penalty, [one for one in compared if one.name == name])
        for name, of_it in found.items()
        for penalty in PENALTIES
    )
    return f"""# Figure 12 with other numbers of clusters
**Verdict:** {verdict(compared)}

{size}Datasets, pools and SVMs are those of [Figure 12](../figure12/README.md), which has as many clusters as classes.
One label of each class is given at the start and counts. Accuracy is compared at {_words(budgets(quick))} labels, each
with its own picks. With k = labels there are as many clusters as labels, and a cluster without a label gives its first
candidate, whatever the energy. The control takes as many random rows of each cluster; the difference is what the
energy adds. Differences are means over the numbers of labels, in points, with 95 % t intervals, paired by repetition.
{_missing(rows, quick)}
Protocol: `mheal_reproduction.paper.readings.curves`.

{sections}
"""


def comparisons(rows: list[Row]) -> list[Compared]:
    """Every reading that can be compared with Random, dataset by dataset."""
    every = (
        Compared(name, reading, found)
        for name, found in _found(rows).items()
        for penalty in PENALTIES
        for reading in readings(name, penalty)
    )
    return [one for one in every if len(one.random)]


def _found(rows: list[Row]) -> dict[str, Found]:
    """Rows by dataset, of those that have some."""
    names = {row["dataset"] for row in rows}
    return {name: Found([row for row in rows if row["dataset"] == name]) for name in DATASETS if name in names}


def verdict(compared: list[Compared]) -> str:
    """Counts over datasets and machines."""
    words = []
    for name in dict.fromkeys(one.name for one in compared):
        mine = [one for one in compared if one.name == name]
        places = counts([place_of(one.random) for one in mine])
        best = max(mine, key=lambda one: float(one.random.mean()))
        words.append(
            f"{name} {places} of {len(mine)}, best with k = {k_text(best.reading.clusters)}, "
            f"{best.reading.learner} ({points_of(best.random)})"
        )
    energy = [place_of(one.control) for one in compared if len(one.control)]
    if not words:
        return "not judged."
    return (
        f"Algorithm 2 against Random, by number of settings: {'; '.join(words)}. Picks by energy against random "
        f"rows of the same clusters: {counts(energy)} of {len(energy)}."
    )


def counts(places: Sequence[str]) -> str:
    """How many are above, level and below."""
    return ", ".join(f"{places.count(place)} {place}" for place in PLACES.values() if place in places)


def place_of(differences: Floats) -> str:
    """Above, level or below; – without values."""
    return PLACES[above(differences)] if len(differences) else "–"


def _words(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + f" and {numbers[-1]}"


def _section(found: Found, name: str, penalty: str, compared: list[Compared]) -> str:
    header = ["k", "repetitions", *(f"{n}: ours, control" for n in found.budgets)]
    header += ["against Random", "is", "energy adds", "is"]
    random = found.curves(RANDOM, random_setting(penalty))
    lines = [["Random", str(len(random)), *map(mean_and_spread, random.T), *["–"] * 4]] if len(random) else []
    lines += (_line(one) for one in compared if one.reading.learner == penalty)
    return f"## {name}, {penalty}\n{table(header, lines)}" if lines else f"## {name}, {penalty}\nNo rows yet."


def _line(one: Compared) -> list[str]:
    ours, control = (one.found.curves(method, one.reading.setting) for method in METHODS)
    others = control.T if len(control) else [control.ravel()] * len(one.found.budgets)
    cells = [f"{mean_and_spread(a)}, {percent(b)}" for a, b in zip(ours.T, others, strict=True)]
    rest = [
        points(one.random),
        place_of(one.random),
        points(one.control),
        place_of(one.control) if len(one.control) else "–",
    ]
    return [k_text(one.reading.clusters), str(len(ours)), *cells, *rest]


def _missing(rows: list[Row], quick: bool) -> str:
    there = {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in rows}
    seconds = sum(row["seconds"] for row in rows)
    wanted = list(_units(2 if quick else REPETITIONS))
    missing = sum(unit not in there for unit in wanted)
    spent = f"{len(rows):,} rows took {seconds / 60:.0f} minutes on one core of a CPU, shared with other work. "
    if not missing:
        return spent + "No row is missing."
    return f"{spent}Missing: {missing:,} of {len(wanted):,} rows. The run resumes with `make reproduce NAME=clusters`."
