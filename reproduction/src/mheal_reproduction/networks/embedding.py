"""`--embed dec`: the codes of an autoencoder that DEC has refined, the features of the paper's pipeline."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import StandardScaler

from mheal.exceptions import UserError
from mheal.runtime.progress import Progress

from .clustering import DeepClustering

CLUSTERS = 10  # unless the option says another number
SLOW_RATE = 0.1  # of learning, where the usual 1 may diverge: of photographs and of tables


def dec(X: npt.NDArray[Any], *, option: str, seed: int, progress: Progress | None) -> npt.NDArray[np.float32]:
    """Ten numbers for each item; `option` is as in `parts_of`."""
    rows, model = prepared(X, option, seed, progress)
    return model.fit(rows).transform(rows)


def parts_of(option: str) -> tuple[int, int | None]:
    """CLUSTERS or CLUSTERS,EPOCHS, as in dec:20 or dec:10,50: of DEC, and of the autoencoder's training before it."""
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
    """Rows that an autoencoder learns from, and DEC as in Table 1: images are not moved, directions not centred.

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
