"""Readings: Table 3 on MNIST under every reading of Algorithm 2 that the paper leaves open."""
