"""Which strategy should I use? 23 strategies on four datasets, with two estimators.

    python benchmarks/labels/strategies/run.py DATA [--seeds N]

DATA holds satimage.npz, phishing.npz and magic04.npz; digits come with scikit-learn.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, load, quiet, table
from scipy.stats import ttest_rel

import mheal
from mheal.evaluate import Curves, simulate
from mheal.evaluate.statistics import holm

DATASETS, ESTIMATORS = ("satimage", "phishing", "magic04", "digits"), ("logistic", "svm")
BUDGETS = (10, 20, 50, 100, 200, 500)
STRATEGIES = (
    "mheal", "mheal without a model", "mheal-paper", "random", "stratified", "coreset", "kmeans", "kmedoids",
    "typiclust", "probcover", "maxherding", "ted", "support-points", "margin", "least-confidence", "entropy", "qbc",
    "gen", "spal", "aldr", "hierarchical", "uherding", "badge",
)  # fmt: skip
COLUMNS = ("dataset", "estimator", "seed", "strategy", "labels", "accuracy", "balanced_accuracy")
HEAD = """# Which strategy should I use?

**Use `mheal`: of {count} strategies it has the best mean rank ({best}) and the highest mean accuracy ({accuracy} %).**
Without a model it is level with MaxHerding, k-means and k-medoids. The last two must know the number of labels in
advance. [The arena](../arena/README.md) compares strategies on datasets that nothing was tuned on.

{table}

"Accuracy" is the mean height of the learning curve from 10 to 500 labels, in %. "Rank" is the mean place over datasets,
estimators, splits and numbers of labels. "Better" and "worse" count in how many of eight cases (a dataset and an
estimator each) the curve differs from random's: paired t test over {seeds} splits, Holm's correction, 5 %.

Measured with `mheal.evaluate.simulate` (rows of mheal and mheal-paper by 0.2.0.dev0, the others by 0.1.0) on Satimage
(4,435 rows), Phishing (11,055), Magic04 (19,020) and scikit-learn's digits (1,797), with logistic regression and an
SVM. mheal's constants were chosen on eight datasets, these four among them ([defaults](../defaults/README.md)). To
measure again:

    python benchmarks/labels/strategies/run.py DATA --seeds 10
"""


class WithoutModel(mheal.MHEAL):
    """MHEAL that never gets a model."""

    name, kind = "mheal without a model", "ranked"


def run(job):
    """Measure the learning curve of one strategy."""
    data, dataset, estimator, seed, strategy = job
    quiet()
    chosen = WithoutModel() if strategy == WithoutModel.name else strategy
    curves = simulate(*load(data, dataset), [chosen], BUDGETS, estimator, [seed])
    return [[*job[1:], r["labels"], round(r["accuracy"], 5), round(r["balanced_accuracy"], 5)] for r in curves.rows]


def page(rows):
    """Write the page: a table row for each strategy, best rank first."""
    cases = {}
    for row in rows:
        numbers = {"seed": int(row["seed"]), "labels": int(row["labels"])}
        numbers |= {name: float(row[name]) for name in ("accuracy", "balanced_accuracy")}
        cases.setdefault((row["dataset"], row["estimator"]), []).append(row | numbers)
    curves = [Curves(of_case) for of_case in cases.values()]
    names = curves[0].strategies
    rank = {name: np.mean([c.ranks()[name] for c in curves]) for name in names}
    height = {name: 100 * np.mean([c.aulc(name).mean() for c in curves]) for name in names}
    signs = {name: [] for name in names}
    for case in curves:
        tests = {name: ttest_rel(case.aulc(name), case.aulc("random")) for name in case.others("random")}
        sure = holm([test.pvalue for test in tests.values()]) < 0.05
        for name, test, certain in zip(tests, tests.values(), sure, strict=True):
            signs[name] += [test.statistic > 0] if certain else []
    body = []
    for name in sorted(names, key=rank.__getitem__):
        places = [BUDGETS.index(n) for n in (20, 100, 500)]
        at = [f"{100 * np.mean([c.values(name)[:, place].mean() for c in curves]):.1f}" for place in places]
        better = sum(signs[name])
        counts = ["–", "–"] if name == "random" else [str(better), str(len(signs[name]) - better)]
        shown = f"**{name}**" if name.startswith("mheal") else name
        body.append([shown, f"{rank[name]:.1f}", f"{height[name]:.1f}", *at, *counts])
    head = ["strategy", "rank", "accuracy", "at 20 labels", "at 100", "at 500", "better", "worse"]
    return HEAD.format(
        count=len(names), best=f"{rank['mheal']:.1f}", accuracy=f"{height['mheal']:.1f}", table=table(head, body),
        seeds=len(curves[0].seeds()),
    )  # fmt: skip


def units(seeds):
    """Every strategy on every split."""
    return [(d, e, seed, s) for seed in range(seeds) for d in DATASETS for e in ESTIMATORS for s in STRATEGIES]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=10).main()
