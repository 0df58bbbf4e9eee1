"""Tables 3 to 5 in parts, side by side on one GPU: a process a part; rows are put together as parts end.

    python results/together.py WORK [--into DIR] [--data DIR] [--tables 3 4 5] [--datasets mnist …] [--lines TITLE …]
        [--seeds N]

A part is some lines of a table and a dataset that cost about the same, so that none waits long for another. It is made
by `mheal reproduce` in a folder of its own under WORK, which begins with the rows that DIR/table3 … have (by default
those beside this file), and adds to them in the end. Called again with the same lines, it goes on where it was. Rows of
another protocol are not added to: then name another DIR. Before it, let processes share the GPU:
`nvidia-cuda-mps-control -d`. What each prints is in WORK/log. Pages and pictures follow from the rows, with
`mheal reproduce table3 --out DIR/table3`, which on a machine without a GPU makes nothing else.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from threading import Lock

from mheal import datasets
from mheal_reproduction.machine import hindrance
from mheal_reproduction.paper.images.experiment import Task, protocol
from mheal_reproduction.paper.images.methods import COLUMNS, answers, lines
from mheal_reproduction.paper.images.pools import KINDS
from mheal_reproduction.rows import RawRows, Row, stored_rows

GROUPS = (  # what is slow alone comes first; lines that no group names make a group of their own
    ("VAAL",),
    ("CDAL+CoreSet", "CDAL+RL"),
    ("K-means, SimCLR",),
    ("K-means",),
    ("Hierarchical",),
    ("MHEAL, asking, SimCLR",),
    ("Random", "Max Entropy", "Variation Ratios", "Core-set", "BALD"),
    ("Core-set, SimCLR", "TypiClust, SimCLR", "MaxHerding, SimCLR", "MHEAL, SimCLR"),
)
Part = tuple[int, str, tuple[str, ...]]  # table, dataset, lines
Learnt = dict[tuple[str, str], Future[None]]  # features, by dataset and kind
writing = Lock()


def main(asked: argparse.Namespace) -> None:
    """Learn the features that lines look at, then make all parts that lack rows."""
    if why := hindrance(quick=False):
        sys.exit(f"networks are not trained here: {why}")
    began = time.perf_counter()
    homes = {table: _rows(asked.into / f"table{table}", table) for table in asked.tables}
    parts: list[Part] = [
        (table, name, group)
        for name in asked.datasets
        for group in _groups([title for title in lines(name) if title in asked.lines or not asked.lines])
        for table in asked.tables
        if not all(homes[table].has(name, t, KINDS[table - 3], s) for t in group for s in range(asked.seeds))
    ]
    pool, learnt = ThreadPoolExecutor(asked.processes), Learnt()
    try:
        wanted = {(name, lines(name)[title].features) for _, name, group in parts for title in group}
        for name in asked.datasets:
            if (name, "simclr") in wanted:
                learnt[name, "simclr"] = pool.submit(_learn, asked, name, "simclr")
            if wanted & {(name, "codes"), (name, "dec")}:  # which are learnt one after the other
                learnt[name, "codes"] = learnt[name, "dec"] = pool.submit(_learn, asked, name, "codes,dec")
        made = [pool.submit(_make, asked, part, learnt) for part in parts]
        failed = [str(part.exception()) for part in as_completed(made) if part.exception()]
    finally:
        pool.shutdown(cancel_futures=True)  # of use where this is interrupted
    print(f"{time.perf_counter() - began:.0f} s in all")
    if failed:
        sys.exit("\n".join(dict.fromkeys(failed)))


def _groups(titles: Sequence[str]) -> list[tuple[str, ...]]:
    grouped = {title for group in GROUPS for title in group}
    rest = tuple(title for title in titles if title not in grouped)
    found = (tuple(title for title in group if title in titles) for group in (*GROUPS, rest))
    return [group for group in found if group]


def _learn(asked: argparse.Namespace, name: str, kinds: str) -> None:
    """In a process, because its memory on the GPU is given back with it."""
    _run(asked, f"{name} {kinds}", [__file__, str(asked.work), "--learn", name, kinds, "--seeds", str(asked.seeds)])


def _make(asked: argparse.Namespace, part: Part, learnt: Learnt) -> None:
    """One part: its rows so far, those that are missing, and back to where all are."""
    table, name, group = part
    for title in group:
        if (name, lines(name)[title].features) in learnt:
            learnt[name, lines(name)[title].features].result()
    folder, home = asked.work / f"table{table} {name} {group[0]}", asked.into / f"table{table}"
    _copy([row for row in stored_rows(home) if row["dataset"] == name and row["method"] in group], folder, table)
    command = ["-m", "mheal", "reproduce", f"table{table}", "--out", str(folder), "--dataset", name, "--quiet"]
    command += ["--seeds", str(asked.seeds), *(word for title in group for word in ("--line", title))]
    _run(asked, folder.name, command)
    with writing:
        _copy(stored_rows(folder), home, table)


def _rows(folder: Path, table: int) -> RawRows:
    return RawRows(folder, f"table{table}", protocol(quick=False))


def _copy(rows: list[Row], folder: Path, table: int) -> None:
    there = _rows(folder, table)
    there.add(row for row in rows if not there.has(row["dataset"], row["method"], row["setting"], row["seed"]))


def _run(asked: argparse.Namespace, what: str, command: list[str]) -> None:
    log, began = asked.work / "log" / f"{what}.txt", time.perf_counter()
    log.parent.mkdir(parents=True, exist_ok=True)
    each = str(max(1, (os.cpu_count() or 1) // asked.processes))
    settings = {"MHEAL_NUM_THREADS": each, "OMP_NUM_THREADS": each, datasets.FOLDER_VARIABLE: str(asked.data)}
    with log.open("a", encoding="utf-8") as file:
        done = subprocess.run([sys.executable, *command], stdout=file, stderr=file, env=os.environ | settings)
    if done.returncode:
        raise RuntimeError(f"{what} failed: {log} says why")
    print(f"{what}: {time.perf_counter() - began:.0f} s", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", type=Path)
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="folder of table3, table4 and table5")
    parser.add_argument("--data", type=Path, default=datasets.path("mnist").parent, help="folder of NAME.npz files")
    parser.add_argument("--tables", type=int, nargs="+", choices=(3, 4, 5), default=(3, 4, 5))
    parser.add_argument("--datasets", nargs="+", choices=tuple(COLUMNS), default=tuple(COLUMNS))
    parser.add_argument("--lines", nargs="+", choices=tuple(answers()), default=(), metavar="TITLE")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--processes", type=int, default=8, help="at a time")
    parser.add_argument("--learn", nargs=2, help=argparse.SUPPRESS)  # NAME KINDS: learn features, and no more
    return parser.parse_args()


if __name__ == "__main__":
    asked = _arguments()
    if asked.learn:
        task = Task.load(asked.learn[0], "clean", None, quick=False)
        task.features.prepare(asked.learn[1].split(","), range(asked.seeds), lambda *_: None)
    else:
        main(asked)
