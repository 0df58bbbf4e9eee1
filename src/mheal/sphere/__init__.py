"""§3–5 of the paper: onto the sphere, the energy there, where to start, and what the theorems are worth."""

from . import bounds, energy, project, starts

__all__ = ["bounds", "energy", "project", "starts"]
