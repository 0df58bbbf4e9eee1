"""The CPU backend: numba, BLAS and threads."""

from .neighbours import spacing
from .points import Points
from .traversal import Picks, Traversal

__all__ = ["Picks", "Points", "Traversal", "spacing"]
