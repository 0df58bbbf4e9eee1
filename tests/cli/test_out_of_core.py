"""`mheal select --max-memory`: pools larger than memory, runs that are stopped and resumed."""

import shlex
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pytest

import mheal
from commands import run
from mheal.runtime.checkpoint import Checkpoint

LIMIT = "--max-memory 3GB"


@pytest.mark.parametrize("strategy", ["mheal", "mheal-paper", "random"])
def test_a_limit_changes_no_pick_and_leaves_nothing_behind(strategy, pool, streaming, capfd):
    assert run(f"select pool.npy -b 60 --strategy {strategy} -o plain.csv") == 0
    before = {path.name for path in pool.iterdir()}
    assert run(f"select pool.npy -b 60 --strategy {strategy} {LIMIT} -o within.csv") == 0
    assert run(f"select 'shard*.parquet' -b 60 --strategy {strategy} {LIMIT} -o shards.csv") == 0
    made = {path.name for path in pool.iterdir()} - before
    assert made == {f"{name}.csv{record}" for name in ("within", "shards") for record in ("", ".mheal.json")}
    plain, within, table = (pl.read_csv(f"{name}.csv") for name in ("plain", "within", "shards"))
    assert within.equals(plain)
    assert table.select(plain.columns).equals(plain)
    X = np.load("pool.npy")
    cells = table.select(f"c{t}" for t in range(8)).to_numpy()
    np.testing.assert_array_equal(cells.astype(np.float32), X[table["row"]])
    assert table.columns[-1] == "label"
    assert table["id"].to_list() == [f"r{row}" for row in table["row"]]
    assert "c6, c7); ids: id, from 3 shards" in capfd.readouterr().err


class Killed(BaseException):
    pass


@pytest.fixture
def killed(monkeypatch):
    """Run a command, kill it after a number of stages or after the stage with a name, and return the stages stored."""

    def run_until(line, stop):
        stored, save = [], Checkpoint._save

        def stopping(checkpoint, name, arrays):
            save(checkpoint, name, arrays)
            stored.append(name)
            if stop in (len(stored), name):
                raise Killed

        with monkeypatch.context() as patched:
            patched.setattr(Checkpoint, "_save", stopping)
            with pytest.raises(Killed):
                run(line)
        return stored

    return run_until


@pytest.mark.parametrize("source", ["pool.npy", "'shard*.parquet'"])
@pytest.mark.parametrize("stop", [1, 3, 5])
def test_a_stopped_command_resumes_when_repeated(source, stop, pool, streaming, killed, monkeypatch):
    line = f"select {source} -b 300 {LIMIT}"
    before, after, save = killed(line, stop), [], Checkpoint._save
    assert not (pool / "picks.csv").exists()
    assert (pool / "picks.csv.unfinished").is_dir()
    monkeypatch.setattr(Checkpoint, "_save", lambda self, name, arrays: (after.append(name), save(self, name, arrays)))
    assert run(line) == 0
    assert not set(before) & set(after)  # no stage twice
    assert not (pool / "picks.csv.unfinished").exists()
    assert run("select pool.npy -b 300 -o plain.csv") == 0
    assert mheal.Selection.load("picks.csv") == mheal.Selection.load("plain.csv")


@pytest.mark.parametrize("limit", [LIMIT, ""], ids=["limited", "not limited"])
def test_another_run_in_the_folder_is_refused(limit, pool, killed, capfd):
    killed(f"select pool.npy -b 60 {limit} --checkpoint work", 1)
    assert run(f"select pool.npy -b 61 {limit} --checkpoint work") == 2
    assert "holds an unfinished run with another" in capfd.readouterr().err
    assert run(f"select pool.npy -b 60 {limit} --checkpoint work") == 0
    assert not (pool / "work").exists()


def _killed(*_, **__):
    raise Killed


def test_a_mistake_leaves_no_folder(pool, streaming, capfd):
    for line in ("select pool.npy -b 5001", "select pool.npy -b 5 --clusters 6000", "select 'shard*' -b 9 --id nobody"):
        assert run(f"{line} {LIMIT}") == 2
        assert not (pool / "picks.csv.unfinished").exists()


def test_ctrl_c_says_where_the_run_can_be_resumed(pool, monkeypatch, capfd):
    save = Checkpoint._save

    def interrupted(*stage):
        save(*stage)
        raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "_save", interrupted)
    assert run(f"select pool.npy -b 60 {LIMIT}") == 130
    assert "picks.csv.unfinished" in capfd.readouterr().err


def test_a_limit_that_is_too_small_leaves_what_was_streamed_before(pool, streaming, killed):
    killed(f"select 'shard*.parquet' -b 30 {LIMIT}", "clusters")
    streamed = pool / "picks.csv.unfinished" / "pool" / "pool.npy"
    assert streamed.exists()
    assert run("select 'shard*.parquet' -b 30 --max-memory 10MB") == 2
    assert streamed.exists()


@pytest.mark.parametrize("place", ["mheal.api.select", "mheal.io.write.picks_frame", "mheal.cli.run.render"])
def test_a_command_stopped_at_any_step_unlocks_what_it_streamed(place, pool, streaming, monkeypatch):
    line = f"select 'shard*.parquet' -b 30 {LIMIT}"
    with monkeypatch.context() as patched:
        patched.setattr(place, _killed)
        with pytest.raises(Killed) as stopped:
            run(line)
    assert run(line) == 0
    assert stopped.value.__traceback__  # which still refers to the first run
    assert not (pool / "picks.csv.unfinished").exists()


def test_a_command_that_is_killed_outright_resumes_when_repeated(pool):
    command = [sys.executable, "-m", "mheal", "select", "pool.npy", "-b", "1000", "-q", *shlex.split(LIMIT)]
    process = subprocess.Popen(command)
    stages = pool / "picks.csv.unfinished" / "picks"
    while not (stages / "clusters.npz").exists() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert (stages / "clusters.npz").exists()
    assert not (pool / "picks.csv").exists()
    assert subprocess.run(command, check=False).returncode == 0
    assert not stages.parent.exists()
    assert run("select pool.npy -b 1000 -o plain.csv") == 0
    assert mheal.Selection.load("picks.csv") == mheal.Selection.load("plain.csv")


def test_other_folders_and_other_runs_are_left_alone(pool):
    (pool / "work" / "picks").mkdir(parents=True)
    (pool / "work" / "picks" / "precious.txt").write_text("mine")
    assert run("select pool.npy -b 5 --checkpoint work") == 2
    assert run(f"select pool.npy -b 5 {LIMIT} --checkpoint work") == 2
    assert (pool / "work" / "picks" / "precious.txt").read_text() == "mine"
    (pool / "picks.csv.unfinished" / "pool").mkdir(parents=True)
    (pool / "picks.csv.unfinished" / "pool" / "manifest.json").write_text("{}")
    assert run("select pool.npy -b 5") == 0
    assert (pool / "picks.csv.unfinished" / "pool" / "manifest.json").exists()


def test_a_mistyped_command_does_not_delete_what_is_finished(pool, streaming, killed, capfd):
    killed(f"select 'shard*.parquet' -b 30 {LIMIT}", "shard 2")
    assert run(f"select 'shard*.parquet' -b 30 {LIMIT} --columns c0,typo") == 2
    assert "has no column 'typo'" in capfd.readouterr().err
    assert (pool / "picks.csv.unfinished" / "pool" / "shard 2.npz").exists()


def test_kept_picks_of_streamed_shards_go_by_their_ids(pool, streaming):
    assert run("select shard2.parquet -b 20 -o first.csv") == 0
    assert run(f"select 'shard*.parquet' -b 40 --keep first.csv {LIMIT} -o more.csv") == 0
    first, more = pl.read_csv("first.csv"), pl.read_csv("more.csv")
    assert more["id"].to_list()[:20] == first["id"].to_list()
    assert more["row"].to_list()[:20] == [row + 4500 for row in first["row"]]


def test_a_file_that_has_changed_since_is_not_resumed(pool, killed, capfd):
    killed(f"select pool.npy -b 60 {LIMIT}", 1)
    np.save("pool.npy", np.load("pool.npy"))  # the same numbers, at another time
    assert run(f"select pool.npy -b 60 {LIMIT}") == 2
    assert "another pool" in capfd.readouterr().err


def test_without_a_limit_nothing_is_done_to_save_memory(pool, monkeypatch):
    monkeypatch.setattr("mheal.runtime.memory.MemoryLimit.__init__", _killed)
    monkeypatch.setattr("mheal.runtime.checkpoint.Checkpoint.__init__", _killed)
    assert run("select pool.npy -b 60") == 0


def test_a_column_of_shards_that_equals_the_labels_is_no_feature(pool, streaming, killed, capfd):
    for at in range(3):  # `answer` holds the labels, under a name of its own
        shard = pl.read_parquet(f"shard{at}.parquet")
        shard.with_columns(verdict=pl.col("c0").gt(0).cast(pl.Int64)).write_parquet(f"with{at}.parquet")
    both = pl.scan_parquet("with*.parquet").select("id", label="verdict").collect()
    both[::50].write_csv("labels.csv")
    line = f"-b 30 --labeled labels.csv {LIMIT}"
    assert run(f"select 'shard*.parquet' {line} -o without.csv") == 0
    killed(f"select 'with*.parquet' {line}", "clusters")  # the same columns are features of the run that resumes
    assert run(f"select 'with*.parquet' {line}") == 0
    assert "verdict (holds labels)" in capfd.readouterr().err
    assert "verdict" not in pl.read_csv("picks.csv").columns
    assert mheal.Selection.load("picks.csv") == mheal.Selection.load("without.csv")
    assert run(f"select 'with*.parquet' {line} --with verdict -o also.csv") == 0
    assert "verdict); ids" in capfd.readouterr().err
