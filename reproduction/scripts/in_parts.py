"""Run Tables 3 to 5 in parts on one GPU: a process for each part; rows are merged as parts end.

    python scripts/in_parts.py WORK [--into DIR] [--data DIR] [--tables 3 4 5] [--datasets mnist …] [--methods TITLE …]
        [--seeds N]

A part is some methods of a table on one dataset that cost about the same, so that none waits long for another. It is
run by `python -m mheal_reproduction` in its own folder under WORK. It starts from the rows of DIR/table3 … (default:
results/) and adds its own at the end. Called again with the same methods, the script resumes. It does not add to rows
of another protocol; name another DIR then. First let processes share the GPU: `nvidia-cuda-mps-control -d`. The output
of each part is in WORK/log. WORK and DIR/table3 … are locked during the run. Afterwards,
`python -m mheal_reproduction table3 --page` writes the page and pictures.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import ExitStack
from pathlib import Path
from threading import Lock as ThreadLock

from mheal import datasets
from mheal.runtime.files import Lock, OtherRun
from mheal_reproduction.machine import gpu
from mheal_reproduction.paper.images.collect import protocol
from mheal_reproduction.paper.images.methods import methods
from mheal_reproduction.paper.images.pools import KINDS
from mheal_reproduction.paper.images.size import FULL
from mheal_reproduction.paper.images.task import Task
from mheal_reproduction.paper.images.titles import COUNTERPARTS
from mheal_reproduction.rows import RawRows, Row, stored_rows

GROUPS = (  # slow ones come first; methods that are in no group make a group of their own
    ("VAAL",),
    ("CDAL+CoreSet", "CDAL+RL"),
    ("K-means, SimCLR",),
    ("K-means",),
    ("Hierarchical",),
    ("MHEAL with model, SimCLR",),
    ("Random", "Max Entropy", "Variation Ratios", "Core-set", "BALD"),
    ("Core-set, SimCLR", "TypiClust, SimCLR", "MaxHerding, SimCLR", "MHEAL, SimCLR"),
)
Part = tuple[int, str, tuple[str, ...]]  # table, dataset, methods
Learnt = dict[tuple[str, str], Future[None]]  # features, by dataset and kind
writing = ThreadLock()


def main(given: argparse.Namespace) -> None:
    """Run all parts, with locks so that no other run adds rows to the same folders; rows would be lost."""
    with ExitStack() as locked:
        try:
            for folder in (given.work, *(given.into / f"table{table}" for table in sorted(set(given.tables)))):
                locked.enter_context(Lock(folder))
        except OtherRun as error:
            sys.exit(str(error))
        run_parts(given)


def run_parts(given: argparse.Namespace) -> None:
    """Learn the features that methods use, then run all parts that lack rows."""
    if gpu() is None:
        sys.exit("these networks need a GPU: without one they take days")
    began = time.perf_counter()
    homes = {table: _rows(given.into / f"table{table}", table) for table in given.tables}
    parts: list[Part] = [
        (table, name, group)
        for name in given.datasets
        for group in _groups([title for title in methods(name) if title in given.methods or not given.methods])
        for table in given.tables
        if not all(homes[table].has(name, t, KINDS[table - 3], s) for t in group for s in range(given.seeds))
    ]
    pool, learnt = ThreadPoolExecutor(given.processes), Learnt()
    try:
        wanted = {(name, methods(name)[title].features) for _, name, group in parts for title in group}
        for name in given.datasets:
            if (name, "simclr") in wanted:
                learnt[name, "simclr"] = pool.submit(_learn, given, name, "simclr")
            if wanted & {(name, "codes"), (name, "dec")}:  # which are learnt one after the other
                learnt[name, "codes"] = learnt[name, "dec"] = pool.submit(_learn, given, name, "codes,dec")
        made = [pool.submit(_make, given, part, learnt) for part in parts]
        failed = [str(part.exception()) for part in as_completed(made) if part.exception()]
    finally:
        pool.shutdown(cancel_futures=True)  # matters if this is interrupted
    print(f"{time.perf_counter() - began:.0f} s in all")
    if failed:
        sys.exit("\n".join(dict.fromkeys(failed)))


def _groups(titles: Sequence[str]) -> list[tuple[str, ...]]:
    grouped = {title for group in GROUPS for title in group}
    rest = tuple(title for title in titles if title not in grouped)
    found = (tuple(title for title in group if title in titles) for group in (*GROUPS, rest))
    return [group for group in found if group]


def _learn(given: argparse.Namespace, name: str, kinds: str) -> None:
    """Learn features in a process of its own, which frees its GPU memory when it ends."""
    _run(given, f"{name} {kinds}", [__file__, str(given.work), "--learn", name, kinds, "--seeds", str(given.seeds)])


def _make(given: argparse.Namespace, part: Part, learnt: Learnt) -> None:
    """Run one part: copy the rows so far, measure the missing ones, and add these to the rows in DIR."""
    table, name, group = part
    for title in group:
        if (name, methods(name)[title].features) in learnt:
            learnt[name, methods(name)[title].features].result()
    folder, home = given.work / f"table{table} {name} {group[0]}", given.into / f"table{table}"
    _copy([row for row in stored_rows(home) if row["dataset"] == name and row["method"] in group], folder, table)
    command = ["-m", "mheal_reproduction", f"table{table}", "--out", str(folder), "--dataset", name, "--quiet"]
    command += ["--seeds", str(given.seeds), *(word for title in group for word in ("--method", title))]
    _run(given, folder.name, command)
    with writing:
        _copy(stored_rows(folder), home, table)


def _rows(folder: Path, table: int) -> RawRows:
    return RawRows(folder, f"table{table}", protocol(FULL))


def _copy(rows: list[Row], folder: Path, table: int) -> None:
    there = _rows(folder, table)
    there.add(row for row in rows if not there.has(row["dataset"], row["method"], row["setting"], row["seed"]))


def _run(given: argparse.Namespace, what: str, command: list[str]) -> None:
    log, began = given.work / "log" / f"{what}.txt", time.perf_counter()
    log.parent.mkdir(parents=True, exist_ok=True)
    each = str(max(1, (os.cpu_count() or 1) // given.processes))
    settings = {"MHEAL_NUM_THREADS": each, "OMP_NUM_THREADS": each, datasets.FOLDER_VARIABLE: str(given.data)}
    with log.open("a", encoding="utf-8") as file:
        done = subprocess.run([sys.executable, *command], stdout=file, stderr=file, env=os.environ | settings)
    if done.returncode:
        raise RuntimeError(f"{what} failed: {log} says why")
    print(f"{what}: {time.perf_counter() - began:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument(
        "--into", type=Path, default=Path(__file__).parents[1] / "results", help="folder of table3, table4 and table5"
    )
    parser.add_argument("--data", type=Path, default=datasets.path("mnist").parent, help="folder of NAME.npz files")
    parser.add_argument("--tables", type=int, nargs="+", choices=(3, 4, 5), default=(3, 4, 5))
    parser.add_argument("--datasets", nargs="+", choices=tuple(FULL.columns), default=tuple(FULL.columns))
    parser.add_argument("--methods", nargs="+", choices=tuple(COUNTERPARTS), default=(), metavar="TITLE")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=8, help="at a time")
    parser.add_argument("--learn", nargs=2, help=argparse.SUPPRESS)  # NAME KINDS: learn features, and no more
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.learn:
        task = Task.load(given.learn[0], "clean", None, FULL)
        task.features.prepare(given.learn[1].split(","), range(given.seeds), lambda *_: None)
    else:
        main(given)
