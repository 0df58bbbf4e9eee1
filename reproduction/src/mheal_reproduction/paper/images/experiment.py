"""The protocol of Tables 3, 4 and 5: networks that learn from few labelled images, picked by every method.

What the paper leaves open is set in this folder, in the same way for every method. The first labels are random and
count. At each number of labels a network is trained from scratch, with a recipe that depends only on the dataset and
that number. Accuracy is that of the network without dropout on the official test set. The pool is "clean" in Table 3,
"repeated" in Table 4 (10,000 images occur twice) and "noisy" in Table 5 (the copies have wrong labels).
"""

from pathlib import Path

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from ...experiments import Part
from ...machine import gpu
from ...report import write_page
from ...rows import RawRows, stored_rows
from .collect import collect, protocol
from .page import page
from .picture import draw
from .pools import KINDS
from .size import FULL, QUICK, Size
from .titles import COUNTERPARTS, titles

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
