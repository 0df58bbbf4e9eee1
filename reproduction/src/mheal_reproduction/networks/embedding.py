"""The features of `--embed dec` and of the paper's pipeline: the codes of an autoencoder, refined by DEC."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from .clustering import DeepClustering

CLUSTERS = 10  # unless the option has another number
SLOW_RATE = 0.1  # learning rate for photographs and tables, where the usual 1 may diverge


def dec(X: npt.NDArray[Any], *, option: str, seed: int, progress: Progress | None) -> npt.NDArray[np.float32]:
    """The codes of all items, ten numbers each; `parts_of` explains `option`."""
    rows, model = prepared(X, option, seed, progress)
    return model.fit(rows).transform(rows)


def parts_of(option: str) -> tuple[int, int | None]:
    """Parse CLUSTERS or CLUSTERS,EPOCHS of dec:20 or dec:10,50: clusters of DEC, epochs of the autoencoder before."""
    words = option.split(",") if option else [str(CLUSTERS)]
    if len(words) > 2 or not all(word.isdecimal() for word in words) or int(words[0]) < 2:
        raise UserError(
            f"dec:{option}: after the colon comes the number of clusters, at least 2, and, if it is to be shorter than "
            "usual, the number of epochs before DEC, as in dec:20 or dec:10,50"
        )
    return int(words[0]), int(words[1]) if len(words) == 2 else None


def prepared(
    X: npt.NDArray[Any], option: str, seed: int, progress: Progress | None
) -> tuple[npt.NDArray[np.float32], DeepClustering]:
    """The rows and a DeepClustering as in Table 1: without augmentation, and without subtracting the mean of codes.

    Pixels stay as they are. Columns of a table, which may have different units, are standardised.
    """
    clusters, epochs = parts_of(option)
    rows = np.ascontiguousarray(X.reshape(len(X), -1), np.float32)
    if X.ndim == 2:
        rows = StandardScaler().fit_transform(rows)
    rate = DeepClustering().pretrain_rate if X.ndim == 3 else SLOW_RATE
    return rows, DeepClustering(
        clusters, center=False, pretrain_epochs=epochs, pretrain_rate=rate, random_state=seed, progress=progress
    )
