"""`mheal compare` in a folder that holds runs: extended, resumed, refused, interrupted, killed."""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from comparisons import FILES, TINY, assert_one_line, listing, rows_of, settings_in
from mheal.cli import main
from mheal.evaluate import Curves


def test_a_run_can_be_extended_and_equals_one_in_one_go(digits_csv, capsys):
    """Seeds, strategies and budgets are added later. Margin depends on labels of smaller budgets, so it must rerun."""
    assert main([*TINY[:-1], "10,40", "--seeds", "1", "--out", "steps", "-q"]) == 0
    assert main([*TINY[:-1], "20,40", "--seeds", "2", "--out", "steps"]) == 0
    err = capsys.readouterr().err
    assert "steps: 0 of 6 runs found" in err
    assert "for 10, 20, 40 labels; for fewer, choose another --out" in err
    more = [word.replace("mheal,random,margin", "mheal,kmeans,random,margin") for word in TINY]
    assert main([*more, "--seeds", "2", "--out", "steps"]) == 0
    assert "steps: 6 of 8 runs found" in capsys.readouterr().err
    assert main([*more, "--seeds", "2", "--out", "once", "-q"]) == 0
    assert rows_of("steps").equals(rows_of("once"))
    assert settings_in("steps") == settings_in("once")


def test_resuming_runs_only_what_is_missing(digits_csv, capsys):
    assert main([*TINY, "--seeds", "3", "-q"]) == 0
    whole = Curves.from_csv("compare/curves.csv")
    Curves([row for row in whole.rows if (row["strategy"], row["seed"]) not in {("margin", 0), ("mheal", 2)}]).save_csv(
        "compare/curves.csv"
    )
    (digits_csv / "compare" / "report.html").unlink()
    assert main([*TINY, "--seeds", "3"]) == 2
    assert_one_line(capsys, "curves.csv has changed since mheal wrote it", "--force")
    assert main([*TINY, "--seeds", "3", "--force"]) == 0
    assert "compare: 7 of 9 runs found" in capsys.readouterr().err
    assert rows_of("compare").equals(pl.DataFrame(list(whole.rows)).drop("seconds"))
    kept = pl.read_csv("compare/curves.csv").filter(seed=1)["seconds"].to_list()
    assert kept == [row["seconds"] for row in whole.rows if row["seed"] == 1]  # not run again
    assert listing(digits_csv / "compare") == FILES


def test_other_features_in_the_same_folder_are_refused(compared, capsys):
    file = compared / "compare" / "settings.json"
    before = json.loads(file.read_text())
    file.write_text(json.dumps(before | {"features": "64 numeric columns, by hand"}))
    try:
        assert main([*TINY, "--seeds", "2"]) == 2
        assert_one_line(capsys, "compare holds runs with", "other features (64 numeric columns, by hand)")
    finally:
        file.write_text(json.dumps(before))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--estimator", "knn"], "--estimator logistic instead of knn"),
        (["--metric", "f1_macro"], "--metric accuracy instead of f1_macro"),
        (["--max-pool", "200"], "--max-pool unset instead of 200"),
        (["--without", "p0,p1"], "--without unset instead of p0,p1"),
        (["--target", "p20"], "other labels"),
        (["--embed", "pca"], "--embed unset instead of pca"),
    ],
)
def test_other_settings_in_the_same_folder_are_refused(compared, capsys, change, words):
    before = {path: path.read_bytes() for path in (compared / "compare").iterdir()}
    assert main([*TINY, "--seeds", "2", *change]) == 2
    assert_one_line(capsys, "compare holds runs with", words, "choose another --out")
    assert {path: path.read_bytes() for path in (compared / "compare").iterdir()} == before


def test_a_changed_pool_is_refused(compared, capsys):
    pl.read_csv("digits.csv").with_columns(p20=pl.col("p20") + 1).write_csv("digits.csv")
    assert main([*TINY, "--seeds", "2"]) == 2
    assert_one_line(capsys, "compare holds runs with another pool")


def test_a_folder_without_settings_is_not_ours(digits_csv, capsys):
    (digits_csv / "compare").mkdir()
    (digits_csv / "compare" / "curves.csv").write_text("my,own\n1,2\n")
    assert main([*TINY]) == 2
    assert_one_line(capsys, "curves.csv was not written by mheal")
    assert main([*TINY, "--force"]) == 2
    assert_one_line(capsys, "no settings.json")
    assert listing(digits_csv / "compare") == ["curves.csv"]


def test_interrupt_keeps_the_runs_so_far(digits_csv):
    command = [sys.executable, "-m", "mheal", *TINY, "--estimator", "forest", "--seeds", "50"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(digits_csv / "compare" / "curves.csv", process)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    kept = len(rows_of("compare")) // 3
    assert f"{kept} of 150 runs are kept in compare" in err
    assert "Traceback" not in err


def wait_for(path, process, since=0):
    """Wait until the process has written a file after this time."""
    while not (path.exists() and path.stat().st_mtime_ns > since):
        assert process.poll() is None, f"it has ended without {path.name}"
        time.sleep(0.01)


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_leaves_whole_runs_and_goes_on(digits_csv, kills):
    rng = random.Random(kills)
    command = [*TINY, "--seeds", "6" if kills == 2 else "60", "--quiet"]
    settings, kept = digits_csv / "compare" / "settings.json", set()
    for kill in range(kills):
        before = settings.stat().st_mtime_ns if settings.exists() else 0
        with subprocess.Popen([sys.executable, "-m", "mheal", *command]) as process:
            if kill % 4 == 3:  # while it starts or, on a quick machine, at work
                time.sleep(rng.uniform(0.5, 4))
            else:  # at work: it has just written its settings
                wait_for(settings, process, before)
                if kill == 0:
                    wait_for(digits_csv / "compare" / "curves.csv", process)
                time.sleep(rng.uniform(0, 0.8))
            process.kill()
        if (digits_csv / "compare" / "curves.csv").exists():
            curves = Curves.from_csv("compare/curves.csv")
            units = {(row["strategy"], row["seed"]) for row in curves.rows}
            assert sorted((row["strategy"], row["seed"], row["labels"]) for row in curves.rows) == sorted(
                (*unit, labels) for unit in units for labels in (10, 20, 40)
            )
            kept.add(len(curves.rows))
        json.loads(settings.read_text())
    assert len(kept) > kills // 8  # killed at work, not only before and after it
    assert main(command) == 0
    assert listing(digits_csv / "compare") == FILES  # what killed runs left behind is gone
    assert main([*command, "--out", "once"]) == 0
    assert rows_of("compare").equals(rows_of("once"))
    assert settings_in("compare") == settings_in("once")
    for name in ("curves.png", "report.html"):
        assert (digits_csv / "compare" / name).read_bytes() == (digits_csv / "once" / name).read_bytes()


# ---- mistakes


def test_the_first_seed_chooses_the_splits(compared):
    assert main([*TINY, "--seeds", "1", "--seed", "1"]) == 0  # the second of the two splits that are there
    curves = Curves.from_csv("compare/curves.csv")
    assert curves.seeds() == [0, 1]
    assert json.loads(Path("compare/settings.json").read_text(encoding="utf-8"))["seed"] == 1
    assert main([*TINY, "--seeds", "1", "--seed", "7", "--out", "other"]) == 0
    assert Curves.from_csv("other/curves.csv").seeds() == [7]
