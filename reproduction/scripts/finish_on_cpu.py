"""Finish an interrupted run of Tables 3 to 5 without a GPU, from the run's log, in bfloat16 as on a GPU.

    python scripts/finish_on_cpu.py FOLDER TABLE DATASET TITLE DATA

FOLDER is that of the interrupted run, with its logs under `unfinished`. The script is meant for the last one or two
networks: one with 10,000 labels takes twenty minutes on a core. The column `device` of the rows says CPU or GPU.
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
    """A place with the memory layout and the precision of a GPU."""

    def __init__(self, images: Any, recipe: Any, classes: int, clock: Any, half: bool) -> None:
        super().__init__(images, recipe, classes, clock, half=True)


if __name__ == "__main__":
    folder, table, name, title, data = Path(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:5], Path(sys.argv[5])
    training.Place = Place  # type: ignore[misc]  # the class of which a Trainer makes its places
    with Lock(folder):
        rows = RawRows(folder, f"table{table}", protocol(FULL))
        collect(KINDS[table - 3], name, rows, data, range(1), [title], FULL, lambda *step: print(*step, flush=True))
