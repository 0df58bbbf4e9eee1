"""Where mheal runs: terminals of another encoding, file names that are not UTF-8, folders that cannot be written."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image

import mheal as package
from mheal import Selection


def mheal(*words, cwd, **changes):
    env = {name: value for name, value in os.environ.items() if not name.startswith("LC_")} | changes
    return subprocess.run([sys.executable, "-m", "mheal", *words], cwd=cwd, env=env, capture_output=True, check=False)


@pytest.fixture
def strange(tmp_path):
    """A folder with a pool and a folder of images whose names are bytes in Latin-1, not UTF-8."""
    rng = np.random.default_rng(0)
    try:
        (tmp_path / os.fsdecode(b"caf\xe9.csv")).write_text(
            "a,b\n" + "\n".join(f"{i / 7},{i * i % 17}" for i in range(50))
        )
    except OSError:
        pytest.skip("file names are always UTF-8 here")
    (tmp_path / "images").mkdir()
    for at in range(13):
        name = os.fsdecode(b"images/%d%s.png" % (at, b"\xe9" * (at == 12)))
        Image.fromarray(rng.integers(255, size=(9, 9, 3)).astype(np.uint8)).save((tmp_path / name).open("wb"), "PNG")
    return tmp_path


@pytest.mark.skipif(os.name != "posix", reason="names of files are bytes on Unix only")
def test_names_that_are_not_utf8_are_read_or_said(strange):
    done = mheal("select", os.fsdecode(b"caf\xe9.csv"), "-b", "4", "-o", os.fsdecode(b"picks\xe9.csv"), cwd=strange)
    assert (done.returncode, done.stdout) == (0, b"")
    assert len(pl.read_csv((strange / os.fsdecode(b"picks\xe9.csv")).read_bytes())) == 4
    done = mheal("select", "images", "-b", "4", "-o", "some.csv", cwd=strange)
    assert done.returncode == 0, done.stderr
    assert b"12\\udce9.png" in done.stderr
    assert set(pl.read_csv(strange / "some.csv")["id"]) < {f"{at}.png" for at in range(12)}
    os.rename(strange / "some.csv", strange / os.fsdecode(b"caf\xe9.parquet"))
    done = mheal("select", os.fsdecode(b"caf\xe9.parquet"), "-b", "4", cwd=strange)
    assert done.returncode == 2
    assert b"rename it" in done.stderr


@pytest.mark.slow
def test_everything_is_printed_where_the_terminal_is_cp1252(desk):
    for line in (
        "select digits.csv -b 20 -o picks.csv",
        "select texts.txt -b 5 -o -",
        "compare digits.csv -t label --budgets 10,20 --seeds 2",
        "plan digits.csv --labeled labels.csv --target-accuracy 0.9",
        "strategies",
        "select no-such-file.csv -b 3",
        "select --help",
    ):
        done = mheal(*line.split(), cwd=desk, PYTHONIOENCODING="cp1252", PYTHONUTF8="0", LANG="C", LC_ALL="C")
        said = (done.stdout + done.stderr).decode("cp1252" if "-o -" not in line else "utf-8")
        assert done.returncode == (2 if "no-such" in line else 0), said
        assert "Traceback" not in said
        assert said


NEITHER = """
import os, sys
def refuse(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        if not os.path.abspath(arguments[0]).startswith((os.environ["ALLOWED"], "/dev/", "/proc/")):
            raise PermissionError(13, "Permission denied", arguments[0])
    if event == "os.mkdir" and not os.path.abspath(arguments[0]).startswith(os.environ["ALLOWED"]):
        raise PermissionError(13, "Permission denied", arguments[0])
sys.addaudithook(refuse)  # root may write everywhere
sys.path.insert(0, sys.argv.pop(1))
from mheal.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_an_install_that_cannot_be_written_picks_the_same(desk, tmp_path_factory):
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(Path(package.__file__).parent, site / "mheal", ignore=shutil.ignore_patterns("__pycache__"))
    home = tmp_path_factory.mktemp("home")
    for folder in (site, home):
        folder.chmod(0o555)
    temporary = desk / "tmp"
    temporary.mkdir()
    env = {**os.environ, "HOME": str(home), "ALLOWED": str(desk), "TMPDIR": str(temporary), "PYTHONPATH": ""}
    env.pop("NUMBA_CACHE_DIR", None)
    for out in ("one.csv", "two.csv"):
        line = ["select", "digits.csv", "-b", "20", "-o", out]
        command = [sys.executable, "-c", NEITHER, str(site), *line]
        done = subprocess.run(command, cwd=desk, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
    assert list(temporary.glob("mheal-numba-*"))
    assert not list(home.iterdir())
    assert mheal("select", "digits.csv", "-b", "20", "-o", "usual.csv", cwd=desk).returncode == 0
    assert Selection.load(desk / "one.csv") == Selection.load(desk / "two.csv") == Selection.load(desk / "usual.csv")
