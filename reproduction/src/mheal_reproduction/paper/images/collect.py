"""Measure the missing rows of Tables 3 to 5."""

from pathlib import Path
from typing import Any

from mheal.runtime.progress import Progress
from mheal.runtime.threads import thread_count

from ...machine import gpu
from ...networks.labelling import Run, run_together
from ...rows import RawRows
from .ahead import make_picks
from .methods import PROTOCOL
from .pools import EXTRA, share_of_copies, share_of_wrong
from .size import Size
from .task import Task, Trainers
from .unfinished import Unfinished, Unit


def protocol(size: Size) -> dict[str, Any]:
    """The settings that rows depend on, beside their key."""
    return PROTOCOL | {"extra": EXTRA} | size.protocol()


def collect(
    kind: str, name: str, rows: RawRows, data: Path | None, seeds: range, titles: list[str], size: Size,
    progress: Progress,
) -> None:  # fmt: skip
    """Add the missing rows of a dataset, one for each method and seed; all runs proceed together."""
    task = Task.load(name, kind, data, size)
    units = [(title, seed) for title in titles if title in task.methods for seed in seeds]
    missing = [unit for unit in units if not rows.has(name, unit[0], kind, unit[1])]
    unfinished = Unfinished(rows.file.parent / "unfinished" / name)
    for unit in set(units) - set(missing):  # if the last run was killed after a row was written and before this
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
