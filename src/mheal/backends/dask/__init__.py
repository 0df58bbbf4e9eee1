"""The Dask backend, for pools that one machine cannot hold (extra: dask).

>>> import dask.array as da, mheal                               # doctest: +SKIP
>>> picks = mheal.select(da.from_zarr("pool.zarr"), 100)         # doctest: +SKIP
"""

from .partitions import Partitions, connected
from .rows import DaskRows

__all__ = ["DaskRows", "Partitions", "connected"]
