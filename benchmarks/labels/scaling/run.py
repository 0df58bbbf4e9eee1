"""How should embedded images and texts be scaled before rows are picked?

    python benchmarks/labels/scaling/run.py DATA [--seeds N]

DATA holds mnist.npz, fashion_mnist.npz and cifar10.npz; `debian.txt`, as `apt-cache dumpavail` writes it; and
`fortunes`, the folder of that name in the packages fortunes and fortunes-min.
"""

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, accuracy, fitted, gain, labelled, load, mean, means, quiet, table
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

IMAGES, TEXTS = ("mnist", "fashion_mnist", "digits", "cifar10"), ("fortunes", "debian")
SCALINGS = ("standard", "raw", "unit")
OURS = "mheal without a model"
STRATEGIES = (OURS, "kmeans", "kmedoids", "coreset", "typiclust", "maxherding")
BUDGETS = (20, 50, 100, 200, 500)
ITEMS, SECTIONS, FEWEST = 14_000, 15, 200
MIXED = ("cookie", "miscellaneous", "fortunes", "people", "ascii-art")  # files of fortunes on mixed subjects
COLUMNS = ("dataset", "seed", "strategy", "scaling", "model", "labels", "accuracy")
HEAD = """# How should embedded images and texts be scaled?

**Give each row unit length; do not standardise the columns.** On four sets of images, unit length gains {images}
points over standardised columns at 20 labels and {later} at 100. So `mheal embed` makes rows of unit length, and
`scaling="auto"` leaves such rows as they are and standardises the columns of all other data.

{table}

Accuracy in %, mean over datasets, two estimators and {seeds} splits. "gain" is unit minus standard, in points, paired,
± standard error. On texts no strategy is ahead of random at 100 and 200 labels.

"standard" gives every column mean 0 and standard deviation 1, "raw" changes nothing, "unit" divides each row by its
length. Images (MNIST, Fashion-MNIST, digits, CIFAR-10) are embedded by PCA, texts (fortunes by subject, Debian packages
by section) by TF-IDF and SVD. The estimators learn from the pixels or from all words. Measured with mheal 0.1.0. To
measure again:

    python benchmarks/labels/scaling/run.py DATA --seeds 4
"""


def items_of(data, name):
    """Items and their classes."""
    if name in IMAGES:
        return load(data, name, ITEMS)
    items, y = fortunes(data / name) if name == "fortunes" else debian(data / "debian.txt")
    keep = np.random.default_rng(0).permutation(len(items))[:ITEMS]
    return [items[i] for i in keep], np.unique(np.asarray(y)[keep], return_inverse=True)[1]


def fortunes(folder):
    """Fortunes, and the subject of each as its class."""
    found = []
    for file in sorted(folder.iterdir()):
        if "." in file.name or file.name in MIXED:
            continue
        texts = [text.strip() for text in file.read_text(encoding="utf-8", errors="replace").split("\n%\n")]
        texts = [text for text in texts if len(text) > 20]
        found += [(text, file.name) for text in texts if len(texts) >= FEWEST]
    return zip(*found, strict=True)


def debian(file):
    """One-line descriptions of packages, and the section of the archive as the class of each."""
    found = []
    for package in file.read_text(encoding="utf-8").split("\n\n"):
        line, section = (re.search(f"^{field}: (.*)", package, re.MULTILINE) for field in ("Description", "Section"))
        if line and section:
            found.append((line[1], section[1].split("/")[-1]))
    sections, sizes = np.unique([section for _, section in found], return_counts=True)
    largest = set(sections[np.argsort(-sizes)[:SECTIONS]])
    return zip(*[pair for pair in found if pair[1] in largest], strict=True)


def embedded(items, text, seed):
    """Embed items as `mheal embed` does, but without scaling rows to unit length."""
    if text:
        words = TfidfVectorizer(sublinear_tf=True, ngram_range=(1, 2), min_df=2, max_features=50_000)
        return TruncatedSVD(100, random_state=seed).fit_transform(words.fit_transform(items)).astype(np.float32)
    model = PCA(min(64, items.shape[1]), svd_solver="randomized", random_state=seed)
    Z = model.fit_transform(items)
    n = int(np.searchsorted(np.cumsum(model.explained_variance_ratio_), 0.9)) + 1
    return np.ascontiguousarray(Z[:, :n], np.float32)


def learner(text, name, X, y, seed):
    """A fitted estimator."""
    if not text:
        return fitted(name, X, y, seed)
    return (LogisticRegression(C=10, max_iter=300) if name == "logistic" else LinearSVC(random_state=seed)).fit(X, y)


def run(job):
    """Measure the learning curves of one strategy with every scaling."""
    data, name, seed, strategy = job
    quiet()
    text, (items, y) = name in TEXTS, items_of(data, name)
    order, n = np.random.default_rng(seed).permutation(len(y)), int(0.7 * len(y))
    pool, test = order[:n], order[n:]
    mine = [items[i] for i in pool] if text else items[pool]
    features = TfidfVectorizer(sublinear_tf=True, min_df=2).fit(mine).transform(items) if text else items
    if strategy == "random":
        shuffled = np.random.default_rng([seed, 1]).permutation(n)
        curves = {"": [shuffled[:budget] for budget in BUDGETS]}
    else:
        E = embedded(mine, text, seed)
        pools = {"standard": (E, "standard"), "raw": (E, "raw"), "unit": (normalize(E), "raw")}
        called = "mheal" if strategy == OURS else strategy
        curves = {s: labelled(X, called, BUDGETS, seed, scaling=as_is) for s, (X, as_is) in pools.items()}
    found = []
    for scaling, steps in curves.items():
        for rows in (pool[picks] for picks in steps):
            for model in ("logistic", "linear svm" if text else "svm"):
                score = accuracy(learner(text, model, features[rows], y[rows], seed), features[test], y[test])
                found.append([name, seed, strategy, scaling, model, len(rows), score])
    return found


def page(rows):
    """Write the page: accuracy of random and of three strategies with each scaling, and the gain of unit length."""
    unit, body, gains = ("dataset", "model", "seed"), [], {}
    for kind, names in (("images", IMAGES), ("texts", TEXTS)):
        mine = [row for row in rows if row["dataset"] in names]
        at = {n: [row for row in mine if row["labels"] == str(n)] for n in BUDGETS}
        random = {n: means([r for r in at[n] if r["strategy"] == "random"], "scaling", unit)[""] for n in BUDGETS}
        body.append([kind, "random", "–", *(mean(random[n]) for n in BUDGETS)])
        for strategy in (OURS, "kmedoids", "typiclust"):
            scores = {n: means([r for r in at[n] if r["strategy"] == strategy], "scaling", unit) for n in BUDGETS}
            for scaling in SCALINGS if strategy == OURS else ("standard", "unit"):
                shown = f"**{scaling}**" if scaling == "unit" else scaling
                body.append([kind, strategy, shown, *(mean(scores[n][scaling]) for n in BUDGETS)])
            if strategy == OURS:
                gains[kind] = [gain(scores[n]["unit"], scores[n]["standard"]) for n in BUDGETS]
                body.append([kind, OURS, "gain", *gains[kind]])
    head = ["items", "strategy", "scaling", *(f"{n} labels" for n in BUDGETS)]
    images, later = (gains["images"][BUDGETS.index(n)].removeprefix("+") for n in (20, 100))
    splits = len({row["seed"] for row in rows})
    return HEAD.format(images=images, later=later, table=table(head, body), seeds=splits)


def units(seeds):
    """Every strategy on every split of every dataset."""
    return [(d, seed, s) for seed in range(seeds) for s in ("random", *STRATEGIES) for d in IMAGES + TEXTS]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=4).main()
