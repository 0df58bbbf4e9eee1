"""Does the interval of `mheal plan` contain the accuracy that more labels then give?

    python benchmarks/labels/plan/run.py DATA [--seeds N]

DATA holds NAME.npz for the datasets in OTHERS, with arrays X and y or X_train and y_train.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, quiet, table
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

import mheal
from mheal.estimators import fit_on_pool, predict
from mheal.evaluate import learning_curve

BUNDLED = {"digits": load_digits, "wine": load_wine, "breast_cancer": load_breast_cancer}
OTHERS = (
    "abalone", "adult_uci", "chess", "covtype", "fars", "fashion_mnist", "hpc", "jm1", "magic04", "mlc_churn", "mnist",
    "mushroom", "nomao", "page-blocks", "penbased", "phishing", "reuters-r52", "satimage", "segment", "shuttle", "skin",
    "spambase", "splice",
)  # fmt: skip
DEVELOPMENT = (*BUNDLED, *np.random.default_rng(18).permutation(OTHERS)[:11].tolist())
STARTS, TIMES, ROWS = (25, 50, 100, 200), (1, 2, 4, 10), 3000
STRATEGIES, MODELS = ("mheal", "random"), ("logistic", "knn")
SKEWED = 0.6  # share of the largest class above which `mheal plan` shows balanced accuracy too
COLUMNS = (
    "dataset", "seed", "strategy", "labels", "model",
    "metric", "weights", "times", "expected", "low", "high", "truth", "misfit",
)  # fmt: skip
HEAD = """# Does the interval of `mheal plan` contain the true accuracy?

**{answer}**

`mheal plan` cross-validates on the labelled rows and extrapolates: the error falls as a power of the number of labels.
From a fifth of the labels on, the worst-fitted point of the curve is {misfit} points off on average. As picks are not a
random sample, half of a labelled row's weight is the share of the pool nearest to it. The interval is
log odds ± 1.645·√(1/(n·a·(1 − a)) + 0.15 + log(t)/4). Here a is the accuracy expected now, n the effective number of
labels, and t the factor by which the labels grow.

{coverage}

Share of the cases in which the interval contains the accuracy on up to {rows:,} other rows; in brackets, its mean width
in points. "2 times" is with twice the labels, picked in the same way. With the round constants 0.15 and 1/4, 90 % or
more contain the accuracy on {development} ("choice"; all but the first three drawn by a seed before
anything was measured). On the others ("check") fewer do. An earlier formula (6/n + 0.1) reached 77 % there (mheal,
logistic regression, now); this one was chosen later, but on "choice" alone. Most misses there are on mushroom and
splice, which have only categories.

{errors}

Mean error of the expected accuracy in points; in brackets, its root mean square. {starts} labels at the start, pools of
up to {rows:,} rows, logistic regression and nearest neighbours, splits: {seeds}. Balanced accuracy is over the classes
with labels, where the largest has over 60 % of them. Measured with mheal 0.2.0.dev0. To measure again:

    python benchmarks/labels/plan/run.py DATA
"""


def load(data, name):
    """Numbers, with medians for missing values, and classes 0, 1, … of at most 6,000 rows."""
    if name in BUNDLED:
        X, y = BUNDLED[name](return_X_y=True)
    else:
        stored = np.load(data / f"{name}.npz")
        X, y = (stored[key if key in stored else f"{key}_train"] for key in "Xy")
        keep = np.random.default_rng(0).permutation(len(X))[: 2 * ROWS]
        X, y = X[keep], y.ravel()[keep]
    X = X.reshape(len(X), -1).astype(np.float32)
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), np.unique(y, return_inverse=True)[1]


def run(job):
    """Measure the expected and the true accuracy for one number of labels at the start."""
    data, name, seed, strategy, start, model = job
    quiet()
    X, y = load(data, name)
    order = np.random.default_rng(seed).permutation(len(X))
    rows = min(ROWS, int(0.7 * len(X)))
    (X, X_test), (y, y_test) = (np.split(each[order], [rows]) for each in (X, y))
    picks = mheal.select(X, min(start, rows), strategy=strategy, random_state=seed).indices
    unit, results, seen = [name, seed, strategy, start, model], [], np.unique(y[picks])
    if 2 * start > rows or len(seen) < 2:
        return [[*unit, *[""] * 8]]  # too small a pool, or nothing to learn
    curve = learning_curve(X, y[picks], model, labeled=picks, seed=seed)
    curves = {("accuracy", "pool"): curve, ("accuracy", "equal"): replace(curve, weights=np.full(start, 1 / start))}
    if np.bincount(y[picks]).max() > SKEWED * start:
        curves["balanced accuracy", "pool"] = curve.balanced
    for times in TIMES:
        if times * start > max(rows // 2, 2 * start):
            break
        if times * start > len(picks):
            given = dict(labeled=picks, random_state=seed) | ({} if strategy == "random" else dict(y=y[picks]))
            more = mheal.select(X, times * start - len(picks), strategy=strategy, **given)
            picks = np.append(picks, more.indices)
        right = predict(fit_on_pool(model, seed, X, picks, y[picks]), X_test) == y_test
        recall = [right[y_test == label].mean() for label in np.intersect1d(seen, y_test)]
        for (metric, weights), each in curves.items():
            fit = each.fit()
            misfit = max(abs(fit.predict(n).value - a) for n, a in zip(each.labels, each.accuracy, strict=True))
            truth = right.mean() if metric == "accuracy" else np.mean(recall)
            numbers = (*fit.predict(times * start), truth, misfit)
            results.append([*unit, metric, weights, times, *(round(float(number), 4) for number in numbers)])
    return results


def held(rows):
    """For each row, whether the interval contains the true accuracy."""
    return [float(row["low"]) <= float(row["truth"]) <= float(row["high"]) for row in rows]


def page(rows):
    """Write the page: how often intervals contain the truth, their width, and the error of the expected accuracy."""
    seeds = len({row["seed"] for row in rows})
    parts, coverage, errors = {True: "choice", False: "check"}, [], []
    rows = [row | dict(part=parts[row["dataset"] in DEVELOPMENT]) for row in rows if row["metric"]]
    for part in parts.values():
        for metric, weights in (("accuracy", "pool"), ("accuracy", "equal"), ("balanced accuracy", "pool")):
            for strategy in STRATEGIES:
                of = dict(part=part, metric=metric, weights=weights, strategy=strategy)
                cells = [[r for r in rows if r.items() >= (of | dict(times=str(t))).items()] for t in TIMES]
                if weights == "pool":
                    shown = [f"{100 * np.mean(held(c)):.0f} % ({100 * width(c):.0f})" for c in cells]
                    coverage.append([part, strategy, metric, str(sum(map(len, cells))), *shown])
                if metric == "accuracy":
                    errors.append([part, strategy, "by the pool" if weights == "pool" else weights, *map(error, cells)])
    now = [row for row in rows if row["times"] == "1" and row["metric"] == "accuracy" and row["weights"] == "pool"]
    ours = [row for row in now if row["part"] == "check" and row["strategy"] == "mheal" and row["model"] == "logistic"]
    pairs = len({(row["dataset"], row["labels"]) for row in ours})
    answer = (
        f"Mostly: use it as an 80 % interval. In {sum(held(ours))} of {pairs} cases it contains the present accuracy "
        "(datasets not used to choose it, labels picked by `mheal`, logistic regression)."
    )
    ahead = [*(f"{t} times" if t > 1 else "now" for t in TIMES)]
    return HEAD.format(
        answer=answer, coverage=table(["datasets", "strategy", "metric", "cases", *ahead], coverage),
        errors=table(["datasets", "strategy", "weights", *ahead], errors), seeds=seeds, rows=ROWS,
        misfit=f"{100 * np.mean([float(row['misfit']) for row in now]):.1f}", starts=", ".join(map(str, STARTS)),
        development=", ".join(DEVELOPMENT),
    )  # fmt: skip


def width(rows):
    """Mean width of the intervals."""
    return np.mean([float(row["high"]) - float(row["low"]) for row in rows])


def error(rows):
    """Mean error of the expected accuracy, and its root mean square."""
    gaps = np.array([100 * (float(row["expected"]) - float(row["truth"])) for row in rows])
    return f"{gaps.mean():+.1f} ({np.sqrt((gaps**2).mean()):.1f})".replace("-", "−")


def units(seeds):
    """Every start on every split of every dataset."""
    names, all_seeds = (*BUNDLED, *OTHERS), range(seeds)
    return [(d, s, how, n, m) for s in all_seeds for m in MODELS for d in names for n in STARTS for how in STRATEGIES]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=1).main()
