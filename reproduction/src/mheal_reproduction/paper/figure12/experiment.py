"""Figure 12 (§7.4): learning curves of a support vector machine, from one label a class to 100 labels."""

from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from mheal.evaluate.statistics import area
from mheal.runtime.progress import Progress
from mheal.runtime.threads import thread_count
from mheal.strategies import get

from ...report import write_page
from ...rows import RawRows, measure_all, stored_rows
from .page import DATASETS, METHODS, PENALTIES, SLOW, SLOW_SEEDS, SUPERVISED, Curves, draw, page
from .svm_curves import learning_curve, repetition


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure12.png and README.md into `out`."""
    size = sizes(quick)
    rows = RawRows(out, "figure12", size)
    wanted = seeds or (2 if quick else 100)
    units = [
        (name, method, setting, seed)
        for method in (
            *SLOW,
            *(m for m in METHODS if m not in SLOW),
        )  # the longest first, so that none is left to run alone at the end
        for name in DATASETS
        for setting in PENALTIES
        for seed in seeds_of(method, wanted)
    ]
    measure_all(rows, units, measure, (data, size["pool"], size["labels"]), progress, thread_count())
    return write(out, wanted, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure12.png and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    size, count = sizes(quick), len({row["seed"] for row in rows})
    curves = Curves(rows, size["labels"])
    draw(out / "figure12.png", curves)
    return write_page(out, page(curves, count, size["pool"], quick), rows)


def sizes(quick: bool) -> dict[str, int]:
    """Rows in the pool, and labels at the end."""
    return {"pool": 200, "labels": 20} if quick else {"pool": 2000, "labels": 100}


def seeds_of(method: str, wanted: int) -> range:
    """The seeds of a method in a run of so many: the slow ones have ten at most."""
    return range(min(wanted, SLOW_SEEDS) if method in SLOW else wanted)


def measure(
    name: str, method: str, setting: str, seed: int, data: Path | None, pool: int, labels: int
) -> dict[str, Any]:
    """One learning curve: accuracies from one label a class to `labels` labels, and the mean height."""
    task = repetition(name, data, seed, pool)
    strategy = get(method)
    chosen = strategy(n_clusters=max(2, task.n_classes)) if method == "mheal-paper" else strategy()
    rng = np.random.default_rng(np.random.SeedSequence((seed, crc32(method.encode()))))
    accuracy = learning_curve(task, chosen, PENALTIES[setting], labels, rng, uses_labels=method in SUPERVISED)
    return {"accuracy": accuracy, "aulc": float(area(range(len(accuracy)), accuracy))}
