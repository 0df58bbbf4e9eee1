"""mheal: which of your unlabelled items should you label?

Every row number that leaves this package is a row of the X you passed in.

>>> import numpy as np, mheal
>>> X = np.random.default_rng(0).normal(size=(300, 8))
>>> picks = mheal.select(X, budget=5, random_state=0)
>>> len(picks.indices)
5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import cluster, datasets, kernels, learn, paper, pool, scale, solve, sphere, strategies, theory
    from .algorithm import MHEAL
    from .cluster import SphericalKMeans
    from .selection import Selection
    from .shortcut import select

# Everything loads on first use, so that `import mheal` and `mheal --help` stay instant.
_HOME = {
    "select": ".shortcut",
    "MHEAL": ".algorithm",
    "SphericalKMeans": ".cluster",
    "Selection": ".selection",
}
_ROOMS = (
    "cluster", "datasets", "kernels", "learn", "paper", "pool", "scale", "solve", "sphere", "strategies", "theory",
)  # fmt: skip

__all__ = [
    "MHEAL",
    "Selection",
    "SphericalKMeans",
    "__version__",
    "cluster",
    "datasets",
    "kernels",
    "learn",
    "paper",
    "pool",
    "scale",
    "select",
    "solve",
    "sphere",
    "strategies",
    "theory",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    if name in _ROOMS:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'mheal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
