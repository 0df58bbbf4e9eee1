"""Pack all datasets of the arena as numeric matrices into one file, which needs only NumPy to be read.

    python benchmarks/labels/arena/prepare.py DATA OUT.npz

DATA holds NAME.npz files with X_train and y_train (images as pixels), and the folders more/ and lu/. Of each dataset
at most 8,000 rows are kept, drawn by a seed. Categories become one-hot columns, missing values medians or the most
frequent value. Images become PCA of their pixels and of histograms of edge directions, each row of unit length.
"""

import argparse
import lzma
import sys
from pathlib import Path

sys.path += [str(Path(__file__).parent), str(Path(__file__).parents[1])]
import numpy as np
import polars as pl
from halves import halves
from sklearn.datasets import load_digits, load_svmlight_file

from mheal.embed import embed
from mheal.embed.features import edges

ROWS = 8000
CLASSES = {"attrition": "Attrition", "credit_data": "Status"}  # the column of classes in tables of mixed columns
SHAPES = {"mnist": (28, 28), "fashion_mnist": (28, 28), "cifar10": (32, 32, 3)}


def table(path, classes):
    """Numbers and one-hot columns of a table, and the column of classes."""
    with lzma.open(path) as file:
        frame = pl.read_csv(file, null_values=["NA"])
    columns = []
    for column in frame.drop(classes):
        if column.dtype == pl.String:
            values = column.fill_null(column.mode().drop_nulls().sort()[0])
            columns += [(values == value).to_numpy() for value in values.unique().sort()]
        else:
            columns.append(column.cast(pl.Float64).fill_null(column.median()).to_numpy())
    return np.column_stack(columns), frame[classes].to_numpy()


def svmlight(path):
    """A table in svmlight's format."""
    with lzma.open(path) as file:
        X, y = load_svmlight_file(file)
    return X.toarray(), y


def image_features(pixels, shape):
    """Pixels and edges side by side, in rows of unit length."""
    images = pixels.reshape(len(pixels), *shape).astype(np.float32) / 255
    both = [images.reshape(len(images), -1), edges(images)]
    return np.hstack([embed(each, "vectors", "pca", seed=0).X for each in both]) / np.float32(2**0.5)


def load(data, name):
    """Features and classes of one dataset."""
    if name == "digits":
        return load_digits(return_X_y=True)
    if name in CLASSES:
        return table(data / "more" / f"{name}.csv.xz", CLASSES[name])
    if (data / "more" / f"{name}.npz").exists():
        stored = np.load(data / "more" / f"{name}.npz")
        return stored["X"], stored["y"]
    own = data / "lu" / f"{name.removeprefix('lu-')}-svmstyle.txt.xz"
    if name.startswith("lu-") or not (data / f"{name}.npz").exists():
        return svmlight(own)
    stored = np.load(data / f"{name}.npz")
    return stored["X_train"], stored["y_train"].ravel()


def packed(data, name):
    """At most ROWS rows, drawn at random: features without missing values, and classes 0, 1, …"""
    X, y = load(data, name)
    keep = np.random.default_rng(0).permutation(len(X))[:ROWS]
    X = np.asarray(X[keep])
    X = image_features(X, SHAPES[name]) if name in SHAPES else X.astype(np.float32)
    at, column = np.nonzero(np.isnan(X))
    X[at, column] = np.nanmedian(X, axis=0)[column]
    return X, np.unique(y[keep], return_inverse=True)[1].astype(np.int16)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    arrays = {}
    for name in halves():
        X, y = packed(args.data, name)
        arrays |= {f"X_{name}": X, f"y_{name}": y}
        print(f"{name:16} {X.shape[0]:5} rows {X.shape[1]:4} columns {y.max() + 1:3} classes", flush=True)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out, **arrays)
