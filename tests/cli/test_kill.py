"""No file is left half-written, whenever a run is killed by kill -9."""

import random
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

from mheal.cli import main

KILLS = 25


def select(budget):
    line = [sys.executable, "-m", "mheal", "select", "digits.npy", "-b", str(budget), "-q"]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@pytest.mark.slow
def test_select_killed_at_random_moments_leaves_the_old_or_the_new_file(desk):
    whole = {}
    for budget in (200, 300):
        assert main(["select", "digits.npy", "-b", str(budget), "-q"]) == 0
        whole[budget] = (desk / "picks.csv").read_bytes()
    durations = []
    for _ in range(3):
        start = time.perf_counter()
        assert select(300).wait() == 0
        durations.append(time.perf_counter() - start)
    duration = min(durations)
    rng = random.Random(0)
    killed = 0
    for turn in range(KILLS):
        process = select((200, 300)[turn % 2])
        # Half of the kills come late, when files are being written.
        time.sleep(duration * (rng.uniform(0, 1) if turn % 2 else rng.uniform(0.8, 1.05)))
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
        assert (desk / "picks.csv").read_bytes() in whole.values()
        assert len(pl.read_csv(desk / "picks.csv")) in (200, 300)
        assert pl.read_json(desk / "picks.csv.mheal.json")["rows"].to_list() == [1797]
    assert killed > KILLS // 3  # else this has tested nothing
    assert select(300).wait() == 0
    assert (desk / "picks.csv").read_bytes() == whole[300]
    assert not list(desk.glob(".*.part"))  # what killed runs have left is swept up


def test_ctrl_c_exits_130_and_leaves_no_broken_file(desk):
    process = subprocess.Popen(
        [sys.executable, "-m", "mheal", "select", "images", "-b", "50"], stderr=subprocess.PIPE, text=True
    )
    time.sleep(0.9)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    # Python itself ends by the signal if it came while dataclasses were being made: a shell calls both 130.
    if process.returncode in (130, -signal.SIGINT):
        assert "interrupted" in err
        assert not (desk / "picks.csv").exists() or len(pl.read_csv(desk / "picks.csv")) == 50
    else:  # it was done before
        assert process.returncode == 0
        assert len(pl.read_csv(desk / "picks.csv")) == 50
        assert len(pl.read_csv(desk / "picks.csv")) == 50
    assert not list(desk.glob(".*.part"))
