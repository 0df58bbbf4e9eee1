"""Signals that would end the process silently make it print one line first."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mheal.runtime.native import exit_on_native_errors

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGBUS"), reason="a system without SIGBUS")
CUT_WHILE_IN_USE = """
import os, sys
import mheal.cli.pick as pick
from mheal.cli import main
pick.print_source = lambda pool, source, console: os.truncate(pool, 4096)
sys.exit(main(["select", "pool.npy", "-b", "5"]))
"""


def run(command, folder):
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


def test_a_file_that_is_cut_while_it_is_mapped_is_named_in_one_line(tmp_path):
    np.save(tmp_path / "pool.npy", np.random.default_rng(0).standard_normal((20_000, 20)))
    status, lines = run(["-c", CUT_WHILE_IN_USE], tmp_path)
    assert status == 2
    assert len(lines) == 1
    assert lines[0].startswith("mheal: ")
    assert str(tmp_path / "pool.npy") in lines[0]


def test_a_damaged_file_on_which_a_library_gives_up_gets_one_line(tmp_path):
    shutil.copy(Path(__file__).parent.parent / "fuzz" / "gives-up.parquet", tmp_path / "pool.parquet")
    status, lines = run(["-m", "mheal", "select", "pool.parquet", "-b", "3"], tmp_path)
    assert status == 2
    assert lines[-1].startswith("mheal: ")
    assert not any("Traceback" in line for line in lines)


def test_handlers_are_put_back():
    code = "import os; from mheal.runtime import native\nwith native.exit_on_native_errors(2): pass\nos.abort()"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -signal.SIGABRT
    with exit_on_native_errors(2):
        pass
