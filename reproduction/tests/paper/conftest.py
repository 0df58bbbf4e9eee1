import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine


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
