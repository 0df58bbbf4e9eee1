import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from mheal_reproduction.paper.images.published import BUDGETS, accuracies


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    """Small real tables under the names of the six big ones."""
    folder = tmp_path_factory.mktemp("data")
    cancer, digits, iris, wine = (
        load(return_X_y=True) for load in (load_breast_cancer, load_digits, load_iris, load_wine)
    )
    gaps = cancer[0].copy()
    gaps[::7, 3] = np.nan  # rows to drop
    tables = {
        "skin": (iris[0][:, :3], iris[1] > 0),
        "shuttle": wine,
        "magic04": (iris[0], iris[1] == 1),
        "jm1": (gaps, cancer[1]),
        "covtype": digits,
        "nomao": cancer,
    }
    for name, (X, y) in tables.items():
        arrays = dict(X_train=X.astype(np.float32), y_train=y.astype(np.int64))
        if name == "shuttle":
            arrays = dict(X_train=X[:100], y_train=y[:100], X_test=X[100:], y_test=y[100:])
        np.savez(folder / f"{name}.npz", **arrays)
    return folder


@pytest.fixture(scope="session")
def images(tmp_path_factory):
    """Small digits under the names of two sets of images, the second with their colours turned."""
    folder = tmp_path_factory.mktemp("images")
    X, y = load_digits(return_X_y=True)
    X = (X.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    np.savez(folder / "mnist.npz", X_train=X, y_train=y)
    np.savez(folder / "fashion_mnist.npz", X_train=255 - X, y_train=y)
    return folder


START = {0: 0.4, 1: 0.5, 2: 0.45}  # accuracy at the start, by seed


def image_rows(method, accuracy, dataset="mnist", setting="clean", seeds=3, shares=0.0):
    """Rows whose mean accuracy at the dataset's numbers of labels is `accuracy`, a point apart, and a start."""
    return [
        {
            "dataset": dataset, "method": method, "setting": setting, "seed": seed,
            "accuracy": {"20": START[seed]} | {
                str(n): round(at + 0.01 * (seed - (seeds - 1) / 2), 6)
                for n, at in zip(BUDGETS[dataset], accuracy, strict=False)
            },
            "copies": {str(n): shares for n in BUDGETS[dataset]},
            "wrong": {str(n): 2 * shares for n in BUDGETS[dataset]},
            "seconds": 30.0, "device": "NVIDIA H200",
        }
        for seed in range(seeds)
    ]  # fmt: skip


@pytest.fixture
def rows_of():
    """Makes rows of Tables 3 to 5."""
    return image_rows


@pytest.fixture
def shown():
    """Methods of a small table."""
    return {
        "Random": None, "K-means": "K-means", "BALD": "BALD", "MHEAL (paper)": "MHEAL", "TypiClust": None,
        "MHEAL": None, "MHEAL, SimCLR": None, "K-means, SimCLR": None,
    }  # fmt: skip


@pytest.fixture
def clean():
    """Ours exactly as printed but for BALD, which is always best."""
    printed = accuracies("clean", "mnist")
    return [
        *image_rows("Random", [0.85, 0.9, 0.92, 0.95]),
        *image_rows("K-means", printed["K-means"].values()),
        *image_rows("BALD", [0.98] * 4),
        *image_rows("MHEAL (paper)", printed["MHEAL"].values()),
        *image_rows("TypiClust", [0.9] * 4),
        *image_rows("MHEAL", [0.95, 0.98, 0.99, 0.985]),
    ]
