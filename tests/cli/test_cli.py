import csv
import os
import re
import statistics
import subprocess
import sys
import time

import pytest

import mheal
from mheal.cli import main
from mheal.cli.demo import demo

HEAVY = {"torch", "dask", "matplotlib", "polars", "starlette", "uvicorn"}


def python(*args):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True).stdout


def test_help_answers_within_a_second():
    def seconds():
        start = time.perf_counter()
        assert "demo" in python("-m", "mheal", "--help")
        return time.perf_counter() - start

    assert statistics.median(seconds() for _ in range(3)) < 1


@pytest.mark.parametrize("code", ["import mheal", "import mheal.cli", "import mheal; mheal.MHEAL; mheal.select"])
def test_import_leaves_heavy_packages_alone(code):
    loaded = python("-c", f"{code}; import sys; print(*sys.modules)").split()
    assert not HEAVY & set(loaded)


def test_import_costs_little_over_scikit_learn():
    code = "import sklearn.base, time; t = time.perf_counter(); import mheal; print(time.perf_counter() - t)"
    assert min(float(python("-c", code)) for _ in range(3)) <= 0.3


def test_demo_writes_its_files(tmp_path, capsys):
    out = tmp_path / "new" / "demo"
    assert main(["demo", "--out", str(out), "--seeds", "2", "--budget", "30"]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["curves.png", "picks.png", "runs.csv"]
    with (out / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 2 * 3  # strategies, seeds, budgets 10, 20 and 30
    assert all(0 < float(row["accuracy"]) <= 1 for row in rows)
    shown = capsys.readouterr().out
    assert "paper's mode" in shown
    assert "labels MHEAL" in shown
    assert "\x1b" not in shown  # no colours and no bar in a file


def test_demo_can_be_quiet(tmp_path, capsys):
    assert main(["demo", "--out", str(tmp_path), "--seeds", "1", "--budget", "10", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["demo", "--budgit", "5"], "--budgit"),
        (["demo", "--budget", "many"], "--budget"),
        (["demo", "--budget", "5"], "--budget"),
        (["nonsense"], "nonsense"),
    ],
)
def test_bad_option_is_one_line_and_exit_2(args, words, capsys):
    assert main(args) == 2
    assert_one_line(capsys, words)


def test_users_mistake_is_one_line_and_exit_2(tmp_path, capsys):
    (tmp_path / "taken").write_text("a file, not a folder")
    assert main(["demo", "--out", str(tmp_path / "taken")]) == 2
    assert_one_line(capsys, "taken")
    assert main(["demo", "--out", str(tmp_path), "--budget", "5000", "--seeds", "1"]) == 2
    assert_one_line(capsys, "5000")


def test_debug_shows_the_traceback_wherever_it_stands(tmp_path, capsys):
    (tmp_path / "taken").touch()
    for args in (["--debug", "demo"], ["demo", "--debug"]):
        assert main([*args, "--out", str(tmp_path / "taken")]) == 2
        assert "Traceback" in capsys.readouterr().err


def test_interrupt_is_130(monkeypatch, tmp_path):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("mheal.cli._digits.run", interrupted)
    assert main(["demo", "--out", str(tmp_path)]) == 130


def test_version_and_bare_call(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"mheal {mheal.__version__}\n"
    assert main([]) == 0
    assert "Usage: mheal" in capsys.readouterr().out


def assert_one_line(capsys, words):
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mheal: ")
    assert err.count("\n") == 1
    assert words in err


def test_no_color_is_honoured():
    def shown(**changes):
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
        line = [sys.executable, "-m", "mheal", "--help"]
        environment |= {"TERM": "xterm-256color", **changes}
        return subprocess.run(line, capture_output=True, text=True, check=True, env=environment).stdout

    colour = re.compile(r"\x1b\[[0-9;]*(?:3[0-7]|9[0-7])m")
    assert colour.search(shown(FORCE_COLOR="1"))
    assert not colour.search(shown(FORCE_COLOR="1", NO_COLOR="1"))
    assert "\x1b" not in shown()  # not a terminal


@pytest.mark.slow
def test_example_of_the_demo_works_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (example,) = re.findall(r"Example: mheal (.+)", demo.__doc__)
    assert main(example.split()) == 0
    assert (tmp_path / "demo" / "curves.png").exists()
