"""Helpers of all studies: measuring and resuming, data, classifiers, paired comparisons, the page.

    python benchmarks/labels/NAME/run.py DATA     # measure what rows.csv lacks, then rewrite the page
    python benchmarks/labels/NAME/run.py --page   # rewrite README.md from rows.csv

DATA is a folder of NAME.npz files, each with X_train and y_train. A unit is what is measured in one go, for example one
strategy on one split of a dataset; a stopped run resumes with the next unit.
"""

import argparse
import csv
import gzip
import os
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # set before NumPy loads: units run in parallel, one process per core
os.environ["OMP_NUM_THREADS"] = "1"
os.environ["MHEAL_NUM_THREADS"] = "1"

import numpy as np
from sklearn.datasets import load_digits
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import mheal

Line = dict[str, str]
Unit = tuple[Any, ...]
IMAGES = ("mnist", "fashion_mnist", "cifar10")


@dataclass(frozen=True)
class Study:
    """A study: how it is measured and how its page is written.

    columns : header of rows.csv; the first columns identify the unit
    units : returns all units for a number of seeds
    run : measures one unit, given as (DATA, *unit), and returns its rows
    page : returns the text of README.md, given all rows
    """

    folder: Path
    columns: Sequence[str]
    units: Callable[[int], Iterable[Unit]]
    run: Callable[[Unit], list[list[Any]]]
    page: Callable[[list[Line]], str]
    seeds: int = 5

    def main(self) -> None:
        """Read the command line, measure unless --page is given, and write the page."""
        parser = argparse.ArgumentParser()
        parser.add_argument("data", nargs="?", type=Path, help="folder of NAME.npz files")
        parser.add_argument("--page", action="store_true", help="only rewrite README.md from the rows")
        parser.add_argument("--seeds", type=int, default=self.seeds, help=f"number of splits (default {self.seeds})")
        parser.add_argument("--only", nargs="*", default=[], help="measure only units that contain all these words")
        parser.add_argument("--out", type=Path, default=self.folder / "rows.csv", help="another file for the rows")
        parser.add_argument("--processes", type=int, help="units at a time; default: one for each core")
        args = parser.parse_args()
        if not args.page:
            if args.data is None:
                parser.error("name the folder of the datasets, or give --page")
            units = [unit for unit in self.units(args.seeds) if set(args.only) <= set(map(str, unit))]
            self.measure(args.data, args.out, units, args.processes)
        if args.out == self.folder / "rows.csv":
            (self.folder / "README.md").write_text(wrapped(self.page(read(args.out))), encoding="utf-8")

    def measure(self, data: Path, out: Path, units: list[Unit], processes: int | None) -> None:
        """Measure the units that have no rows in `out`, and append their rows."""
        there = [tuple(line.values()) for line in read(out)] if out.exists() else []
        done = {row[: len(units[0])] for row in there}
        jobs = [(data, *unit) for unit in units if tuple(map(str, unit)) not in done]
        with out.open("a", newline="", encoding="utf-8") as file, get_context("spawn").Pool(processes) as pool:
            write = csv.writer(file, lineterminator="\n")
            if not there:
                write.writerow(self.columns)
            for rows in pool.imap_unordered(self.run, jobs):
                write.writerows(rows)
                file.flush()
                print(f"{len(rows)} rows of {', '.join(map(str, rows[0][: len(units[0])]))}", flush=True)


# ---- data


def read(path: Path) -> list[Line]:
    """Read the rows of a CSV file, which may be compressed with gzip."""
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def load(data: Path, name: str, rows: int | None = None) -> tuple[Any, Any]:
    """Features and classes 0, 1, … of a dataset, or of `rows` random rows. Images are flat and between 0 and 1."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        X = X / 16
    else:
        stored = np.load(data / f"{name}.npz")
        X, y = stored["X_train"], stored["y_train"].ravel()
    keep = slice(None) if rows is None or name == "digits" else np.random.default_rng(0).permutation(len(X))[:rows]
    X = X[keep].reshape(len(X[keep]), -1).astype(np.float32)
    return (X / 255 if name in IMAGES else X), np.unique(y[keep], return_inverse=True)[1]


def quiet() -> None:
    """Silence the warnings of models that are trained on few labels."""
    warnings.filterwarnings("ignore")


# ---- labelling


def classifier(name: str, seed: int, labels: int) -> Any:
    """An unfitted classifier by name. `labels` is the number of labels: the most neighbours that knn can use."""
    return {
        "logistic": lambda: LogisticRegression(max_iter=1000),
        "svm": lambda: SVC(C=10),
        "knn": lambda: KNeighborsClassifier(min(5, labels)),
        "forest": lambda: RandomForestClassifier(200, random_state=seed),
        "network": lambda: MLPClassifier((128,), alpha=1e-3, max_iter=300, random_state=seed),
    }[name]()


def fitted(name: str, X: Any, y: Any, seed: int) -> Any:
    """The classifier of that name, fitted on these labels; a constant predictor if they are all the same."""
    one_class = len(np.unique(y)) == 1
    return (DummyClassifier() if one_class else classifier(name, seed, len(y))).fit(X, y)


def accuracy(model: Any, X: Any, y: Any) -> float:
    """Share of correct predictions."""
    return round(float(np.mean(model.predict(X) == y)), 4)


def labelled(
    X: Any, strategy: Any, budgets: Sequence[int], seed: int, y: Any = None, model: str | None = None, **options: Any
) -> Iterator[Any]:
    """Yield the labelled rows at each budget.

    Adaptive strategies pick in rounds, with `model` fitted on the labels so far. Without `model` they pick all rows at
    once, as other strategies do.
    """
    chosen = mheal.strategies.get(strategy)() if isinstance(strategy, str) else strategy

    def pick(n: int, **more: Any) -> Any:
        return mheal.select(X, n, strategy=chosen, random_state=seed, **more, **options).indices

    if chosen.kind == "one-shot":
        yield from (pick(n) for n in budgets)
    elif chosen.kind == "ranked" or model is None:
        picks = pick(budgets[-1])
        yield from (picks[:n] for n in budgets)
    else:
        rows = np.empty(0, np.int64)
        for n in budgets:
            if len(rows):
                estimator = fitted(model, X[rows], y[rows], seed)
                rows = np.append(rows, pick(n - len(rows), labeled=rows, y=y[rows], estimator=estimator))
            elif chosen.needs_model or chosen.needs_labels:
                rows = np.random.default_rng(seed).permutation(len(X))[:n]
            else:
                rows = pick(n)
            yield rows


# ---- comparison and layout

Values = dict[str, dict[Unit, float]]


def means(rows: Iterable[Line], name: str, unit: Sequence[str], value: str = "accuracy") -> Values:
    """Mean of the column `value` in %, for each value of the column `name` and each unit."""
    found: dict[str, dict[Unit, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row[name]][tuple(row[column] for column in unit)].append(100 * float(row[value]))
    return {key: {of: float(np.mean(values)) for of, values in units.items()} for key, units in found.items()}


def mean(values: dict[Unit, float], digits: int = 1) -> str:
    """Mean over the units."""
    return f"{np.mean(list(values.values())):.{digits}f}"


def gain(values: dict[Unit, float], against: dict[Unit, float], digits: int = 1) -> str:
    """Mean difference over the units that both have, ± its standard error."""
    gaps = np.array([values[unit] - against[unit] for unit in values if unit in against])
    if len(gaps) < 2:
        return "–"
    error = gaps.std(ddof=1) / len(gaps) ** 0.5
    return f"{gaps.mean():+.{digits}f} ± {error:.{digits}f}".replace("-", "−")


def table(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, ["---"] * len(header), *body])


def wrapped(text: str) -> str:
    """Wrap the paragraphs of a page at 120 characters; tables, headings and code stay as they are."""
    blocks = text.strip().split("\n\n")
    return "\n\n".join(b if b[0] in "|# " else textwrap.fill(b, 120, break_on_hyphens=False) for b in blocks) + "\n"
