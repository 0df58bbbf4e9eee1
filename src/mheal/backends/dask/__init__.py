"""The same algorithm on a Dask cluster, for pools that one machine cannot hold (extra: dask).

>>> import dask.array as da, mheal                               # doctest: +SKIP
>>> picks = mheal.select(da.from_zarr("pool.zarr"), 100)  # doctest: +SKIP
>>> X = mheal.backends.dask.read_parquet("shards/*.parquet")             # doctest: +SKIP
"""

from ...io.dask_parquet import read_parquet
from .connect import connected
from .select import select

__all__ = ["connected", "read_parquet", "select"]
