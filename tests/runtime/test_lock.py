"""Only one run at a time may use the folder of a checkpoint. A lock ends with the process that holds it."""

import errno
import os
import re
import signal
import subprocess
import sys

import pytest

from mheal.cli import main
from mheal.exceptions import UserFileError
from mheal.runtime import files
from mheal.runtime.checkpoint import LOCK, Checkpoint, OtherRun, kept_unless_mistaken
from mheal.runtime.files import Lock

pytest.importorskip("fcntl")
AT_WORK = "another run is at work in {} (process {}): wait until it is done, or choose another name"


@pytest.fixture
def holding():
    """Start a process that works in a folder until it is ended."""
    code = """
import sys
from mheal.runtime.checkpoint import Checkpoint
run = Checkpoint(sys.argv[1])
run.begin({"seed": 0})
print("at work", flush=True)
if sys.stdin.readline():
    run.end()
"""
    started = []

    def hold(folder):
        command = [sys.executable, "-c", code, str(folder)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        started.append(process)
        assert process.stdout.readline() == "at work\n"
        return process

    yield hold
    for process in started:
        process.kill()
        process.communicate()


def test_a_second_process_is_refused_until_the_first_is_done(holding, tmp_path):
    folder = tmp_path / "work"
    first = holding(folder)
    before = sorted(path.name for path in folder.iterdir())
    run = Checkpoint(folder)
    with pytest.raises(OtherRun, match=re.escape(AT_WORK.format(folder, first.pid))), kept_unless_mistaken(run):
        run.begin({"seed": 0})
    run.end()  # which is not ours to delete
    assert sorted(path.name for path in folder.iterdir()) == before
    first.communicate("done\n")
    assert first.returncode == 0
    assert not folder.exists()
    run.begin({"seed": 1})
    run.end()
    assert not folder.exists()


def test_what_a_killed_process_has_left_is_taken_up_at_once(holding, tmp_path):
    first = holding(tmp_path / "work")
    first.send_signal(signal.SIGKILL)
    assert first.wait() == -signal.SIGKILL
    run = Checkpoint(tmp_path / "work")
    run.begin({"seed": 0})
    run.end()
    assert not (tmp_path / "work").exists()


def test_the_command_says_in_one_line_which_folder_is_in_use(holding, tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pool.csv").write_text("a\n" + "\n".join(str(7 * i % 50) for i in range(50)))
    first = holding("work/picks")
    command = ["select", "pool.csv", "-b", "5", "--max-memory", "3GB"]
    assert main([*command, "--checkpoint", "work"]) == 2
    printed = capfd.readouterr().err.splitlines()[-1]
    assert printed == f"mheal: {AT_WORK.format('work/picks', first.pid)}"
    assert (tmp_path / "work" / "picks" / "manifest.json").exists()
    assert main([*command, "--checkpoint", "other"]) == 0
    assert not (tmp_path / "other").exists()


def test_a_run_that_was_stopped_leaves_its_stages_and_no_lock(tmp_path):
    run = Checkpoint(tmp_path)
    run.begin({"seed": 0})
    assert (tmp_path / LOCK).exists()
    with pytest.raises(KeyboardInterrupt), kept_unless_mistaken(run):
        raise KeyboardInterrupt
    assert os.listdir(tmp_path) == ["manifest.json"]


def test_a_lock_on_a_file_that_its_owner_deletes_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    first, second, third = (Lock(tmp_path) for _ in range(3))
    first.take()
    flock = files.fcntl.flock

    def late(file, how):  # the second has opened the file, and the first goes
        first.drop()
        flock(file, how)

    monkeypatch.setattr(files.fcntl, "flock", late)
    second.take()
    with pytest.raises(OtherRun):
        third.take()
    second.drop()
    assert not os.listdir(tmp_path)


def test_systems_and_disks_without_locks_do_without(tmp_path, monkeypatch):
    def unknown(file, how):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(files.fcntl, "flock", unknown)
    disk = Checkpoint(tmp_path / "disk")
    disk.begin({})
    disk.end()
    assert not (tmp_path / "disk").exists()
    monkeypatch.setattr(files, "fcntl", None)
    system = Checkpoint(tmp_path / "system")
    system.begin({})
    assert os.listdir(tmp_path / "system") == ["manifest.json"]
    system.end()
    assert not (tmp_path / "system").exists()


def test_two_runs_in_one_folder_are_refused_and_an_empty_folder_is_not_left(holding, tmp_path):
    first = holding(tmp_path / "out")
    at_work = re.escape(AT_WORK.format(tmp_path / "out", first.pid))
    with pytest.raises(OtherRun, match=at_work), Lock(tmp_path / "out"):
        raise AssertionError
    assert (tmp_path / "out").exists()
    with Lock(tmp_path / "deep" / "new"):
        assert (tmp_path / "deep" / "new").is_dir()
    assert not (tmp_path / "deep" / "new").exists()
    (tmp_path / "file").touch()
    with pytest.raises(UserFileError, match="file' is a file, not a folder"), Lock(tmp_path / "file"):
        raise AssertionError
