"""
A pool larger than the memory limit
===================================

A ``.npy`` file is read in place. Its pages are given back when the process nears the limit, and the picks are the same.
Each selection runs in a process of its own here, so that its memory can be measured.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

temporary = tempfile.TemporaryDirectory()  # deleted when the script ends
folder = Path(temporary.name)
rng = np.random.default_rng(0)
pool = np.lib.format.open_memmap(folder / "pool.npy", mode="w+", dtype=np.float32, shape=(1_500_000, 128))
centers = rng.normal(scale=2, size=(30, 128)).astype(np.float32)
for start in range(0, len(pool), 50_000):
    rows = rng.standard_normal((50_000, 128), dtype=np.float32)
    pool[start : start + 50_000] = rows + centers[rng.integers(30, size=50_000)]
pool.flush()
print(f"The file has {pool.nbytes / 1e6:.0f} MB.")

# %%
# The script that picks. It prints the memory that it took at most, mapped pages of the file included.

SCRIPT = """
import re, sys, mheal, numpy
pool, limit = numpy.load(sys.argv[1], mmap_mode="r"), int(sys.argv[2]) or None
picks = mheal.select(pool, 300, memory_limit=limit)
numpy.save(sys.argv[3], picks.indices)
print(re.search(r"VmHWM:[^0-9]*([0-9]+)", open("/proc/self/status").read())[1])  # in kB, on Linux
"""
memory, picks = {}, {}
for name, limit in (("no limit", 0), ("limit of 600 MB", 600_000_000)):
    words = [sys.executable, "-c", SCRIPT, str(folder / "pool.npy"), str(limit), str(folder / "picks.npy")]
    memory[name] = int(subprocess.run(words, capture_output=True, text=True, check=True).stdout) / 1000
    picks[name] = np.load(folder / "picks.npy")
print("The same picks:", np.array_equal(*picks.values()))

figure, axis = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
bars = axis.barh(list(memory), list(memory.values()))
axis.bar_label(bars, fmt="%.0f MB", padding=4)
axis.axvline(pool.nbytes / 1e6, color="black", linestyle="--", label="size of the file")
axis.set(xlabel="peak memory in MB", xlim=(0, 1.4 * max(memory.values())))
axis.legend(loc="lower right")
plt.show()
