"""Helpers shared by all tests."""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "golden"), str(HERE / "web")]  # for `import reference`, `pools`, `served`

# Where test processes share the cores, threads of torch and BLAS that outnumber them mostly wait for each other. To be
# set before numpy and torch are loaded; our own threads are as many as ever.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

FEATURES = tempfile.TemporaryDirectory(prefix="mheal-features-")  # tests keep no features in the user's own cache
os.environ["MHEAL_CACHE"] = FEATURES.name


def pytest_sessionfinish():
    """Where coverage is recorded, keep it now: pytest-xdist kills workers that are slow to end."""
    if "coverage" in sys.modules and (recording := sys.modules["coverage"].Coverage.current()) is not None:
        recording.save()
