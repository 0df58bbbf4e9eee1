"""Spherical k-means (§5.1 of the paper)."""

from .spherical import SphericalKMeans

__all__ = ["SphericalKMeans"]
