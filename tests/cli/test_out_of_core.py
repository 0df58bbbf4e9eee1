"""`mheal select --max-memory`: pools larger than memory, runs that are stopped and taken up again."""

import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
import pytest

import mheal
from mheal.cli import main
from mheal.cli.console import size
from mheal.cli.cost import needed, refuse_small_limit
from mheal.cli.options import parse_size
from mheal.runtime.checkpoint import Checkpoint

LIMIT = "--max-memory 3GB"


def run(line):
    return main(shlex.split(line))


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """pool.npy, and the same rows with ids in shards of Parquet; we are beside them."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((5000, 8)).astype(np.float32)
    np.save("pool.npy", X)
    for at, rows in enumerate(np.split(np.arange(5000), [2000, 4500])):
        columns = {f"c{t}": X[rows, t] for t in range(8)}
        pl.DataFrame({"id": [f"r{row}" for row in rows], **columns}).write_parquet(f"shard{at}.parquet")
    return tmp_path


@pytest.fixture
def streaming(monkeypatch):
    monkeypatch.setattr("mheal.io.shards.expected_shape", lambda files: (2**30, 2**10))


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
    """Run a command that is killed when it has stored so many stages, or a stage of that name; returns their names."""

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


@pytest.mark.parametrize("form", ["csv", "jsonl", "npz", "xlsx", "txt", "npy"])
def test_files_that_are_read_as_a_whole_are_refused_before_they_are_read(form, pool, monkeypatch, capfd):
    if form == "npz":
        np.savez_compressed("large.npz", X=np.zeros((2_000_000, 10)))  # 160 MB in less than one
    elif form == "xlsx":
        with ZipFile("large.xlsx", "w", ZIP_DEFLATED) as book:
            book.writestr("xl/worksheets/sheet1.xml", bytes(30_000_000))
    elif form == "npy":
        for at in range(2):
            np.lib.format.open_memmap(f"large{at}.npy", "w+", np.float32, (1_000_000, 20))  # on disk without content
    elif form == "txt":
        Path("large.txt").write_text("a text of some words\n" * 200_000)
    else:
        table = pl.DataFrame(np.zeros((400_000, 9), int), [f"c{at}" for at in range(9)])
        {"csv": table.write_csv, "jsonl": table.write_ndjson}[form](f"large.{form}")
    monkeypatch.setattr("mheal.runtime.memory.resident", lambda: 100_000_000)
    monkeypatch.setattr("mheal.cli.pick.read_with_labels", _killed)
    assert run(f"select 'large*.{form}' -b 5 --max-memory 200MB") == 2
    assert re.search("reading .* takes about .*: raise --max-memory to", capfd.readouterr().err)


def test_a_limit_that_is_too_small_is_refused_before_anything_is_written(pool, streaming, monkeypatch, capfd):
    before = sorted(pool.iterdir())
    monkeypatch.setattr(Checkpoint, "begin", _killed)
    assert run("select 'shard*.parquet' -b 5 --max-memory 10MB") == 2
    assert "mheal: picking from 5,000 rows takes about" in capfd.readouterr().err
    assert sorted(pool.iterdir()) == before


def test_a_limit_that_is_too_small_leaves_what_was_streamed_before(pool, streaming, killed):
    killed(f"select 'shard*.parquet' -b 30 {LIMIT}", "clusters")
    streamed = pool / "picks.csv.unfinished" / "pool" / "pool.npy"
    assert streamed.exists()
    assert run("select 'shard*.parquet' -b 30 --max-memory 10MB") == 2
    assert streamed.exists()


def test_a_limit_is_refused_if_no_type_of_number_would_fit_and_the_one_named_fits_all():
    shape = (10_000_000, 64)
    small, large = (needed(shape, dtype, mapped=True) for dtype in (np.float32, np.float64))
    assert small < large
    refuse_small_limit(small, 0, shape, np.float64, np.float32, mapped=True)
    with pytest.raises(ValueError, match=f"10,000,000 rows takes about {size(large)}: raise --max-memory to "):
        refuse_small_limit(small - 1, 0, shape, np.float64, np.float32, mapped=True)
    with pytest.raises(ValueError, match="raise --max-memory"):
        refuse_small_limit(large, 1, shape, np.float64, mapped=True)


@pytest.mark.parametrize("present", [240_000_000, 999_000_000])
def test_the_limit_that_is_named_is_at_least_a_tenth_above_what_is_needed(present):
    for rows in range(11_000_000, 11_100_000, 9_001):
        shape = (rows, 64)
        with pytest.raises(ValueError, match="raise --max-memory") as refused:
            refuse_small_limit(1, present, shape, np.float32, mapped=True)
        total = present + needed(shape, np.float32, mapped=True)
        assert 1.1 * total - 1 <= parse_size(named(str(refused.value))) <= 1.1 * total + 1e8


def named(said):
    """The limit that a refusal asks for."""
    return re.search(r"raise --max-memory to (\S+)$", said.strip())[1]


@pytest.mark.parametrize("source", ["pool.npy", "'shard*.parquet'"])
def test_the_limit_that_is_named_is_enough_though_a_little_more_is_in_memory_then(source, pool, monkeypatch, capfd):
    line = f"select {source} -b 5 --strategy random --max-memory"
    monkeypatch.setattr("mheal.runtime.memory.resident", lambda: 240_000_000)
    assert run(f"{line} 10MB") == 2
    monkeypatch.setattr("mheal.runtime.memory.resident", lambda: 260_000_000)
    assert run(f"{line} {named(capfd.readouterr().err)}") == 0


def test_the_limit_that_is_named_is_enough_though_reading_as_a_whole_leaves_memory_taken(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    X = np.random.default_rng(0).standard_normal((1_000_000, 3))
    table = pl.DataFrame(X).insert_column(0, pl.Series("id", [f"r{row}" for row in range(len(X))]))
    for at, part in enumerate(table.iter_slices(400_000)):
        part.write_parquet(f"shard{at}.parquet")
    line = [sys.executable, "-m", "mheal", *shlex.split("select 'shard*' -b 5 --strategy random --max-memory")]
    refused = subprocess.run([*line, "10MB"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    obeyed = subprocess.run([*line, named(refused.stderr)], capture_output=True, text=True, check=False)
    assert obeyed.returncode == 0, obeyed.stderr


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


PEAK = (
    "import sys; from mheal.cli import main; status = main(sys.argv[1:]); "
    "print(*(line.split()[1] for line in open('/proc/self/status') if line.startswith('VmHWM'))); sys.exit(status)"
)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say how much memory is used")
@pytest.mark.slow
@pytest.mark.parametrize("form", ["ints.csv", "words.csv", "ints.jsonl", "ints.npz"])
def test_files_that_are_read_as_a_whole_are_refused_or_stay_below_the_limit(form, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    rng, rows = np.random.default_rng(0), 600_000
    table = pl.DataFrame({f"c{at}": rng.integers(10, size=rows) for at in range(8)})
    if form == "words.csv":
        words = pl.Series(["red", "green", "blue", "a longer word"])
        table = table.select("c0", *(words[rng.integers(4, size=rows)].alias(f"w{at}") for at in range(3)))
    if form == "ints.npz":
        np.savez_compressed(form, X=table.to_numpy())
    else:
        (table.write_csv if form.endswith("csv") else table.write_ndjson)(form)
    command = [sys.executable, "-c", PEAK, *shlex.split(f"select {form} -b 3 --strategy random --max-memory")]
    refused = subprocess.run([*command, "10MB"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    limit = re.search(r"reading .* takes about .*: raise --max-memory to (\w+)", refused.stderr)[1]
    obeyed = subprocess.run([*command, limit], capture_output=True, text=True, check=False)
    if obeyed.returncode == 2:  # picking takes more than reading
        limit = named(obeyed.stderr)
        obeyed = subprocess.run([*command, limit], capture_output=True, text=True, check=False)
    assert obeyed.returncode == 0, obeyed.stderr
    assert int(obeyed.stdout) * 1024 < parse_size(limit)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say how much memory is used")
@pytest.mark.parametrize("labels", ["", "--labeled labels.csv"])
def test_the_limit_that_is_named_is_kept(labels, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")
    A = np.lib.format.open_memmap("pool.npy", "w+", np.float32, (600_000, 256))  # 614 MB
    for lo in range(0, len(A), 50_000):
        A[lo : lo + 50_000] = np.random.default_rng(lo).standard_normal((50_000, 256), np.float32)
    del A
    pl.DataFrame({"row": range(100), "label": [0, 1] * 50}).write_csv("labels.csv")
    command = [sys.executable, "-c", PEAK, *shlex.split(f"select pool.npy -b 20 {labels} --max-memory")]
    limit = named(subprocess.run([*command, "10MB"], capture_output=True, text=True, check=False).stderr)
    peak = subprocess.run([*command, limit], capture_output=True, text=True, check=True).stdout
    assert int(peak) * 1024 < parse_size(limit)
