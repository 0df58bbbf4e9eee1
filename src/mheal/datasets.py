"""The paper's datasets by name: from a folder of NAME.npz files, or from OpenML through scikit-learn."""

import os
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from .exceptions import UserError, UserFileError
from .runtime.files import reading, replacing

FOLDER_VARIABLE = "MHEAL_DATA"
NAMES = ["X_train", "y_train", "X_test", "y_test"]
Arrays = tuple[npt.NDArray[Any], ...]


class Dataset(NamedTuple):
    """A dataset on OpenML."""

    openml_id: int
    openml_name: str  # compared with the name in the download
    about: str
    image: tuple[int, ...] = ()  # height, width and, if there are several, channels of an image
    train: int = 0  # number of training rows, which come first; 0 if there is no official split


DATASETS = {
    "mnist": Dataset(554, "mnist_784", "handwritten digits, 28 × 28, 10 classes", (28, 28), 60_000),
    "fashion_mnist": Dataset(40996, "Fashion-MNIST", "clothes, 28 × 28, 10 classes", (28, 28), 60_000),
    "cifar10": Dataset(40927, "CIFAR_10", "photographs, 32 × 32 × 3, 10 classes", (32, 32, 3), 50_000),
    "cifar100": Dataset(41983, "CIFAR-100", "photographs, 32 × 32 × 3, 100 classes", (32, 32, 3), 50_000),
    "skin": Dataset(1502, "skin-segmentation", "colours of skin or not, 245,057 × 3, 2 classes"),
    "shuttle": Dataset(40685, "shuttle", "space shuttle sensors, 58,000 × 9, 7 classes"),
    "magic04": Dataset(1120, "MagicTelescope", "gamma or hadron showers, 19,020 × 10, 2 classes"),
    "jm1": Dataset(1053, "jm1", "software defects, 10,885 × 21, 2 classes; 5 rows lack values"),
    "covtype": Dataset(1596, "covertype", "forest cover, 581,012 × 54, 7 classes"),
    "nomao": Dataset(1486, "nomao", "the same place or not, 34,465 × 118, 2 classes"),
    "phishing": Dataset(4534, "PhishingWebsites", "phishing or not, 11,055 rows, 2 classes"),
    "adult": Dataset(1430, "a9a", "income, 48,842 × 123 indicators, 2 classes"),
    "satimage": Dataset(182, "satimage", "satellite pixels, 6,430 × 36, 6 classes"),
}


def load(name: str, folder: str | Path | None = None) -> Arrays:
    """(X, y), or (X, y, X_test, y_test) if there is an official split. Labels from OpenML are 0, 1, …

    The data are read from NAME.npz in `folder`, by default the folder in the environment variable MHEAL_DATA or that of
    scikit-learn. Without such a file, they are downloaded from OpenML. A file has X_train and y_train, and X_test and
    y_test if there is a split. Images are uint8. Tables from OpenML have no split, and categories are numbers.
    """
    file = path(name, folder)
    return _read(file) if file.exists() else _fetch(name, file)


def get(name: str, folder: str | Path | None = None) -> Path:
    """The path of NAME.npz in the folder. The data are downloaded if there is no such file."""
    file = path(name, folder)
    if not file.exists():
        named: dict[str, Any] = dict(zip(NAMES, _fetch(name, file), strict=False))
        with replacing(file, make_folder=True) as part, part.open("wb") as out:
            np.savez(out, **named)
    return file


def path(name: str, folder: str | Path | None = None) -> Path:
    """The path of NAME.npz, which need not exist: in `folder`, $MHEAL_DATA or scikit-learn's data folder."""
    if name not in DATASETS:
        raise UserError(f"there is no dataset {name!r}: choose from {', '.join(DATASETS)}")
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        from sklearn.datasets import get_data_home

        folder = Path(get_data_home()) / "mheal"
    return Path(folder) / f"{name}.npz"


def _read(file: Path) -> Arrays:
    with reading(file, ": delete it and get it again"), np.load(file, allow_pickle=False) as stored:
        keys = [key for key in NAMES if key in stored]
        arrays = tuple(stored[key] for key in keys)
    if keys not in (NAMES[:2], NAMES):
        raise UserError(f"{file} holds {keys or 'none'} of {', '.join(NAMES)}: save both of a pair")
    for X, y, key in zip(arrays[::2], arrays[1::2], keys[::2], strict=True):
        if len(X) != len(y):
            raise UserError(f"{file}: {key} has {len(X)} rows, its labels {len(y)}")
    return arrays


def _fetch(name: str, file: Path) -> Arrays:
    from sklearn.datasets import fetch_openml

    dataset = DATASETS[name]
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A network error")  # it retries by itself; the error below is enough
            found = fetch_openml(data_id=dataset.openml_id, as_frame=False, parser="auto")
    except ImportError:
        raise UserError(f"{name} from OpenML is read with pandas: pip install pandas, or put {file} there") from None
    except OSError as error:  # URLError is one
        remedy = f"go online, or put {file} there (arrays X_train and y_train)"
        raise UserFileError(f"cannot download {name} from OpenML ({error}): {remedy}") from None
    if found.details["name"] != dataset.openml_name:
        raise UserError(f"OpenML's dataset {dataset.openml_id} is {found.details['name']}, not {dataset.openml_name}")
    X = found.data.toarray() if hasattr(found.data, "toarray") else np.asarray(found.data)
    X = X.astype(np.uint8 if dataset.image else np.float32)
    if dataset.image:
        X = X.reshape(-1, *dataset.image[2:], *dataset.image[:2])
    if X.ndim == 4:  # OpenML stores all pixels of one colour, then those of the next
        X = np.ascontiguousarray(X.transpose(0, 2, 3, 1))
    try:
        labels = found.target.astype(np.float64)  # as numbers, so that "10" sorts after "9"
    except ValueError:
        labels = found.target.astype(str)
    y, n = np.unique(labels, return_inverse=True)[1].astype(np.int64), dataset.train
    return (X[:n], y[:n], X[n:], y[n:]) if n else (X, y)
