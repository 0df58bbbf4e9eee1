"""Items that are no vectors yet, made vectors: images, texts and tables."""
