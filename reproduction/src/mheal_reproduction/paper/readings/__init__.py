"""Readings: Table 3 on MNIST, with different choices for what the paper leaves open in Algorithm 2."""
