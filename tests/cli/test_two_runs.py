"""If two runs write the same files at once, one of them writes them, and the other reports this in one line."""

import hashlib
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from commands import run

pytest.importorskip("fcntl")
RECORD = Path("picks.csv.mheal.json")
COMPARE = "compare digits.csv -t label --seeds 1 --budgets 10 --strategies random -q"
PAUSED = """
import sys
from pathlib import Path
from mheal.cli import main
def pause(event, args):
    if event == "os.rename" and Path(args[1]).name == sys.argv[1]:
        print("paused", flush=True)
        sys.stdin.readline()
sys.addaudithook(pause)
sys.exit(main(sys.argv[2:]))
"""


def start(*command):
    pipes = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return subprocess.Popen([sys.executable, *command], **pipes, text=True)


@pytest.fixture
def paused():
    """Start a run that pauses before it puts its first file with this name in place."""
    started = []

    def begin(name, line):
        process = start("-c", PAUSED, name, *shlex.split(line))
        started.append(process)
        assert process.stdout.readline() == "paused\n"
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def assert_a_pair(folder):
    """The picks are those of the record beside them, and the run that wrote them left nothing else."""
    record = json.loads((folder / RECORD).read_text())
    content = (folder / "picks.csv").read_bytes()
    assert record["files"]["picks.csv"][0] == hashlib.sha256(content).hexdigest()
    assert len(pl.read_csv(content)) == record["parameters"]["budget"] == record["picks"]["count"]
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize("name", ["picks.csv", RECORD.name])
def test_a_run_that_finds_another_one_at_its_output_names_it_and_stops(name, paused, desk, capfd):
    assert run("select digits.npy -b 3 -q") == 0
    first = paused(name, "select digits.npy -b 5 -q")
    for line in ("select digits.npy -b 7", "select digits.npy -b 7 --force", f"select --rerun {RECORD}"):
        assert run(f"{line} -q") == 2
        err = capfd.readouterr().err
        assert err.startswith(f"mheal: another run is writing picks.csv (process {first.pid}): ")
        assert err.count("\n") == 1
    assert run("select digits.npy -b 7 -q -o other.csv") == 0
    first.communicate("go on\n")
    assert first.returncode == 0
    assert_a_pair(desk)
    assert len(pl.read_csv("picks.csv")) == 5
    assert run("select digits.npy -b 7 -q") == 0
    assert_a_pair(desk)


def test_a_run_that_was_killed_holds_nobody_up(paused, desk):
    first = paused("picks.csv", "select digits.npy -b 5 -q")
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    assert Path(".picks.csv.mheal-lock").exists()
    assert run("select digits.npy -b 7 -q") == 0
    assert_a_pair(desk)


PLOT = "select digits.npy -b 5 --plot map.png -q -o"
SELECT = "select digits.npy -b 5 -q -o"


@pytest.mark.parametrize(
    ("name", "line", "other", "where"),
    [
        ("map.png", f"{PLOT} a.csv", f"{PLOT} b.csv", "map.png"),
        ("out.csv", f"{SELECT} out.csv", f"{SELECT} link.csv", "out.csv"),
        ("vectors.npy", "embed digits.npy -q", "embed digits.csv", "vectors.npy"),
        ("curves.csv", COMPARE, COMPARE, "compare/curves.csv"),
        ("runs.csv", "demo -b 10 --seeds 1 -q", "demo -b 20", "mheal-demo/curves.png"),
    ],
)
def test_every_file_that_a_command_writes_is_written_by_one_run(name, line, other, where, paused, desk, capfd):
    Path("link.csv").symlink_to("out.csv")
    first = paused(name, line)
    assert run(other) == 2
    assert f"{where} (process {first.pid})" in capfd.readouterr().err
    first.communicate("go on\n")
    assert first.returncode == 0
    assert not list(desk.rglob(".*"))


def test_runs_that_start_together_leave_one_whole_pair(desk):
    runs = [start("-m", "mheal", "select", "digits.npy", "-b", str(budget), "-q") for budget in (11, 12, 13, 14)]
    for process in runs:
        error = process.communicate()[1]
        assert process.returncode == (2 if "mheal: another run is writing picks.csv (process" in error else 0)
    assert 0 in [process.returncode for process in runs]
    assert_a_pair(desk)
    assert run("select digits.npy -b 7 -q") == 0
