"""Finish an interrupted run of Tables 3 to 5 without a GPU: in bfloat16 as on a GPU, from the run's log.

    python scripts/finish_on_cpu.py FOLDER TABLE DATASET TITLE DATA

FOLDER is that of the interrupted run; it keeps logs under `unfinished`. This is for a last network or two: one of
10,000 labels takes twenty minutes on a core. The column `device` of the rows shows where they were made.
"""

import sys
from pathlib import Path
from typing import Any

from mheal.runtime.files import Lock
from mheal_reproduction.networks import training
from mheal_reproduction.paper.images.collect import collect, protocol
from mheal_reproduction.paper.images.pools import KINDS
from mheal_reproduction.paper.images.size import FULL
from mheal_reproduction.rows import RawRows


class Place(training.Place):
    """A place whose layout and precision are those of a GPU."""

    def __init__(self, images: Any, recipe: Any, classes: int, clock: Any, half: bool) -> None:
        super().__init__(images, recipe, classes, clock, half=True)


if __name__ == "__main__":
    folder, table, name, title, data = Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5], Path(sys.argv[5])
    training.Place = Place  # type: ignore[misc]  # what a Trainer makes its places of
    with Lock(folder):
        rows = RawRows(folder, f"table{table}", protocol(FULL))
        collect(KINDS[table - 3], name, rows, data, range(1), [title], FULL, lambda *step: print(*step, flush=True))
