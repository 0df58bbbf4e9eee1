"""Which features should images be picked by, if there is no pretrained network?

    python benchmarks/labels/image_edges/run.py DATA [--seeds N]

DATA holds mnist.npz, fashion_mnist.npz and cifar10.npz. The networks need the package in `reproduction/`.
"""

import sys
from dataclasses import replace
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
import numpy as np
from common import Study, accuracy, fitted, gain, load, mean, means, quiet, table

import mheal
from mheal.embed import embed
from mheal.embed.features import edges

DATASETS, EMBEDDINGS = ("mnist", "fashion_mnist", "cifar10", "digits"), ("random", "pixels", "edges", "both")
SHAPES = {"mnist": (28, 28), "fashion_mnist": (28, 28), "cifar10": (32, 32, 3), "digits": (8, 8)}
BUDGETS, OF_NETWORKS = (20, 50, 100, 200, 500), (50, 100, 200)
IMAGES, STEPS = 12_000, 400
COLUMNS = ("dataset", "seed", "embedding", "model", "labels", "accuracy")
HEAD = """# Which features should images be picked by?

**By pixels and edges together, if you have no pretrained network.** On CIFAR-10 this gains {network} points over pixels
alone if a network is trained on the labels, and {svm} if an SVM is. On digits and clothes it is equal or better. It is
the default of `mheal select` and `mheal embed` for images (`--embed shapes`).

{table}

Accuracy in %, mean over the numbers of labels (network: {labels}; SVM: {more}) and {seeds} splits. "gain" is "both"
minus "pixels", in points, paired, ± standard error.

"pixels" is PCA of the pixels, and "edges" is PCA of histograms of edge directions, with rows of unit length. "both" has
the columns of both. `mheal` picks from these features without a model. The SVM and the network learn from pixels; the
network is the small convolutional network of the paper's Table 3, trained for {steps} steps. The settings of the
histograms were chosen with an SVM on training images. Measured with mheal 0.1.0. To measure again:

    python benchmarks/labels/image_edges/run.py DATA --seeds 3
"""


def picks_of(images, embedding, seed):
    """Rows to label, best first."""
    if embedding == "random":
        return np.random.default_rng([seed, 1]).permutation(len(images))
    pixels = embed(images.reshape(len(images), -1), "vectors", "pca", seed=seed).X
    lines = embed(edges(images), "vectors", "pca", seed=seed).X
    X = {"pixels": pixels, "edges": lines, "both": np.hstack([pixels, lines]) / np.float32(2**0.5)}[embedding]
    return mheal.select(X, BUDGETS[-1], random_state=seed).indices


def run(job):
    """Measure the learning curves of one embedding."""
    data, name, seed, embedding = job
    quiet()
    flat, y = load(data, name, IMAGES)
    images = flat.reshape(len(flat), *SHAPES[name])
    order, n = np.random.default_rng(seed).permutation(len(y)), int(0.7 * len(y))
    pool, test = order[:n], order[n:]
    chosen = pool[picks_of(images[pool], embedding, seed)]
    found = []
    for budget in BUDGETS:
        rows = chosen[:budget]
        score = accuracy(fitted("svm", flat[rows], y[rows], seed), flat[test], y[test])
        found.append([name, seed, embedding, "svm", budget, score])
    if name != "digits":  # too small for the network
        for budget, score in zip(OF_NETWORKS, networks(images, y, chosen, test, seed), strict=True):
            found.append([name, seed, embedding, "network", budget, score])
    return found


def networks(images, y, chosen, test, seed):
    """Accuracy of a network trained on the first rows, for each number of labels."""
    from mheal_reproduction.networks.recipes import mnist
    from mheal_reproduction.networks.training import train_many

    channels = np.rint(255 * images).astype(np.uint8)
    channels = channels if images.ndim == 3 else np.ascontiguousarray(channels.transpose(0, 3, 1, 2))
    sets = [(chosen[:budget], y[chosen[:budget]]) for budget in OF_NETWORKS]
    trained = train_many(channels, sets, [seed] * len(sets), replace(mnist(), steps=STEPS), classes=10)
    return [round(float(np.mean(network.predict_proba(test).argmax(axis=1) == y[test])), 4) for network in trained]


def page(rows):
    """Write the page: a table row for each dataset and model."""
    body, gains = [], {}
    for model in ("network", "svm"):
        for name in DATASETS:
            mine = [row for row in rows if (row["dataset"], row["model"]) == (name, model)]
            if mine:
                scores = means(mine, "embedding", ("seed",))
                gains[name, model] = gain(scores["both"], scores["pixels"])
                body.append([name, model, *(mean(scores[e]) for e in EMBEDDINGS), gains[name, model]])
    network, svm = (gains["cifar10", model].removeprefix("+") for model in ("network", "svm"))
    return HEAD.format(
        network=network, svm=svm, table=table(["dataset", "model", *EMBEDDINGS, "gain"], body), steps=STEPS,
        seeds=len({row["seed"] for row in rows}), labels=", ".join(map(str, OF_NETWORKS)),
        more=", ".join(map(str, BUDGETS)),
    )  # fmt: skip


def units(seeds):
    """Every embedding on every split of every dataset."""
    return [(name, seed, embedding) for seed in range(seeds) for name in DATASETS for embedding in EMBEDDINGS]


if __name__ == "__main__":
    Study(Path(__file__).parent, COLUMNS, units, run, page, seeds=3).main()
