"""How much should a one-hot encoded category weigh beside a number?

    python benchmarks/labels/one_hot/run.py DATA [--seeds N]

DATA holds abalone.npz, chess.npz, fars.npz, hpc.npz, mlc_churn.npz, mushroom.npz and splice.npz with arrays X and y,
adult_uci.npz, attrition.csv.xz and credit_data.csv.xz.
"""

import lzma
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
import polars as pl
from common import Study, accuracy, fitted, gain, labelled, means, quiet, table
from sklearn.preprocessing import StandardScaler

TABLES = {"attrition": "Attrition", "credit_data": "Status"}  # CSV files: the column with the classes
NAMES = ("abalone", "adult_uci", "attrition", "chess", "credit_data", "fars", "hpc", "mlc_churn", "mushroom", "splice")
DEVELOPMENT = sorted(np.random.default_rng(18).permutation(NAMES)[:5].tolist())
OURS = "mheal without a model"
STRATEGIES = {"random": None, OURS: None, "mheal": "logistic", "kmedoids": None}
WEIGHTS = ("columns", "2", "sqrt", "1", "1/2")
MODELS, BUDGETS, ROWS = ("logistic", "forest"), (20, 50, 100, 200), 3000
TITLES = {"columns": "each column 1", "2": "about 2", "sqrt": "√(values − 1)", "1": "**1**", "1/2": "½"}
HEAD = """# How much should a one-hot encoded category weigh beside a number?

**As much as one number.** If each one-hot column is standardised by itself, a category of 20 values weighs as much as
20 numbers, and its rarest values weigh most. So `mheal` divides the columns of a category by the root of their total
variance. On the five tables used for the choice, this gains one to three points over separate columns, with up to 100
labels. On the four check tables it gains one point with 100 labels and is level otherwise. It does not help on splice,
whose 60 columns are all categories: there `mheal` is far below random with every weight.

{table}

Gain over random labels in points of accuracy, ± standard error, paired over datasets, two estimators (logistic
regression and a forest, both on standardised columns) and {seeds} splits. The weight is the total variance of the
columns of a category; a number has 1. "About 2" is 2·(1 − Σp²), where p are the shares of the values. "choice":
{development}, drawn by a seed before anything was measured. "check": {others}. rows.csv also has "mheal" with labels,
whose picks differ only from 64 labels on. Pools of up to 3,000 rows. Measured with mheal 0.2.0.dev0. To measure again:

    python benchmarks/labels/one_hot/run.py DATA
"""
COLUMNS = ("dataset", "seed", "strategy", "weight", "model", "labels", "accuracy")


def load(data, name):
    """Features with one-hot columns, the (first, end) of each one-hot block, and the classes."""
    if name in TABLES:
        with lzma.open(data / f"{name}.csv.xz") as file:
            frame = pl.read_csv(file, null_values=["NA"])
        return (*encoded(frame.drop(TABLES[name])), frame[TABLES[name]].to_numpy())
    if name == "adult_uci":
        stored = np.load(data / "adult_uci.npz")
        X = pl.DataFrame(stored["X_train"])
        few = [column.name for column in X if column.n_unique() <= 42 and column.name in categorical(stored)]
        return (*encoded(X.with_columns(pl.col(few).cast(pl.Int64).cast(pl.String))), stored["y_train"])
    stored = np.load(data / f"{name}.npz")
    return stored["X"].astype(np.float64), blocks(stored["X"]), stored["y"]


def categorical(stored):
    """Names of Adult's eight categorical columns, which follow its six numbers."""
    return [f"column_{i}" for i in range(6, stored["X_train"].shape[1])]


def encoded(frame):
    """Fill in missing values and one-hot encode; return the columns and the (first, end) of each one-hot block."""
    columns, found = [], []
    for column in frame:
        if column.dtype == pl.String:
            values = column.fill_null(column.mode().drop_nulls().sort()[0])
            found.append((len(columns), len(columns) + values.n_unique()))
            columns += [(values == value).to_numpy() for value in values.unique().sort()]
        else:
            columns.append(column.cast(pl.Float64).fill_null(column.median()).to_numpy())
    return np.column_stack(columns).astype(np.float64), found


def blocks(X):
    """Find one-hot blocks: runs of 0/1 columns of which exactly one is 1 in each row."""
    binary = ((X == 0) | (X == 1)).all(axis=0)
    found, at = [], 0
    while at < X.shape[1]:
        total, end, last = np.zeros(len(X)), at, None
        while end < X.shape[1] and binary[end] and (total + X[:, end]).max() <= 1:
            total += X[:, end]
            end += 1
            last = end if total.min() == 1 else last
        if last is not None and last > at + 1:
            found.append((at, last))
        at = last or at + 1
    return found


def weighed(X, found, weight):
    """Scale each column to variance 1, but each one-hot block to the total variance that `weight` names."""
    deviation = X.std(axis=0)
    scale = np.where(deviation > 0, deviation, 1)
    for lo, hi in found if weight != "columns" else ():
        variance = float((deviation[lo:hi] ** 2).sum())
        total = {"1": 1, "1/2": 0.5, "2": 2 * variance, "sqrt": (hi - lo - 1) ** 0.5}[weight]
        scale[lo:hi] = (variance / total) ** 0.5 if variance > 0 else 1
    return ((X - X.mean(axis=0)) / scale).astype(np.float32)


def run(job):
    """Measure the learning curves of one strategy with every weight."""
    data, name, seed, strategy = job
    quiet()
    X, found, y = load(data, name)
    y = np.unique(y, return_inverse=True)[1]
    order = np.random.default_rng(seed).permutation(len(X))[: 2 * ROWS]
    rows = min(ROWS, int(0.7 * len(order)))
    pool, test = order[:rows], order[rows:]
    scaler = StandardScaler().fit(X[pool])
    mine, theirs = scaler.transform(X[pool]), scaler.transform(X[test])
    results = []
    for weight in ("",) if strategy == "random" else WEIGHTS:
        Z = mine.astype(np.float32) if strategy == "random" else weighed(X[pool], found, weight)
        called, model = ("mheal" if strategy == OURS else strategy), STRATEGIES[strategy]
        for picks in labelled(Z, called, BUDGETS, seed, y[pool], model, scaling="raw"):
            for learner in MODELS:
                score = accuracy(fitted(learner, mine[picks], y[pool][picks], seed), theirs, y[test])
                results.append([name, seed, strategy, weight, learner, len(picks), score])
    return results


def page(rows):
    """Write the page: the gain over random of each weight, on the "choice" tables, the "check" tables and splice."""
    unit, body = ("dataset", "seed", "model"), []
    others = sorted({*NAMES} - {*DEVELOPMENT, "splice"})
    for part, names in (("choice", DEVELOPMENT), ("check", others), ("splice", ["splice"])):
        for strategy in (OURS, "kmedoids") if part != "splice" else (OURS,):
            for weight in WEIGHTS:
                cells = []
                for n in BUDGETS:
                    mine = [r for r in rows if r["labels"] == str(n) and r["dataset"] in names]
                    scores = means([r for r in mine if r["strategy"] == strategy], "weight", unit)
                    random = means([r for r in mine if r["strategy"] == "random"], "strategy", unit)["random"]
                    cells.append(gain(scores[weight], random))
                body.append([part, strategy, TITLES[weight], *cells])
    head = ["datasets", "strategy", "weight of a category", *(f"{n} labels" for n in BUDGETS)]
    return HEAD.format(
        table=table(head, body), seeds=len({row["seed"] for row in rows}), development=", ".join(DEVELOPMENT),
        others=", ".join(others),
    )  # fmt: skip


def units(seeds):
    """Every strategy on every split of every dataset."""
    return [(d, seed, s) for seed in range(seeds) for s in STRATEGIES for d in NAMES]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page).main()
