"""Measure the readings of Table 3 in several processes that share a GPU, for a limited time; a second run resumes.

    python scripts/sweep.py OUT [--data DIR] [--cache DIR] [--processes 15] [--seconds S] [--seeds N] [--spaces NAME …]
    python scripts/sweep.py OUT --learn "DEC codes" "moved codes" --cache DIR      # only features, in one process

Rows are added to OUT/rows.jsonl as they come. Features are learnt once for each seed and kept in --cache. Readings
whose features are missing there are skipped, except those of "codes", which take seconds to learn on a GPU. After S
seconds no row is begun; rows under way have a grace period. The script needs neither polars nor matplotlib; on another
machine, `python -m mheal_reproduction readings --page` writes the page.
"""

import argparse
import os
import sys
import time
from functools import partial
from pathlib import Path

from mheal_reproduction.paper.readings.bench import Bench
from mheal_reproduction.paper.readings.grid import SPACES, ordered_groups
from mheal_reproduction.paper.readings.protocol import SEEDS, protocol
from mheal_reproduction.processes import GRACE, Limit, measure_groups
from mheal_reproduction.rows import RawRows

REPORT = 20  # rows between two lines of progress


def main(given: argparse.Namespace) -> None:
    """Learn missing features, then measure the missing rows."""
    limit = Limit.after(given.seconds)
    rows = RawRows(given.out, "readings", protocol(given.quick))
    open_bench = partial(Bench.load, given.data, given.cache, given.quick, quiet)
    bench, seeds = open_bench(), range(given.seeds)
    for space in given.learn or ["codes"]:
        bench.spaces.learn(space, seeds)
        say(f"features: {space}")
    if given.learn:
        return
    groups = []
    for group in ordered_groups(given.seeds, given.spaces):
        missing = [left for part in group if (left := [unit for unit in part if not rows.has(*unit)])]
        if missing and all(bench.ready(unit) for part in missing for unit in part):
            groups.append(missing)
    print(f"{sum(len(part) for group in groups for part in group)} rows to measure", flush=True)

    def progress(done: int, total: int, what: str) -> None:
        if done % REPORT < 2 or done == total:
            say(f"{done} of {total}: {what}")

    os.environ.update({"OMP_NUM_THREADS": "1", "MHEAL_NUM_THREADS": "1"})  # of the processes to come
    measure_groups(rows, groups, open_bench, given.processes, limit, progress, given.grace)
    say(f"{len(rows.rows)} rows in all")


def quiet(done: int, total: int, what: str) -> None:
    """A progress function that reports nothing."""


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder of mnist.npz; default: $MHEAL_DATA")
    parser.add_argument("--cache", type=Path, help="folder of learnt features; default: features beside the images")
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--seconds", type=float, help="no row is begun afterwards")
    parser.add_argument("--grace", type=float, default=GRACE, help="seconds more for what was begun")
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--spaces", nargs="+", choices=SPACES, default=SPACES, metavar="NAME")
    parser.add_argument("--learn", nargs="+", choices=SPACES, default=(), metavar="NAME")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it runs, and nothing else")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main(_arguments()))
