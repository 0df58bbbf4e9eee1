"""The CPU backend: numba, BLAS and threads."""
