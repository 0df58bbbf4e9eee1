"""In which units should images and texts be compared once they are vectors?

    python results/spaces/spaces.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train, and of Debian `debian.txt`, which `apt-cache dumpavail` writes, and
`fortunes`, the folder of that name in the packages fortunes and fortunes-min. Up to 14,000 items are drawn, 70 % of
them are the pool, the rest the test set. Images are embedded by PCA, texts by TF-IDF and SVD, as `mheal select` does;
distances are measured between columns of equal spread ("standard"), between the embeddings as they are ("raw"), or
between them at unit length ("unit"). What learns from the labels sees pixels, or all words. A row of the output is
dataset, seed, strategy, space, model, labels and accuracy. What is done already is not done again.
"""

import os
import re
import sys
import warnings
from pathlib import Path
from unittest.mock import patch

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core
sys.path.append(str(Path(__file__).parents[1]))  # where by_unit is

import numpy as np
from by_unit import arguments, measure
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from mheal.embed import methods as embed
from mheal.embed import texts
from mheal.estimators import fit_model
from mheal.scaling import to_sphere
from mheal.strategies import Pool, get

IMAGES = ("mnist", "fashion_mnist", "digits", "cifar10")
TEXTS = ("fortunes", "debian")
SPACES = ("standard", "raw", "unit")
STRATEGIES = ("mheal", "kmeans", "kmedoids", "coreset", "typiclust", "maxherding")
BUDGETS = (20, 50, 100, 200, 500)
ITEMS, SECTIONS, FEWEST = 14_000, 15, 200
MIXED = ("cookie", "miscellaneous", "fortunes", "people", "ascii-art")  # fortunes of no one subject


def load(folder: Path, name: str):
    """Items and their classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        items = X.astype(np.float32) / 16
    elif name in IMAGES:
        data = np.load(folder / f"{name}.npz")
        items, y = data["X_train"].reshape(len(data["X_train"]), -1), data["y_train"].ravel()
    elif name == "fortunes":
        items, y = fortunes(folder / name)
    else:
        items, y = debian(folder / "debian.txt")
    keep = np.random.default_rng(0).permutation(len(items))[:ITEMS]
    items = [items[i] for i in keep] if name in TEXTS else items[keep]
    items = items.astype(np.float32) / 255 if name in IMAGES and name != "digits" else items
    return items, np.unique(np.asarray(y)[keep], return_inverse=True)[1]


def fortunes(folder: Path):
    """Sayings by subject."""
    found = []
    for file in sorted(folder.iterdir()):
        if "." in file.name or file.name in MIXED:
            continue
        sayings = file.read_text(encoding="utf-8", errors="replace").split("\n%\n")
        long = [saying.strip() for saying in sayings if len(saying.strip()) > 20]
        found += [(saying, file.name) for saying in long if len(long) >= FEWEST]
    return zip(*found, strict=True)


def debian(file: Path):
    """What packages are, in a line, by section of the archive."""
    found = []
    for package in file.read_text(encoding="utf-8").split("\n\n"):
        line, section = (re.search(f"^{field}: (.*)", package, re.MULTILINE) for field in ("Description", "Section"))
        if line and section:
            found.append((line[1], section[1].split("/")[-1]))
    sections, sizes = np.unique([section for _, section in found], return_counts=True)
    largest = set(sections[np.argsort(-sizes)[:SECTIONS]])
    return zip(*[pair for pair in found if pair[1] in largest], strict=True)


def embedded(items, text: bool, seed: int):
    """The vectors that `mheal select` makes of them, but of the length they come in."""
    with patch.object(texts, "to_sphere", lambda X: np.ascontiguousarray(X, np.float32)):
        return texts.tfidf(items, seed)[0] if text else embed._pca(items, seed)[0]


def pool_in(space: str, E, seed: int):
    """The pool in a space."""
    if space == "unit":
        return Pool(to_sphere(E), rng=np.random.default_rng(seed))
    return Pool(E, rng=np.random.default_rng(seed), space=space)


def bought(strategy, pool_of):
    """What a strategy buys at each budget: the first of its picks, or picks for that budget alone."""
    if strategy.kind == "ranked":
        ranked = strategy.select(pool_of(), BUDGETS[-1]).indices
        return [ranked[:budget] for budget in BUDGETS]
    return [strategy.select(pool_of(), budget).indices for budget in BUDGETS]


def learners(text: bool, seed: int):
    """What learns from the labels, by name: functions of features and classes that give a fitted model."""
    if text:
        return {
            "logistic": lambda X, y: LogisticRegression(C=10, max_iter=300).fit(X, y),
            "linear svm": lambda X, y: LinearSVC(random_state=seed).fit(X, y),
        }
    return {name: lambda X, y, name=name: fit_model(name, seed, X, y) for name in ("logistic", "svm")}


def run(job):
    """The rows of one dataset, seed and strategy."""
    folder, name, seed, title = job
    warnings.filterwarnings("ignore")
    text, (items, y) = name in TEXTS, load(folder, name)
    order, n = np.random.default_rng(seed).permutation(len(y)), int(0.7 * len(y))
    pool, test = order[:n], order[n:]
    mine = [items[i] for i in pool] if text else items[pool]
    features = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(mine).transform(items) if text else items
    if title == "random":
        shuffled = np.random.default_rng([seed, 1]).permutation(n)
        picked = {"": [shuffled[:budget] for budget in BUDGETS]}
    else:
        E = embedded(mine, text, seed)
        picked = {s: bought(get(title)(), lambda s=s: pool_in(s, E, seed)) for s in SPACES}
    found = []
    for space, sets in picked.items():
        for rows in (pool[picks] for picks in sets):
            for model, fit in learners(text, seed).items():
                right = fit(features[rows], y[rows]).predict(features[test]) == y[test]
                found.append([name, seed, title, space, model, len(rows), round(right.mean(), 4)])
    return found


if __name__ == "__main__":
    folder, out, seeds = arguments()
    units = [(n, seed, s) for seed in seeds for s in ("random", *STRATEGIES) for n in IMAGES + TEXTS]
    measure(run, folder, out, ["dataset", "seed", "strategy", "space", "model", "labels", "accuracy"], units)
