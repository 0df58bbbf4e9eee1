"""How typical are the images that lines of Table 3 buy? Of CIFAR-10, in features of SimCLR.

    python results/typical/typical.py DATA PLANS OUT.csv

DATA holds cifar10.npz and features/cifar10_simclr_0.npz, PLANS what lines that plan will buy: `TITLE SEED.json`, a
folder that `mheal reproduce table3` has under `unfinished` while it runs. MHEAL with other charges buys here and now. A
row of the output is strategy, seed, labels, and of what was bought the mean place when all images are sorted by local
spacing (0 the densest, 1 the sparsest) and the mean share of 20 neighbours that have the image's own label. Labels that
were not bought are looked at, to understand, not to choose.
"""

import csv
import json
import sys
from pathlib import Path

import numpy as np

from mheal import MHEAL

BUDGETS = (1000, 2000, 5000, 10_000)
NEIGHBOURS, BLOCK, FIRST = 20, 2000, 20
CHARGES = (1.0, 0.8)


def main() -> None:
    data, plans, out = map(Path, sys.argv[1:4])
    y = np.load(data / "cifar10.npz")["y_train"]
    X = np.load(data / "features" / "cifar10_simclr_0.npz")["features"].astype(np.float32)
    place, same = typicality(X, y)
    with out.open("w", newline="", encoding="utf-8") as file:
        write = csv.writer(file).writerow
        write(["strategy", "seed", "labels", "spacing", "same"])
        for name, seed, bought in purchases(X, plans):
            for n in BUDGETS:
                rows = bought[n]
                write([name, seed, n, round(float(place[rows].mean()), 3), round(float(same[rows].mean()), 3)])


def typicality(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each image, its place by spacing, and the share of its neighbours that have its label."""
    spacing, same = np.empty(len(X)), np.empty(len(X))
    for lo in range(0, len(X), BLOCK):
        part = slice(lo, lo + BLOCK)
        cosine = X[part] @ X.T
        rows = np.arange(len(cosine))
        cosine[rows, rows + lo] = -2  # not itself
        near = np.argpartition(-cosine, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
        squared = 2 - 2 * np.take_along_axis(cosine, near, axis=1)
        spacing[part] = np.sqrt(np.clip(squared, 0, None)).mean(axis=1)
        same[part] = (y[near] == y[part, None]).mean(axis=1)
    return spacing.argsort().argsort() / (len(X) - 1), same


def purchases(X: np.ndarray, plans: Path):
    """Strategy, seed, and the rows bought by number of labels; "all" is what Random has on average."""
    yield "all", 0, dict.fromkeys(BUDGETS, np.arange(len(X)))
    for file in sorted(plans.glob("*, SimCLR *.json")):
        title, _, seed = file.stem.rpartition(" ")
        planned = json.loads(file.read_text(encoding="utf-8"))
        yield title.removesuffix(", SimCLR"), int(seed), {n: np.array(planned[str(n)]) for n in BUDGETS}
    for charge in CHARGES:
        for seed in range(3):
            first = np.random.default_rng(seed).permutation(len(X))[:FIRST]
            model = MHEAL(charge=charge, copies="once", random_state=seed)
            rows = np.append(first, model.select(X, BUDGETS[-1] - FIRST, first).indices)
            yield f"MHEAL, charge={charge:g}", seed, {n: rows[:n] for n in BUDGETS}


if __name__ == "__main__":
    main()
