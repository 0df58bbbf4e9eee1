"""What should images be compared by, where there is no network to say?

    python results/shapes/shapes.py DATA OUT.csv [SEEDS]

DATA holds NAME.npz with X_train and y_train; digits come with scikit-learn. Of up to 12,000 images 70 % are the pool,
the rest the test set. MHEAL picks by the principal columns of pixels (--embed pca), of edges alone, or of both (--embed
shapes). What learns from the labels sees pixels: an SVM, and the network of Table 3 on the CPU, 400 steps, except on
digits, which are too small for it. A row of the output is dataset, seed, embedding, model, labels and accuracy. What is
done already is not done again.
"""

import os
import sys
import warnings
from dataclasses import replace
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
    os.environ[variable] = "1"  # one process a core
sys.path.append(str(Path(__file__).parents[1]))  # where by_unit is

import numpy as np
from by_unit import arguments, measure
from sklearn.datasets import load_digits

import mheal
from mheal.embed import methods as embed
from mheal.embed.edges import edges
from mheal.estimators import fit_model
from mheal.scaling import to_sphere
from mheal_reproduction.networks.recipes import mnist
from mheal_reproduction.networks.training import train_many

NAMES = ("mnist", "fashion_mnist", "cifar10", "digits")
EMBEDDINGS = ("random", "pca", "edges", "shapes")
BUDGETS, OF_NETWORKS = (20, 50, 100, 200, 500), (50, 100, 200)
IMAGES, STEPS = 12_000, 400


def load(folder: Path, name: str):
    """Images as bytes, and their classes."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return (15 * X).astype(np.uint8).reshape(-1, 8, 8), y
    data = np.load(folder / f"{name}.npz")
    keep = np.random.default_rng(0).permutation(len(data["X_train"]))[:IMAGES]
    return data["X_train"][keep], data["y_train"][keep].ravel()


def picks(images, embedding: str, seed: int):
    """Rows to buy, best first."""
    if embedding == "random":
        return np.random.default_rng([seed, 1]).permutation(len(images))
    X = images.reshape(len(images), -1)
    if embedding == "pca":
        vectors = to_sphere(embed._pca(X, seed)[0])
    elif embedding == "edges":
        vectors = to_sphere(embed._pca(edges(images), seed)[0])
    else:
        vectors = embed._shapes(X, images.shape[1:], seed, None)[0]
    return mheal.select(vectors, BUDGETS[-1], random_state=seed).indices


def run(job):
    """The rows of one dataset, seed and embedding."""
    folder, name, seed, embedding = job
    warnings.filterwarnings("ignore")
    images, y = load(folder, name)
    order, n = np.random.default_rng(seed).permutation(len(y)), int(0.7 * len(y))
    pool, test = order[:n], order[n:]
    floats = images.astype(np.float32) / 255
    bought, flat = pool[picks(floats[pool], embedding, seed)], floats.reshape(len(floats), -1)
    found = []
    for budget in BUDGETS:
        rows = bought[:budget]
        right = fit_model("svm", seed, flat[rows], y[rows]).predict(flat[test]) == y[test]
        found.append([name, seed, embedding, "svm", budget, round(right.mean(), 4)])
    if name != "digits":
        import torch

        torch.set_num_threads(1)
        channels = images if images.ndim == 3 else np.ascontiguousarray(images.transpose(0, 3, 1, 2))
        sets = [(bought[:budget], y[bought[:budget]]) for budget in OF_NETWORKS]
        seeds = [seed] * len(sets)
        for budget, network in zip(OF_NETWORKS, train_many(channels, sets, seeds, recipe(), classes=10), strict=True):
            right = network.predict_proba(test).argmax(axis=1) == y[test]
            found.append([name, seed, embedding, "network", budget, round(right.mean(), 4)])
    return found


def recipe():
    """That of Table 3, made shorter."""
    return replace(mnist(), steps=STEPS)


if __name__ == "__main__":
    folder, out, seeds = arguments()
    units = [(name, seed, embedding) for seed in seeds for name in NAMES for embedding in EMBEDDINGS]
    measure(run, folder, out, ["dataset", "seed", "embedding", "model", "labels", "accuracy"], units)
