"""Vectors from images, texts and tables."""

from .methods import DEFAULTS, METHODS, Embedding, embed

__all__ = ["DEFAULTS", "METHODS", "Embedding", "embed"]
