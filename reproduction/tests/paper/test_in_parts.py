"""A run of Tables 3 to 5 in parts and another run in the same folder: one of them would lose its rows."""

import subprocess
import sys
from pathlib import Path

import pytest

from mheal.runtime.files import Lock
from mheal_reproduction.machine import gpu
from mheal_reproduction.paper.images.experiment import protocol
from mheal_reproduction.paper.images.size import FULL
from mheal_reproduction.rows import RawRows, stored_rows

pytest.importorskip("fcntl")
SCRIPT = Path(__file__).parents[2] / "scripts" / "in_parts.py"


def in_parts(folder):
    command = [sys.executable, str(SCRIPT), "work", "--into", "results", "--tables", "3", "4", "--datasets", "mnist"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr.splitlines()


@pytest.mark.parametrize("taken", ["work", "results/table3", "results/table4"])
def test_a_folder_in_which_another_run_is_at_work_is_refused(rows_of, tmp_path, taken):
    rows = RawRows(tmp_path / "results" / "table3", "table3", protocol(FULL))
    rows.add(rows_of("Random", [0.5] * 4))
    with Lock(tmp_path / taken):
        status, lines = in_parts(tmp_path)
    assert status == 1
    assert len(lines) == 1
    assert taken in lines[0]
    assert len(stored_rows(tmp_path / "results" / "table3")) == len(rows.rows) == 3


@pytest.mark.skipif(gpu() is not None, reason="it would run for hours")
def test_a_run_that_ends_unlocks_its_folders(tmp_path):
    for _ in range(2):
        status, lines = in_parts(tmp_path)
        assert (status, len(lines)) == (1, 1)
        assert "GPU" in lines[0]
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
