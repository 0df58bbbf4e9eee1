"""A Dask cluster of two processes for all tests in this folder, and small pools."""

import numpy as np
import pytest

from stores import Dask, Memory, Torch


@pytest.fixture(scope="session")
def two_workers():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 50}
    with distributed.LocalCluster(**options) as cluster:
        yield cluster


@pytest.fixture
def client(two_workers):
    import distributed

    with distributed.Client(two_workers) as client:
        yield client


@pytest.fixture
def make_pool():
    """Eight overlapping clusters. With integers, there are many ties and every distance is exact."""

    def make(n=1500, d=12, seed=0, integer=False, dtype=np.float32):
        rng = np.random.default_rng(seed)
        X = 3 * rng.normal(size=(8, d))[rng.integers(8, size=n)] + rng.normal(size=(n, d))
        return (np.round(X) if integer else X).astype(dtype)

    return make


@pytest.fixture(
    params=["cpu", "torch", "torch, streamed", "dask", pytest.param("cuda", marks=pytest.mark.gpu)],
)
def backend(request):
    if request.param == "cpu":
        return Memory()
    if request.param == "dask":
        pytest.importorskip("dask.array")
        return Dask(request.getfixturevalue("client"))
    torch = pytest.importorskip("torch")
    if request.param == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    return Torch("cuda" if request.param == "cuda" else "cpu", "streamed" in request.param)
