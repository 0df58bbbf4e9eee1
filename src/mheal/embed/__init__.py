"""Vectors from images, texts and tables."""

from .methods import DEFAULTS, METHODS, Embedding, Method, embed

__all__ = ["DEFAULTS", "METHODS", "Embedding", "Method", "embed"]
