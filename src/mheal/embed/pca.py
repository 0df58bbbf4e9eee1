"""Principal columns: the directions in which rows differ most."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ..runtime.threads import single_threaded_blas

COMPONENTS = 64  # columns at most
VARIANCE = 0.9  # share of the variance that is enough


def pca(X: npt.NDArray[Any], seed: int) -> tuple[npt.NDArray[Any], str]:
    """As many principal columns as hold 90 % of the variance, at most 64; and what they are, in words."""
    from sklearn.decomposition import PCA

    most = min(COMPONENTS, len(X) - 1, X.shape[1])
    if most == 0:
        return X, f"{X.shape[1]:,} columns (one different row has no PCA)"
    model = PCA(most, svd_solver="randomized", random_state=seed)
    with single_threaded_blas(), np.errstate(invalid="ignore"):  # the same numbers on any number of cores
        Z = model.fit_transform(X)
    held = np.cumsum(np.nan_to_num(model.explained_variance_ratio_, nan=0.0))  # NaN where all rows are equal
    n = min(most, int(np.searchsorted(held, VARIANCE)) + 1)
    description = f"PCA to {n} column{'s' if n > 1 else ''} ({100 * held[n - 1]:.0f} % of the variance)"
    return np.ascontiguousarray(Z[:, :n], np.float32), description
