"""A helper that runs a strategy on a Pool made by a test; the Pool's model may identify rows by number."""

import numpy as np

from mheal.runtime.threads import single_threaded_blas


def pick(strategy, pool, n):
    """The picks of a strategy as an array of rows."""
    with single_threaded_blas():
        found = strategy._pick(pool, n)
    return np.asarray(getattr(found, "indices", found))
