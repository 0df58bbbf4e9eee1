"""TF-IDF: vectors of texts without a network."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..exceptions import UserError
from ..runtime.threads import single_threaded_blas
from ..sphere import to_sphere

COMPONENTS = 100
VOCABULARY = 50_000
MANY_TEXTS = 1_000  # above this, words that occur in one text only are dropped


def tfidf(texts: Sequence[str], seed: int) -> tuple[npt.NDArray[Any], str]:
    """Words and pairs of words, weighted by how rare they are, reduced to at most 100 columns; and a description."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    words = TfidfVectorizer(
        sublinear_tf=True,
        ngram_range=(1, 2),
        min_df=2 if len(texts) > MANY_TEXTS else 1,
        max_features=VOCABULARY,
        dtype=np.float32,
    )
    try:
        weights = words.fit_transform(texts)
    except ValueError as error:  # an empty vocabulary
        where = "occurs in two of the texts" if len(texts) > MANY_TEXTS else "occurs in the texts"
        raise UserError(f"no word of two letters or more {where}: TF-IDF cannot compare them") from error
    description = f"TF-IDF of {len(texts):,} text{'s' if len(texts) > 1 else ''}"
    components = min(COMPONENTS, *weights.shape)
    if components == weights.shape[1]:
        return weights.toarray(), f"{description}, {components} columns"
    with single_threaded_blas():  # the same numbers on any number of cores
        X = TruncatedSVD(components, random_state=seed).fit_transform(weights)
    return to_sphere(X.astype(np.float32, copy=False)), f"{description}, truncated SVD to {components} columns"
