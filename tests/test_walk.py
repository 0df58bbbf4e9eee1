"""The functions that CONTRIBUTING.md lists are those to which `mheal.select` passes the pool."""

import re
import sys
import threading
from pathlib import Path

import numpy as np

import mheal
from mheal.backends.cpu.staging import Staged
from mheal.strategy import Pool

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALK = re.findall(r"^\d+\. `([\w.]+)`:", TEXT, flags=re.M)
HOME = Path(mheal.__file__).parent
BELOW = ("backends.", "runtime.", "validation.")  # the work on rows, and the checks


def module(frame):
    return frame.f_globals.get("__name__", "").removeprefix("mheal.") + "."


def in_backend(frame):
    """Whether the call comes from inside a backend."""
    while frame is not None and not module(frame).startswith("backends."):
        frame = frame.f_back
    return frame is not None


def called_with_the_pool(X, n):
    """Functions of mheal that get the pool as an argument, in the order of their first calls."""
    found = []

    def is_pool(value):
        array = isinstance(value, np.ndarray) and value.ndim == 2 and len(value) == len(X)
        return array or isinstance(value, Pool | Staged)

    def note(frame, event, _):
        code = frame.f_code
        if event != "call" or not Path(code.co_filename).is_relative_to(HOME):
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        name = module(frame) + code.co_qualname
        if name not in found and any(map(is_pool, given)) and not in_backend(frame.f_back):
            found.append(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        mheal.select(X, n)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return found


def test_the_walk_is_short_and_complete():
    X = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)
    mheal.select(X, 10)  # imports
    found = called_with_the_pool(X, 200)
    assert len(WALK) <= 15
    assert [name for name in found if name in WALK] == WALK
    assert [name for name in found if name not in WALK and not name.startswith(BELOW)] == []
