"""Read pools and labels from files, and write picks to files.

`read_pool` reads any file that the command line takes, `read_parquet` makes a Dask array of Parquet shards, and
`read_labels` reads labels, as a table or as Label Studio exports them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .labels import read_labels
    from .read import read_pool
    from .shards import read_parquet

_HOME = {"read_labels": ".labels", "read_parquet": ".shards", "read_pool": ".read"}  # loaded on first use

__all__ = ["read_labels", "read_parquet", "read_pool"]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name], __name__), name)
    raise AttributeError(f"module 'mheal.io' has no attribute {name!r}")
