"""A Parquet file that makes Polars panic: one line on stderr. What else is written there is not lost."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

from mheal.exceptions import UserError
from mheal.io.read import read_pool
from mheal.runtime.files import reading

DAMAGED = Path(__file__).parents[1] / "fuzz" / "corpus" / "pool-parquet.panic.parquet"


def panic(message):
    return type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})(message)


def test_the_file_makes_polars_panic():
    code = f"import polars; polars.read_parquet({str(DAMAGED)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "panicked at" in done.stderr
    assert "PanicException" in done.stderr


def test_the_command_prints_one_line():
    command = [sys.executable, "-m", "mheal", "select", str(DAMAGED), "--budget", "3", "--out", "-"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"cannot read {DAMAGED.name}" in done.stderr


def test_stderr_is_there_again_after_a_panic(capfd):
    with pytest.raises(UserError, match="cannot read"):
        read_pool(DAMAGED)
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "afterwards\n"


def test_what_is_written_meanwhile_follows(tmp_path, capfd):
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "good.parquet")
    with reading(tmp_path / "good.parquet"):
        os.write(2, b"beside\n")
        read_pool(tmp_path / "good.parquet")
        assert capfd.readouterr().err == ""
    assert capfd.readouterr().err == "beside\n"
    with suppress(LookupError), reading(tmp_path / "good.parquet"):
        os.write(2, b"kept\n")
        raise LookupError
    assert capfd.readouterr().err == "kept\n"


def test_threads_that_read_at_the_same_time(capfd):
    def read(at):
        with suppress(UserError), reading(f"{at}.parquet"):
            os.write(2, b"thread 'a' panicked at b.rs\n")
            raise panic("index out of bounds")

    fds = Path("/proc/self/fd")
    before = len(list(fds.glob("*")))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(read, range(200)))
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "afterwards\n"
    assert len(list(fds.glob("*"))) == before


def test_without_stderr_files_are_read(tmp_path):
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "good.parquet")
    code = f"""
import os, sys
os.close(2)
sys.stderr = None
from mheal.io.read import read_pool
print(len(read_pool({str(tmp_path / "good.parquet")!r}).X))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "2\n"


def test_an_abort_while_stderr_is_held_back_is_one_line():
    code = """
import os
from mheal.runtime.files import reading
from mheal.runtime.native import exit_on_native_errors
with exit_on_native_errors(7), reading("a.parquet"):
    os.abort()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 7
    assert done.stderr.startswith("mheal: a library aborted")
