"""Table 2 and Figure 10: how well the subsets of §7.2 match the distribution of the pool.

The pools are MNIST and Fashion-MNIST, 60,000 images with pixels divided by 255. Subsets have 10,000, 20,000, … 60,000
images. "Initial" is the loss at the first size; mean and standard deviation are over the six sizes. The paper has
neither repetitions nor a random subset.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from mheal import datasets
from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from ...report import write_page
from ...rows import KEY, RawRows, stored_rows
from .matching import MEASURES, Target, random_spread
from .numbers import BETA, DATASETS, METHODS, PAPER, PRINTED, SPREAD, WHO, WHOLE, Found, setting
from .orders import STEPS, Pool, subsets
from .page import page
from .picture import draw

SHOWN = ("kl_rows", "mmd_squared", "mmd_mean", "rbf", "energy", "cells")
SIZES = tuple(range(10_000, 60_001, 10_000))  # the paper's
SEEDS = 3  # enough, because the orders of a greedy selection differ only by their first row


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure10.png and README.md into `out`."""
    wanted = range(seeds or (2 if quick else SEEDS))
    sizes, steps = size_of(quick)
    rows = RawRows(out, "table2", {"sizes": list(sizes), "steps of l2": steps})
    measure(rows, data, sizes, wanted, steps, progress)
    return write(out, len(wanted), quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure10.png and README.md from the rows in `out`."""
    rows, (sizes, steps) = stored_rows(out), size_of(quick)
    found = Found(rows, sizes, range(seeds or 1 + max(row["seed"] for row in rows)))
    panels = [(name, what) for name in DATASETS for what in SHOWN]
    lines = {(*panel, method): found.curve(panel[0], method, panel[1]) for panel in panels for method in METHODS}
    crosses = {
        (name, what): [PAPER[PRINTED[what], who][DATASETS.index(name)].initial for who in WHO]
        for name, what in panels
        if what in PRINTED and not quick
    }
    draw(out / "figure10.png", sizes, lines, crosses, METHODS | MEASURES)
    return write_page(out, page(found, steps, quick), rows)


def size_of(quick: bool) -> tuple[tuple[int, ...], int]:
    """The sizes of the subsets, and the steps of ℓ2's descent."""
    return (tuple(range(200, 1001, 200)), 20) if quick else (SIZES, STEPS)


def measure(
    rows: RawRows, data: Path | None, sizes: Sequence[int], seeds: range, steps: int, progress: Progress
) -> None:
    """One order of the pool for each method and seed, measured at every size, unless its rows are there."""
    units = [(method, seed) for seed in seeds for method in METHODS]
    for at, name in enumerate(DATASETS):
        if not rows.has(name, *SPREAD):
            progress(at * len(units), len(DATASETS) * len(units), f"{name}, spread of random subsets")
            spread = random_spread(images(name, data, sizes[-1])[0], sizes)
            rows.add([dict(zip(KEY, (name, *SPREAD), strict=True)) | spread])
        missing = [(method, seed) for method, seed in units if not rows.has(name, method, setting(sizes[0]), seed)]
        if not missing:
            continue
        pool, target = load(name, data, sizes[-1])
        if not rows.has(name, *WHOLE):
            rows.add([dict(zip(KEY, (name, *WHOLE), strict=True)) | target.facts()])
        for done, (method, seed) in enumerate(missing, start=(at + 1) * len(units) - len(missing)):
            progress(done, len(DATASETS) * len(units), f"{name}, {method}, seed {seed}")
            measured = target.measure(subsets(method, pool, sizes, seed, steps))
            keys = [dict(zip(KEY, (name, method, setting(m), seed), strict=True)) for m in sizes]
            rows.add(key | values for key, values in zip(keys, measured, strict=True))
        del pool, target  # before the next dataset's matrices come
    progress(len(DATASETS) * len(units), len(DATASETS) * len(units), "done")


def images(name: str, data: Path | None, n: int) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """n training images of a dataset (of more, some drawn once for all) in [0, 1], and their labels."""
    X, y = datasets.load(name, data)[:2]
    if len(X) < n:
        raise UserError(f"{name} has {len(X)} rows, and {n} are needed")
    drawn = np.sort(np.random.default_rng(0).choice(len(X), n, replace=False))
    return X[drawn].reshape(n, -1).astype(np.float32) / np.float32(255), y[drawn]


def load(name: str, data: Path | None, n: int) -> tuple[Pool, Target]:
    """The images of a dataset as the pool to choose from and as the target to compare with."""
    X, y = images(name, data, n)
    pool = Pool(X)
    return pool, Target(pool.raw, y, BETA[name], pool.gaussian)
