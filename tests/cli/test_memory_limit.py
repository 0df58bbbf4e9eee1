"""`--max-memory`: pools that are refused, the limit that the error names, and a check that the limit is kept."""

import re
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import polars as pl
import pytest

from commands import run
from mheal.cli.console import size
from mheal.cli.cost import needed, refuse_small_limit
from mheal.cli.options import parse_size
from mheal.runtime.checkpoint import Checkpoint


class Killed(BaseException):
    pass


def _killed(*_, **__):
    raise Killed


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
