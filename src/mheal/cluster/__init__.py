"""Spherical k-means (§5.1)."""

from .spherical import SphericalKMeans

__all__ = ["SphericalKMeans"]
