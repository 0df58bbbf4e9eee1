"""The cluster that does the work: the one in use, one by its address, or our own on this machine for a while."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from distributed import Client, LocalCluster, get_client

from ...exceptions import UserError
from ...runtime.threads import thread_count


@contextmanager
def connected(scheduler: str | None = None) -> Iterator[Client]:
    """A Dask client for the block: of the cluster at this address, or of our own for "local".

    None is the client that is active, or our own where there is none.
    """
    if scheduler is None:
        try:
            active = get_client()
        except ValueError:  # there is none
            scheduler = "local"
        else:
            yield active
            return
    if scheduler == "local":
        with _local() as cluster, Client(cluster) as client:
            yield client
        return
    wrong = f"there is no Dask scheduler at {scheduler!r}: check the address (tcp://host:8786), or use 'local'"
    if "://" not in scheduler:
        raise UserError(wrong)
    try:
        client = Client(scheduler, timeout=10)
    except OSError as error:
        raise UserError(wrong) from error
    with client:
        yield client


def _local() -> LocalCluster:
    """A process for each core, so that no two share a lock; they end with the block."""
    return LocalCluster(
        n_workers=thread_count(),
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
