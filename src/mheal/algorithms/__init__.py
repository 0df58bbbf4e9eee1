"""Solvers of the minimum-energy problem over a finite pool, and on the free sphere.

Every index that is returned is a row of the pool that was passed in.
"""

from .facility_location import facility_location
from .farthest_first import farthest_first
from .riesz import riesz_descent, riesz_search, snap
from .sequential import best_start, sequential

__all__ = ["best_start", "facility_location", "farthest_first", "riesz_descent", "riesz_search", "sequential", "snap"]
