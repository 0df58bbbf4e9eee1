"""Measurements that can be stopped: units of work in processes, rows of a CSV file as they come, none done twice."""

import csv
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any


def arguments() -> tuple[Path, Path, range]:
    """DATA OUT.csv [SEEDS], as scripts are called: the folder, the file and the seeds."""
    return Path(sys.argv[1]), Path(sys.argv[2]), range(int((sys.argv[3:] or [5])[0]))


def measure(
    run: Callable[[Any], list[Any]], folder: Path, out: Path, columns: Sequence[str], units: Iterable[tuple[Any, ...]]
) -> None:
    """Append the rows of run((folder, *unit)) for every unit that no row of `out` begins with.

    $PROCESSES says how many units are worked on at a time; by default as many as there are cores.
    """
    there = list(csv.reader(out.open(encoding="utf-8")))[1:] if out.exists() else []
    units = list(units)
    done = {tuple(row[: len(units[0])]) for row in there}
    jobs = [(folder, *unit) for unit in units if tuple(map(str, unit)) not in done]
    processes = get_context("spawn").Pool(int(os.environ.get("PROCESSES", 0)) or None)
    with out.open("a", newline="", encoding="utf-8") as file, processes as pool:
        if not there:
            csv.writer(file).writerow(columns)
        for rows in pool.imap_unordered(run, jobs):
            csv.writer(file).writerows(rows)
            file.flush()
