"""Vectors from images, texts and tables."""

from .methods import DEFAULTS, METHODS, Embedding, embed, images, texts

__all__ = ["DEFAULTS", "METHODS", "Embedding", "embed", "images", "texts"]
