"""A full disk or a truncated file gives a one-line error; what was stored is kept or computed again."""

import os
import re
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from mheal.exceptions import UserError, UserFileError
from mheal.runtime.checkpoint import Checkpoint

STREAM = """
import sys
import mheal.io.shards
from mheal.cli import main
mheal.io.shards.expected_shape = lambda files: (2**30, 2**10)  # as if they were too large for memory
if limit := int(sys.argv[1]):
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
line = "select pool.parquet -b 9 --max-memory 3GB -o picks.csv --checkpoint"
sys.exit(main([*line.split(), sys.argv[2]]))
"""


@pytest.fixture
def pool(tmp_path):
    X = np.random.default_rng(0).standard_normal((50_000, 8)).astype(np.float32)  # 1.6 MB
    pl.DataFrame(X, [f"c{at}" for at in range(8)]).write_parquet(tmp_path / "pool.parquet")
    return tmp_path


def stream(pool, limit, folder):
    command = [sys.executable, "-c", STREAM, str(limit), str(folder)]
    return subprocess.run(command, cwd=pool, capture_output=True, text=True, check=False)


@pytest.mark.skipif(os.name != "posix", reason="limits of files are Unix's")
def test_a_scratch_file_that_does_not_fit_is_one_line_before_anything_is_copied(pool):
    done = stream(pool, 1_000_000, pool / "work")
    assert done.returncode == 2
    assert re.fullmatch(r"mheal: cannot write '.*pool.npy': .*\n", done.stderr)
    assert not list((pool / "work").rglob("*.np?"))
    assert stream(pool, 0, pool / "work").returncode == 0


@pytest.mark.slow
def test_on_a_disk_that_is_too_small_the_run_says_so_and_goes_on_when_there_is_room(pool):
    disk = pool / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(disk)], capture_output=True, text=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount a small disk here: {mounted.stderr.strip()}")
    try:
        done = stream(pool, 0, disk / "work")
        assert done.returncode == 2
        assert "No space left" in done.stderr
        assert done.stderr.count("\n") == 1
        subprocess.run(["mount", "-o", "remount,size=32m", str(disk)], check=True)
        assert stream(pool, 0, disk / "work").returncode == 0
        full = stream(pool, 0, pool / "work")
        assert full.returncode == 0
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def begun(folder):
    run = Checkpoint(folder)
    run.begin({"seed": 0})
    return run


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="the system allocates no files")
def test_scratch_files_have_all_their_space(tmp_path):
    run = begun(tmp_path / "work")
    A = run.scratch("pool", (1000, 1000), np.float32)
    assert (tmp_path / "work" / "pool.npy").stat().st_blocks * 512 >= A.nbytes
    A[3] = 7
    assert (run.scratch("pool", (1000, 1000), np.float32)[3] == 7).all()
    run.end()


def test_scratch_files_that_were_cut_or_are_of_another_shape_are_refused(tmp_path):
    run = begun(tmp_path / "work")
    file = tmp_path / "work" / "pool.npy"
    run.scratch("pool", (100, 100), np.float32)
    with pytest.raises(UserError, match=r"cannot read pool.npy: .*delete the folder .*work"):
        run.scratch("pool", (100, 101), np.float32)
    os.truncate(file, 5000)
    with pytest.raises(UserError, match=r"cannot read pool.npy: .*delete the folder .*work"):
        run.scratch("pool", (100, 100), np.float32)
    assert file.stat().st_size == 5000
    run.end()


def test_a_damaged_stage_is_made_again(tmp_path):
    run = begun(tmp_path / "work")
    for count in (1, 2):
        made = []
        for _ in range(2):
            assert run.stage("first", lambda: made.append(1) or {"a": np.arange(3)})["a"].tolist() == [0, 1, 2]  # noqa: B023
        assert len(made) == 1
        file = tmp_path / "work" / "first.npz"
        file.write_bytes(file.read_bytes()[: -20 * count])
    run.end()


def test_a_stage_that_cannot_be_read_is_said(tmp_path):
    run = begun(tmp_path / "work")
    (tmp_path / "work" / "first.npz").mkdir()
    with pytest.raises(UserFileError, match="cannot read first"):
        run.load_partial("first")
