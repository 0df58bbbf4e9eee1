"""Vectors from images, texts and tables."""
