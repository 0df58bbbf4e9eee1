"""What MHEAL is made of. Every index that is returned is a row of the pool that was passed in."""

from .facility_location import facility_location
from .farthest_first import farthest_first

__all__ = ["facility_location", "farthest_first"]
