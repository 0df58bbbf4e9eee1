"""mheal: which of your unlabelled items should you label?

Every row number that this package returns refers to the rows of the X that you passed.

>>> import numpy as np, mheal
>>> X = np.random.default_rng(0).normal(size=(300, 8))
>>> picks = mheal.select(X, 5)
>>> len(picks)
5
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from . import cluster, datasets, embed, energy, evaluate, strategies
    from .algorithms import facility_location, farthest_first
    from .api import select
    from .cluster import SphericalKMeans
    from .paper import PaperMHEAL
    from .selection import Selection
    from .selector import MHEAL

# Everything is imported on first use, to keep `import mheal` and `mheal --help` fast. These names are not modules.
_HOME = {
    "select": ".api", "MHEAL": ".selector", "PaperMHEAL": ".paper", "SphericalKMeans": ".cluster",
    "Selection": ".selection", "facility_location": ".algorithms", "farthest_first": ".algorithms",
}  # fmt: skip
__all__ = [
    "MHEAL", "PaperMHEAL", "Selection", "SphericalKMeans", "__version__", "cluster", "datasets", "embed", "energy",
    "evaluate", "facility_location", "farthest_first", "io", "select", "strategies",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    if name in __all__:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module 'mheal' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
