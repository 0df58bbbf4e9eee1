"""How tests run a strategy on a Pool of their own making, whose model may know rows by their numbers."""

import numpy as np

from mheal.runtime.threads import single_threaded_blas


def pick(strategy, pool, n):
    """The picks of a strategy as an array of rows."""
    with single_threaded_blas():
        found = strategy._pick(pool, n)
    return np.asarray(getattr(found, "indices", found))
