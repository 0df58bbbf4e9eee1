import csv
import os
import re
import subprocess
import sys
from importlib import import_module

import pytest

import mheal
from mheal.cli import HELP, main
from mheal.cli.demo import demo
from mheal.cli.options import POOL

HEAVY = {"torch", "dask", "matplotlib", "polars", "starlette", "uvicorn"}
COMMANDS = (
    *("select", "label", "compare", "plan", "embed", "strategies"),
    *("datasets", "datasets list", "datasets get", "demo"),
)
SLOW = {"numpy", "scipy", "sklearn", "numba", *HEAVY}


def python(*args):
    return subprocess.run([sys.executable, *args], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("line", ["--help", *(f"{name} -h" for name in COMMANDS)])
def test_help_answers_at_once_since_it_loads_nothing_slow(line):
    code = f"import sys; from mheal.cli import main; main({line.split()}); print('loaded', *sys.modules)"
    shown, _, loaded = python("-c", code).rpartition("loaded")
    assert "Usage: mheal" in shown
    assert "Example: mheal" in shown or line == "--help"
    assert not SLOW & set(loaded.split())


def test_the_forms_of_a_pool_are_named_alike():
    forms = ".npy, .npz, .csv, .tsv, .xlsx, .parquet, .jsonl or .txt file"
    assert forms in HELP
    assert forms in POOL.help


@pytest.mark.parametrize("code", ["import mheal", "import mheal.cli", "import mheal; mheal.MHEAL; mheal.select"])
def test_import_leaves_heavy_packages_alone(code):
    loaded = python("-c", f"{code}; import sys; print(*sys.modules)").split()
    assert not HEAVY & set(loaded)


def test_demo_writes_its_files(tmp_path, capsys):
    out = tmp_path / "new" / "demo"
    assert main(["demo", "--out", str(out), "--seeds", "2", "--budget", "30"]) == 0
    assert sorted(p.name for p in out.iterdir()) == ["curves.png", "demo.mheal.json", "picks.png", "runs.csv"]
    with (out / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * 2 * 3  # strategies, seeds, budgets 10, 20 and 30
    assert all(0 < float(row["accuracy"]) <= 1 for row in rows)
    shown = capsys.readouterr().out
    assert all(name in shown for name in ("mheal", "random", "k-center", "MHEAL (paper)"))
    assert "\x1b" not in shown  # no colours and no bar in a file


def test_the_demo_leaves_a_folder_demo_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    committed = tmp_path / "demo" / "curves.png"
    committed.parent.mkdir()
    committed.write_bytes(b"of a clone")
    assert main(["demo", "--seeds", "1", "--budget", "10", "--quiet"]) == 0
    assert committed.read_bytes() == b"of a clone"
    assert (tmp_path / "mheal-demo" / "curves.png").exists()


def test_demo_can_be_quiet_and_starts_from_any_seed(tmp_path, capsys):
    for seed in ("0", "5"):
        line = ["demo", "--out", str(tmp_path / seed), "--seeds", "1", "--seed", seed, "--budget", "10", "--quiet"]
        assert main(line) == 0
        with (tmp_path / seed / "runs.csv").open() as file:
            assert {row["seed"] for row in csv.DictReader(file)} == {seed}
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

    monkeypatch.setattr(import_module("mheal.evaluate.digits"), "run", interrupted)
    assert main(["demo", "--out", str(tmp_path)]) == 130


@pytest.mark.parametrize("error", [kind("a fault of ours") for kind in (ValueError, OSError, KeyError)])
def test_any_other_error_is_a_bug_and_says_how_to_report_it(error, monkeypatch, tmp_path, capsys):
    def broken(*args, **kwargs):
        raise error

    monkeypatch.setattr(import_module("mheal.evaluate.digits"), "run", broken)
    assert main(["demo", "--out", str(tmp_path)]) == 1
    err = capsys.readouterr().err
    assert "bug" in err
    assert "a fault of ours" in err
    assert f"mheal demo --out {tmp_path}" in err
    assert mheal.__version__ in err
    assert "--debug" in err
    assert "Traceback" not in err
    assert main(["demo", "--out", str(tmp_path), "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err


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
def test_examples_of_the_demo_work_as_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = re.findall(r"Example: mheal (.+)", demo.__doc__)
    assert examples
    for example in examples:
        assert main(example.split()) == 0
    assert (tmp_path / "mheal-demo" / "curves.png").exists()
    assert (tmp_path / "digits.csv").exists()


def test_example_files_never_replace_others(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--files", "-q"]) == 0
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["digits.csv", "digits.npy", "images", "labels.csv", "proba.npy", "texts.txt"]
    (tmp_path / "labels.csv").unlink()
    assert main(["demo", "--files", "-q"]) == 0  # what is there is what would be written
    assert (tmp_path / "labels.csv").exists()
    (tmp_path / "texts.txt").write_text("mine")
    (tmp_path / "proba.npy").unlink()
    assert main(["demo", "--files", "-q"]) == 2
    assert_one_line(capsys, "texts.txt")
    assert (tmp_path / "texts.txt").read_text() == "mine"
    assert not (tmp_path / "proba.npy").exists()


def test_an_eof_error_is_a_bug_and_not_ctrl_c(monkeypatch, capsys):
    def broken(*_):
        raise EOFError

    monkeypatch.setattr("mheal.cli.lists.show_list", broken)
    assert main(["strategies"]) == 1
    assert "EOFError" in capsys.readouterr().err
