"""The walk of a pool in CONTRIBUTING.md is the one that `mheal.select` takes."""

import re
import sys
import threading
from pathlib import Path

import numpy as np

import mheal

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
WALK = re.findall(r"^\d+\. `([\w.]+)`:", TEXT, flags=re.M)


def test_the_walk_is_short_and_true():
    X = np.random.default_rng(0).normal(size=(3000, 8)).astype(np.float32)
    mheal.select(X, 10)  # imports
    called = []

    def note(frame, event, _):
        if event == "call" and f"{Path(mheal.__file__).parent}" in frame.f_code.co_filename:
            name = f"{frame.f_globals.get('__name__', '').removeprefix('mheal.')}.{frame.f_code.co_qualname}"
            if name not in called:
                called.append(name)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        mheal.select(X, 300)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert len(WALK) <= 15
    assert [name for name in called if name in WALK] == WALK
