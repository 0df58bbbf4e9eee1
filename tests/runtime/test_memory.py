"""Pages of memory maps are released near the memory limit."""

import numpy as np
import pytest

import mheal
from mheal.runtime.checkpoint import NullCheckpoint
from mheal.runtime.memory import MemoryLimit, resident

pytestmark = pytest.mark.skipif(not resident(), reason="the system does not report how much memory is used")


@pytest.fixture
def mapped(tmp_path):
    A = np.lib.format.open_memmap(tmp_path / "pool.npy", "w+", np.float32, (150_000, 128))
    A[:] = np.arange(128)
    A.flush()
    del A
    return np.load(tmp_path / "pool.npy", mmap_mode="r")


@pytest.mark.parametrize("view", [lambda A: A, np.asarray, lambda A: np.ascontiguousarray(A)[10:]])
def test_pages_of_a_map_and_of_its_views_are_given_back(mapped, view):
    limit = MemoryLimit(1)
    limit.add(view(mapped))
    limit.yield_point()
    assert view(mapped).sum() > 0
    before = resident()
    limit.yield_point()
    assert resident() < before - mapped.nbytes / 2


def test_arrays_in_memory_are_ignored():
    A = np.ones((2000, 3000))
    limit = MemoryLimit(1)
    limit.add(A)
    limit.yield_point()
    assert A.sum() == A.size
    assert NullCheckpoint(limit).room() == 0


def test_a_thread_gives_pages_back_while_code_does_not_work_in_parts(mapped):
    with MemoryLimit(1) as limit:
        limit.add(mapped)
        total = sum(float(mapped[lo : lo + 10_000].sum()) for lo in range(0, len(mapped), 10_000))
    assert total == pytest.approx(150_000 * sum(range(128)))


def test_select_gives_back_the_pages_of_its_pool(mapped, monkeypatch):
    """Though the pool passes through checks that turn the map into a plain array."""
    X = np.lib.format.open_memmap(mapped.filename, "r+")
    X[:] = np.random.default_rng(0).standard_normal(X.shape, np.float32)
    X.flush()
    del X
    added, plain = [], MemoryLimit.add
    monkeypatch.setattr(MemoryLimit, "add", lambda limit, A: plain(limit, A) or added.append(len(limit._maps)))
    picks = mheal.select(mapped, 100, memory_limit=1)
    assert added
    assert added[0] == 1
    assert picks == mheal.select(np.array(mapped), 100)
