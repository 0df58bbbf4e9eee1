import os
import subprocess
import sys
from pathlib import Path

from mheal.runtime.progress import COMPILING

CODE = """
import numpy as np
from mheal.backends.cpu.grouping import _place, grouped
labels = np.array([1, 0, 1], np.int32)
order, ends = grouped(labels, 2)
print(order.tolist(), ends.tolist(), sum(_place.stats.cache_hits.values()), _place.stats.cache_path)
"""
RIGHT = "[1, 0, 2] [0, 1, 3]"


def run(cache, tmp, code=CODE, errors="", **more):
    """Run code in a new process without a home folder, which may write only to the given folders."""
    environment = os.environ | {"HOME": "/nonexistent", "NUMBA_CACHE_DIR": str(cache), "TMPDIR": str(tmp)} | more
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, errors)
    return done.stdout


def damage(cache, change):
    files = list(Path(cache).rglob("*.kernel"))
    for file in files:
        file.write_bytes(change(file.read_bytes()))
    return len(files)


def test_kernels_are_kept_and_damaged_ones_compiled_again(tmp_path):
    cache, tmp = tmp_path / "cache", tmp_path
    assert run(cache, tmp).startswith(f"{RIGHT} 0")
    assert run(cache, tmp).startswith(f"{RIGHT} 1")
    for change in (
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-9] + bytes([content[-9] ^ 1]) + content[-8:],  # one bit of machine code
    ):
        assert damage(cache, change) == 1
        assert run(cache, tmp).startswith(f"{RIGHT} 0")
        assert run(cache, tmp).startswith(f"{RIGHT} 1")


def test_a_full_disk_is_no_error(tmp_path):
    full = "import builtins, pathlib\n"
    full += "def write(self, content): raise OSError(28, 'No space left on device')\n"
    full += "pathlib.Path.write_bytes = write\n"
    assert run(tmp_path / "cache", tmp_path, full + CODE).startswith(f"{RIGHT} 0")
    assert not list((tmp_path / "cache").rglob("*.kernel"))


READ_ONLY = """
import os, tempfile
def refused(*args, **more):
    if not str(more.get("dir")).startswith(os.environ["ALLOWED"]):
        raise PermissionError(13, "Permission denied")
    return real(*args, **more)
real, tempfile.TemporaryFile = tempfile.TemporaryFile, refused
"""  # the tests may run as root, whom no folder refuses


def test_without_a_writable_folder_there_is_a_private_temporary_one(tmp_path):
    code, allowed = READ_ONLY + CODE, str(tmp_path)
    for hits in (0, 1):
        out = run("/proc/no", tmp_path, code, ALLOWED=allowed)
        assert out.startswith(f"{RIGHT} {hits}")
        assert f"{tmp_path}/mheal-numba-" in out
    folder = next(tmp_path.glob("mheal-numba-*"))
    assert folder.stat().st_mode & 0o77 == 0
    assert run("/proc/no", tmp_path, code, ALLOWED="/nowhere").split()[-1] == "None"
    folder.chmod(0o777)  # others could put code there
    assert run("/proc/no", tmp_path, code, ALLOWED=allowed).split()[-1] == "None"


def test_the_first_call_says_that_it_compiles_and_compiles_nothing_twice(tmp_path):
    code = """
import collections, numpy as np
from numba.core import event
import mheal
with event.install_recorder("numba:compile") as recorder:
    mheal.select(np.random.default_rng(0).normal(size=(500, 16)), 20)
kernels = [found.data["dispatcher"].py_func for _, found in recorder.buffer if found.is_start]
print(sum(kernel.__module__.startswith("mheal.") for kernel in kernels))
print(collections.Counter(kernel.__qualname__ for kernel in kernels if kernel.__module__.startswith("mheal."))
      .most_common(1)[0][1])
"""
    compiled, most = run(tmp_path / "cache", tmp_path, code, f"{COMPILING.capitalize()}\n").split()
    assert int(compiled) > 10
    assert most == "1"
    assert run(tmp_path / "cache", tmp_path, code.split("kernels =")[0]) == ""


def test_compiling_is_reported_when_it_happens(tmp_path):
    code = """
import io, numpy as np
from rich.console import Console
from mheal.backends.cpu.staging import moments_part
from mheal.backends.cpu.kernel_cache import compiling_reported
from mheal.runtime.progress import as_progress
for terminal in (False, True):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with as_progress(True, console, 0) as progress, compiling_reported(progress):
        for _ in range(2):
            moments_part(np.zeros((2, 2), [float, np.float32][terminal]), 0, 2, *np.zeros((3, 2)))
    print("ompiling for the first time" in console.file.getvalue())
"""
    cache = tmp_path / "cache"
    assert run(cache, tmp_path, code).split() == ["True", "True"]
    assert run(cache, tmp_path, code).split() == ["False", "False"]
