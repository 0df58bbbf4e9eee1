"""Tests that need large pools: memory, and exactness over many epochs."""

import subprocess
import sys

import numpy as np
import pytest

import mheal
import reference

MEASURE = """
import sys, threading, time
import numpy as np, mheal

def anonymous():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) / 1024

X = np.load(sys.argv[1], mmap_mode="r")
mheal.select(X[:20_000], 100)  # compiles
before, peak, done = anonymous(), [0.0], threading.Event()

def watch():
    while not done.wait(0.002):
        peak[0] = max(peak[0], anonymous())

thread = threading.Thread(target=watch)
thread.start()
mheal.select(X, 1000)
done.set()
thread.join()
print(peak[0] - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_memory_map_is_never_copied(tmp_path):
    rng = np.random.default_rng(0)
    file = np.lib.format.open_memmap(tmp_path / "pool.npy", "w+", np.float32, (2_000_000, 64))
    for lo in range(0, len(file), 100_000):
        file[lo : lo + 100_000] = rng.standard_normal((100_000, 64), dtype=np.float32)
    file.flush()
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "pool.npy")], check=True, capture_output=True, text=True
    )
    assert float(result.stdout) < 150 + 80  # MB: what the cover looks at, and 40 bytes a row; the pool is 512


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["normal", "integer"])
def test_two_hundred_thousand_rows_equal_the_plain_loop(kind):
    X = np.random.default_rng(1).standard_normal((200_000, 16))
    X = np.round(2 * X) if kind == "integer" else X
    expected = np.r_[7, reference.max_min(X, 299, [7])[0]]
    np.testing.assert_array_equal(mheal.farthest_first(X, 300, start=7), expected)
