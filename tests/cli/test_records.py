"""Records of runs: what --rerun repeats, what it refuses, and what it takes from the command line."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from commands import run

RECORD = "picks.csv.mheal.json"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def recorded(desk, **changes):
    """A record of five picks, some entries of which are changed."""
    assert run("select digits.npy -b 5 -q --force") == 0
    record = json.loads((desk / RECORD).read_text())
    for path, value in changes.items():
        *into, last = path.split("__")
        place = record
        for name in into:
            place = place[name]
        place[last] = value
    (desk / RECORD).write_text(json.dumps(record))
    return contents(desk)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("parameters__scheduler", "tcp://evil.example:8786", "--scheduler"),
        ("cluster", True, "--scheduler"),
        ("parameters__estimator", "antigravity:geohash", "--estimator"),
        ("parameters__embed", "timm:evil/model", "--embed"),
        ("parameters__pool", "../secret.npy", "outside its folder"),
        ("parameters__labeled", ["/etc/hostname"], "outside its folder"),
        ("parameters__labeled", "labels.csv", "(labeled)"),
        ("parameters__labeled", 5, "(labeled)"),
        ("parameters__labeled", ["labels.csv", 5], "(labeled)"),
        ("parameters__labeled", ["a\0b"], "(labeled)"),
        ("parameters__keep", "images/../../x.csv", "outside its folder"),
        ("parameters__pool", 5, "(pool)"),
        ("parameters__pool", "a\0b", "(pool)"),
        ("parameters__budget", [5], "(budget)"),
        ("parameters__budget", "many", "'many'"),
        ("parameters__seed", "0", "(seed)"),
        ("parameters__out", "evil.csv", "(out)"),
        ("parameters", [], "(parameters)"),
        ("picks__gain", [1, "x"], "(gain)"),
        ("sha256", None, "(sha256)"),
        ("sha256__pool", "0" * 64, "digits.npy has changed"),
        ("picks__rows_sha256", "0" * 64, "differ"),
        ("picks__gain", [None, 1, 1, 1, 1], "differ"),
        ("picks__gain", [], "differ"),
    ],
)
def test_a_record_that_is_wrong_or_somebodys_trap_is_refused(path, value, words, desk, capfd):
    before = recorded(desk, **{path: value})
    assert run(f"select --rerun {RECORD}") == 2
    said = capfd.readouterr().err.splitlines()
    assert words in said[-1]
    assert contents(desk) == before


def test_a_record_writes_beside_itself_whatever_it_says(desk, capfd):
    recorded(desk, picks__file="../evil.csv", files={"../evil.csv": []})
    (desk / "sub").mkdir()
    (desk / RECORD).rename(desk / "sub" / "other.csv.mheal.json")
    (desk / "digits.npy").rename(desk / "sub" / "digits.npy")
    assert run("select --rerun sub/other.csv.mheal.json -q") == 0
    assert (desk / "sub" / "other.csv").exists()
    assert not (desk.parent / "evil.csv").exists()


def test_gains_of_another_type_of_cpu_are_the_same_picks(desk, capfd):
    assert run("select digits.npy -b 30 -q") == 0
    record = json.loads((desk / RECORD).read_text())
    gains = record["picks"]["gain"]
    assert gains[0] is None  # infinite
    for factor, status in ((1 + 1e-5, 0), (1.05, 2)):
        record["picks"]["gain"] = [gain and gain * factor for gain in gains]
        (desk / RECORD).write_text(json.dumps(record))
        assert run(f"select --rerun {RECORD}") == status
        assert ("identical" in capfd.readouterr().err) == (status == 0)


def test_what_a_record_does_not_decide_is_typed_beside_it(desk, capfd):
    Path("own_bayes.py").write_text("from sklearn.naive_bayes import GaussianNB\n")
    line = "select digits.csv -b 9 --labeled labels.csv --estimator own_bayes:GaussianNB --without label -q"
    (desk / "sub").mkdir()
    assert run(f"{line} -o sub/picks.csv") == 0
    typed = "digits.csv --labeled labels.csv"
    assert run(f"select --rerun sub/{RECORD} {typed}") == 2
    assert "own_bayes:GaussianNB as --estimator" in capfd.readouterr().err
    assert run(f"select --rerun sub/{RECORD} {typed} --estimator own_bayes:GaussianNB") == 0
    assert "identical" in capfd.readouterr().err


# ---- kills

KILLED = """
import os, signal, sys
from mheal.cli import main
count, last = 0, int(sys.argv[1])
def step(event, args):
    global count
    if event == "os.rename" and b"picks" in os.fsencode(args[1]) and b"unfinished" not in os.fsencode(args[1]):
        count += 1
        if count == last:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(step)
sys.exit(main(sys.argv[2:]))
"""


def test_a_rerun_after_a_kill_never_brings_older_picks_back(desk, capfd):
    """SIGKILL before each file is put in place: the record, the picture, the picks."""
    made = set()
    for step in range(1, 5):
        assert run("select digits.npy -b 20 --plot picks.png -q --force") == 0
        old = Path("picks.csv").read_bytes()
        command = ["select", "digits.npy", "-b", "30", "--plot", "picks.png", "-q"]
        done = subprocess.run([sys.executable, "-c", KILLED, str(step), *command], check=False)
        written = Path("picks.csv").read_bytes()
        picks = len(pl.read_csv("picks.csv"))
        made.add((json.loads((desk / RECORD).read_text())["picks"]["count"], picks))
        assert picks == 20 or written != old
        assert run(f"select --rerun {RECORD} -q") == 0
        assert len(pl.read_csv("picks.csv")) >= picks
        assert run("select digits.npy -b 30 --plot picks.png -q") == 0  # and nobody is locked out
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert made == {(20, 20), (30, 20), (30, 30)}


# ---- hostile words
