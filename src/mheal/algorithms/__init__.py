"""Solvers of the minimum-energy problem over a finite pool, and on the free sphere.

Every index that is returned is a row of the pool that was passed in.
"""

from .density import charged_max_min
from .farthest_first import max_min
from .riesz import riesz_descent, riesz_search, snap
from .sequential import best_start, sequential

__all__ = [
    "best_start",
    "charged_max_min",
    "max_min",
    "riesz_descent",
    "riesz_search",
    "sequential",
    "snap",
]
