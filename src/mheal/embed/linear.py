"""Vectors without a network: principal columns of numbers, and TF-IDF of texts."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.threads import single_threaded_blas
from ..sphere import to_sphere

COMPONENTS = 64  # principal columns at most
VARIANCE = 0.9  # share of the variance that is enough
TEXT_COMPONENTS = 100
VOCABULARY = 50_000
MANY_TEXTS = 1_000  # above this, words that occur in one text only are dropped


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


def tfidf(texts: Sequence[str], seed: int) -> tuple[npt.NDArray[Any], str]:
    """Words and pairs of words, weighted by how rare they are, reduced to at most 100 columns; and a description."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    rare, where = (2, "in two of the texts") if len(texts) > MANY_TEXTS else (1, "in the texts")
    words = TfidfVectorizer(
        sublinear_tf=True, ngram_range=(1, 2), min_df=rare, max_features=VOCABULARY, dtype=np.float32
    )
    try:
        weights = words.fit_transform(texts)
    except ValueError as error:  # an empty vocabulary
        raise UserError(f"no word of two letters or more occurs {where}: TF-IDF cannot compare them") from error
    description = f"TF-IDF of {len(texts):,} text{'s' if len(texts) > 1 else ''}"
    components = min(TEXT_COMPONENTS, *weights.shape)
    if components == weights.shape[1]:
        return weights.toarray(), f"{description}, {components} columns"
    with single_threaded_blas():  # the same numbers on any number of cores
        X = TruncatedSVD(components, random_state=seed).fit_transform(weights)
    return to_sphere(X.astype(np.float32, copy=False)), f"{description}, truncated SVD to {components} columns"
