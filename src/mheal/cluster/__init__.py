"""Spherical k-means (§5.1) and the spacing of points inside its clusters."""

from ..algorithms.local_spacing import local_spacing
from .spherical import SphericalKMeans

__all__ = ["SphericalKMeans", "local_spacing"]
