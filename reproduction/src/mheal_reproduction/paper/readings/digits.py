"""Algorithm 2 on scikit-learn's digits with different numbers of clusters.

As in `mheal demo`, logistic regression learns from pixels that are standardised by the pool; 70 % of the 1,797 images
are the pool, and the others the test set. All labels are picked (cold start). As in the readings of MNIST, the control
takes as many random rows of each cluster.
"""

from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mheal.runtime.progress import Progress
from mheal.scaling import Scaling

from ...report import percent, table, write_page
from ...rows import Key, RawRows, measure_all, stored_rows
from ..images.words import mean_and_spread, points
from .grid import CONTROL, LOGISTIC, METHODS, PAPER, RANDOM, Reading, k_text, random_setting
from .numbers import Found, Standing, compared
from .picks import Rows, cluster, paper_picks, random_picks
from .picture import draw

BUDGETS, NUMBERS, SEEDS, RANDOMS = (10, 20, 50, 100), (10, 20, 50, 100, None), 40, 2  # of Random, for a seed
TEST = 0.3  # as in `mheal demo`
SPACE, START = "unit pixels", "cold"
SCALING: Scaling = "unit"


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure what is missing, and write rows.jsonl, digits.png and README.md into `out`."""
    count = seeds or (2 if quick else SEEDS)
    settings = [reading(k).setting for k in NUMBERS]
    units: list[Key] = [("digits", RANDOM, random_setting(LOGISTIC), seed) for seed in range(count * RANDOMS)]
    units += [("digits", who, setting, seed) for seed in range(count) for setting in settings for who in METHODS]
    rows = RawRows(out, "digits", {"budgets": list(BUDGETS), "learner": "logistic regression", "test": TEST})
    measure_all(rows, units, measure, (), progress)
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write digits.png and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds or row["method"] == RANDOM]
    found = Found(rows)
    draw(out / "digits.png", found, LOGISTIC)
    return write_page(out, page(found), rows)


def reading(k: int | None) -> Reading:
    """With this number of clusters."""
    return Reading(LOGISTIC, SPACE, k, START)


def measure(dataset: str, method: str, setting: str, seed: int) -> dict[str, Any]:
    """Accuracy on the test images, by number of labels."""
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=TEST, random_state=seed, stratify=y)
    scale, accuracy = StandardScaler().fit(X), {}
    for n in BUDGETS:
        picks = _picks(X, method, setting, n, seed)
        if len(np.unique(y[picks])) == 1:
            accuracy[n] = float((y_test == y[picks[0]]).mean())
            continue
        model = LogisticRegression(max_iter=1000).fit(scale.transform(X[picks]), y[picks])
        accuracy[n] = float(model.score(scale.transform(X_test), y_test))
    return {"learner": LOGISTIC, "accuracy": accuracy}


def _picks(X: Any, method: str, setting: str, n: int, seed: int) -> Rows:
    rng = np.random.RandomState(seed)
    if method == RANDOM:
        return rng.permutation(len(X))[:n]
    k = next(k for k in NUMBERS if reading(k).setting == setting) or n
    found, nothing = cluster(X, k, SCALING, rng), np.empty(0, np.int64)
    if method == PAPER:
        return paper_picks(X, n, nothing, found, SCALING, rng)
    return random_picks(n, nothing, found, rng)


def page(found: Found) -> str:
    """The page in Markdown."""
    standings = compared(found, LOGISTIC)
    above = [k_text(one.reading.clusters) for one in standings if one.random.place == "above"]
    energy = [k_text(one.reading.clusters) for one in standings if one.energy == "above"]
    header = [
        "k",
        "seeds",
        *(f"{n}: ours, control" for n in found.budgets),
        "against Random",
        "is",
        "energy adds",
        "is",
    ]
    random = found.curves(RANDOM, random_setting(LOGISTIC))
    lines = [["Random", str(len(random)), *map(mean_and_spread, random.T), *["–"] * 4]]
    lines += (_line(found, one) for one in standings)
    return f"""# Digits: the published algorithm and its number of clusters
**Verdict:** on scikit-learn's digits, over 10 to 100 labels, the published algorithm is better than random labels with
{len(above)} of {len(NUMBERS)} numbers of clusters k ({", ".join(above) or "none"}). Picking by energy is better than
picking random rows of the same clusters with {len(energy)} of them.

As in `mheal demo`, logistic regression learns from pixels standardised by the pool, which has {100 * (1 - TEST):.0f} %
of the images. All labels are picked. With k = labels each cluster gives one row, the first candidate, which is random.
The table has the accuracy in %, mean ± standard deviation over splits, then that of the control, which takes as many
random rows of each cluster. Differences are means over the four numbers of labels, in points, with 95 % intervals:
Welch's against Random, paired by split against the control.
Protocol: `mheal_reproduction.paper.readings.digits`.

![Accuracy against the number of clusters](digits.png)

{table(header, lines)}
"""


def _line(found: Found, one: Standing) -> list[str]:
    ours, control = (found.curves(method, one.reading.setting) for method in (PAPER, CONTROL))
    cells = [f"{mean_and_spread(a)}, {percent(b)}" for a, b in zip(ours.T, control.T, strict=True)]
    rest = [one.random.words, one.random.place, points(one.control), one.energy]
    return [k_text(one.reading.clusters), str(len(ours)), *cells, *rest]
