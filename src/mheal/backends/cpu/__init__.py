"""The CPU backend: numba, BLAS and threads."""

from .points import Points

__all__ = ["Points"]
