"""Helpers shared by all tests."""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "golden"), str(HERE / "web")]  # for `import reference`, `pools`, `served`

# Test processes share the cores; more threads of torch and BLAS than cores slow each other down. The variable must be
# set before numpy and torch are imported. It does not change the number of mheal's own threads.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

FEATURES = tempfile.TemporaryDirectory(prefix="mheal-features-")  # tests do not write to the user's cache
os.environ["MHEAL_CACHE"] = FEATURES.name


def pytest_sessionfinish():
    """Save coverage data, if any, now: pytest-xdist kills workers that are slow to exit."""
    if "coverage" in sys.modules and (recording := sys.modules["coverage"].Coverage.current()) is not None:
        recording.save()
