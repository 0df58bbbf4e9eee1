"""The protocol of Tables 3, 4 and 5: networks that learn from few labelled images, picked by every method.

What the paper leaves open is set here and in the modules beside, alike for every method. The first labels are drawn at
random and count. Every network starts from scratch at each number of labels, with a recipe that depends on the dataset
and that number alone. Accuracy is that of the network without dropout on the official test set. The kind of the pool is
"clean" in Table 3, "repeated" in Table 4 (10,000 images are there twice) and "noisy" in Table 5 (the copies have wrong
labels).
"""

from pathlib import Path
from typing import Any

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress
from mheal.runtime.threads import thread_count

from ...experiments import Part
from ...machine import gpu
from ...networks.labelling import Run, run_together
from ...report import write_page
from ...rows import RawRows, stored_rows
from .ahead import make_picks
from .methods import PROTOCOL
from .page import page
from .picture import draw
from .pools import EXTRA, KINDS, share_of_copies, share_of_wrong
from .size import FULL, QUICK, Size
from .task import Task, Trainers
from .titles import COUNTERPARTS, titles
from .unfinished import Unfinished, Unit

SEEDS = {"mnist": 10, "cifar10": 5, "cifar100": 5}


def run(
    out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress, kind: str,
    part: Part | None = None,
) -> str:  # fmt: skip
    """Measure what is missing, or a part of it, and write rows, pictures and the page into `out`."""
    size = QUICK if quick else FULL
    names, titles = _wanted(part or Part(), size)
    if not quick and gpu() is None:
        raise UserError(
            "these networks need a GPU: without one they take days. Use --quick, or --page to write the page anew"
        )
    rows = RawRows(out, f"table{3 + KINDS.index(kind)}", protocol(size))
    for name in names:
        wanted = range(seeds or (1 if quick else SEEDS[name]))
        collect(kind, name, rows, data, wanted, titles, size, progress)
    return write(out, seeds, quick, kind)


def write(out: Path, seeds: int | None, quick: bool, kind: str) -> str:
    """Write the pictures and README.md from the rows in `out`, and in table3 beside it."""
    found = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    clean = stored_rows(out.parent / "table3")
    draw(out, kind, found, COUNTERPARTS)
    return write_page(out, page(kind, found, COUNTERPARTS, quick, clean), found)


def _wanted(part: Part, size: Size) -> tuple[list[str], list[str]]:
    """The datasets and methods of a part, in the order of display."""
    names = [name for name in size.columns if name in part.datasets or not part.datasets]
    known = [title for title in COUNTERPARTS if any(title in titles(name) for name in names)]
    for what, given, choices in (("dataset", part.datasets, size.columns), ("method", part.methods, known)):
        for name in set(given) - set(choices):
            raise UserError(f"there is no {what} {name!r} here: choose from {'; '.join(choices)}")
    return names, [title for title in known if title in part.methods or not part.methods]


def protocol(size: Size) -> dict[str, Any]:
    """What rows depend on, beside the key."""
    return PROTOCOL | {"extra": EXTRA} | size.protocol()


def collect(
    kind: str, name: str, rows: RawRows, data: Path | None, seeds: range, titles: list[str], size: Size,
    progress: Progress,
) -> None:  # fmt: skip
    """Add the rows of a dataset that are missing, one for each method and seed; all runs proceed side by side."""
    task = Task.load(name, kind, data, size)
    units = [(title, seed) for title in titles if title in task.methods for seed in seeds]
    missing = [unit for unit in units if not rows.has(name, unit[0], kind, unit[1])]
    unfinished = Unfinished(rows.file.parent / "unfinished" / name)
    for unit in set(units) - set(missing):  # where a run was killed between its row and this
        unfinished.forget(unit)
    if not missing:
        unfinished.end()
        return
    unfinished.begin(protocol(size))
    task.prepare([unit for unit in missing if unfinished.picks(unit) is None], progress)
    make_picks(task, missing, unfinished, progress, thread_count() if size.images is None else 1)
    runs = {unit: task.run(unit, unfinished) for unit in missing}
    device = gpu() or "CPU"

    def finished(unit: Unit, run: Run) -> None:
        found = {"dataset": name, "method": unit[0], "setting": kind, "seed": unit[1], **_found(task, run)}
        rows.add([found | {"seconds": run.seconds, "device": device}])
        unfinished.forget(unit)
        progress(len(units) - sum(not rows.has(name, t, kind, s) for t, s in units), len(units), f"{name}, {unit[0]}")

    often = sum(run.acquisition.uses == "network" and run.acquisition.batch is not None for run in runs.values())
    with Trainers(task, often or len(runs)) as trainers:
        run_together(runs, trainers.train, trainers.score, finished, thread_count())
    unfinished.end()


def _found(task: Task, run: Run) -> dict[str, Any]:
    return {
        "accuracy": run.scores,
        "copies": {n: share_of_copies(run.pool, picks) for n, picks in run.picks.items()},
        "wrong": {n: share_of_wrong(run.pool, task.labels, picks) for n, picks in run.picks.items()},
    }
