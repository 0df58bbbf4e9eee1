"""Which Dask cluster is used, and what happens if it loses a worker."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

import mheal  # noqa: E402
from mheal.algorithms.farthest_first import traverse  # noqa: E402
from mheal.backends.cpu.points import Points  # noqa: E402
from mheal.backends.dask import DaskRows, Partitions, connected  # noqa: E402
from mheal.backends.dask.rows import Sizes  # noqa: E402
from mheal.backends.dask.traversal import Traversal  # noqa: E402


def test_without_a_client_a_cluster_is_made_and_closed(make_pool, monkeypatch):
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    X = make_pool(n=600)
    picks = mheal.select(da.from_array(X, chunks=(250, -1)), 10)
    np.testing.assert_array_equal(picks.indices, mheal.select(X, 10).indices)
    with pytest.raises(ValueError, match="client"):
        distributed.get_client()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the system does not list its connections")
def test_our_own_cluster_is_reached_from_this_machine_only(monkeypatch):
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    with connected("local") as client:
        processes = [os.getpid(), *client.run(os.getpid).values()]
        listening = set().union(*map(listening_at, processes))
    assert len(listening) > 1
    assert all(address.startswith("0100007F:") for address in listening)  # 127.0.0.1


def listening_at(process):
    """The addresses, in hexadecimal, at which a process listens."""
    links = (os.path.realpath(link) for link in Path(f"/proc/{process}/fd").iterdir())
    sockets = {link.rpartition("[")[2][:-1] for link in links if "socket:[" in link}
    lines = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()]
    return {line[1] for line in lines if line[3] == "0A" and line[9] in sockets}


def test_a_wrong_address_is_one_line():
    with pytest.raises(ValueError, match="no Dask scheduler at 'nonsense'"), connected("nonsense"):
        pass


def test_a_worker_that_is_killed_changes_nothing(make_pool, monkeypatch):
    X = make_pool()
    expected = traverse(Points.raw(X), 100, np.array([20]))[0]
    plain, epochs, killed = Traversal.epoch, [], []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:

        def kill_one_in_the_third(self):
            epochs.append(1)
            if len(epochs) == 3:
                killed.append(next(iter(client.run(os.getpid).values())))
                os.kill(killed[0], signal.SIGKILL)
            plain(self)

        monkeypatch.setattr(Traversal, "epoch", kill_one_in_the_third)
        small = Sizes(front_rows=40, front_bytes=0, group_rows=3)
        rows = DaskRows.raw(Partitions(da.from_array(X, chunks=(400, -1)), client), small)
        picked = traverse(rows, 100, np.array([20]))[0]
    assert killed
    assert len(epochs) > 4
    np.testing.assert_array_equal(picked, expected)
