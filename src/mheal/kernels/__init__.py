"""The only hot loops: numba and BLAS on the CPU, torch where the data already lives there."""
