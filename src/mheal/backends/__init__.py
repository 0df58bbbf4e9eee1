"""The only hot loops: numba and BLAS on the CPU, torch where the data already lives there.

Both backends offer the same names: Points (the pool as kernels see it), Picks, Traversal and spacing. What goes in and
comes out is NumPy; only the pool and its scores stay on the device.
"""

from importlib import import_module
from typing import Any


def backend(points: Any) -> Any:
    """The module that works on these points: kernels.cpu or kernels.torch."""
    return import_module(f".{points.backend}", __name__)
