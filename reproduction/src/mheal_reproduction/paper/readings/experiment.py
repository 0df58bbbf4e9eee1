"""Table 3 on MNIST with different choices for what the paper leaves open in Algorithm 2 (§7.5).

A reading is one combination of choices: number of clusters, start, features, quota. The images, the networks and their
recipe, and the 20 random labels of a warm start are those of Table 3. Each reading has a control, which takes as many
random rows of each cluster; the difference is what the energy adds. A support vector machine on pixels, which takes
seconds, is trained on the same labels.
"""

from pathlib import Path

from mheal.runtime.progress import Progress

from ...machine import gpu
from ...report import write_page
from ...rows import RawRows, stored_rows
from .bench import Bench
from .grid import LEARNT, RANDOM, SPACES, ordered_groups
from .numbers import Found, with_random
from .page import PICTURES, page
from .picture import draw
from .protocol import SEEDS, protocol


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure what is missing, and write rows.jsonl, README.md and pictures into `out`."""
    rows = RawRows(out, "readings", protocol(quick))
    spaces = [
        space for space in SPACES if quick or gpu() or space not in LEARNT
    ]  # without a GPU, features that take hours to learn are left out
    parts = [part for group in ordered_groups(seeds or (1 if quick else SEEDS), spaces) for part in group]
    missing = [left for part in parts if (left := [unit for unit in part if not rows.has(*unit)])]
    total = sum(map(len, parts))
    done = total - sum(map(len, missing))
    progress(done, total, "readings")
    bench = Bench.load(data, None, quick, progress)
    for part in missing:
        rows.add(bench(part))
        done += len(part)
        progress(done, total, ", ".join(map(str, part[0][1:])))
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write the pictures and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds or row["method"] == RANDOM]
    found = Found(with_random(rows, stored_rows(out.parent / "table3")))
    for learner, name in PICTURES.items():
        if any(one.learner == learner for one in found.readings):
            draw(out / name, found, learner)
    return write_page(out, page(found, seeds or SEEDS, quick), rows)
