"""Figures 1 to 5: version space, minimal energy on a sphere, the pipeline, the tube and vector rotation."""
