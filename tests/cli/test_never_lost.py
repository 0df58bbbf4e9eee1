"""Users' data are never lost, even if a run is killed: inputs, their own files, labels typed into picks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import mheal
from commands import run

RECORD = "picks.csv.mheal.json"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def fill_in(name="picks.csv", rows=None):
    """Type labels into picks, as a person does in a spreadsheet."""
    answers = pl.read_csv("digits.csv")["label"].to_list()
    picks = pl.read_csv(name, infer_schema_length=None)
    labels = [str(answers[row]) if at < (rows or len(picks)) else None for at, row in enumerate(picks["row"])]
    picks.with_columns(label=pl.Series(labels, dtype=pl.String)).write_csv(name)


@pytest.mark.parametrize(
    "line",
    [
        "select digits.csv -b 5 --labeled picks.csv",
        "select digits.csv -b 50 --keep picks.csv",
        "select digits.csv -b 5 -o digits.csv",
        "select digits.csv -b 5 -o a.csv --plot digits.csv",
        "select digits.csv -b 5 --labeled labels.csv -o ./labels.csv",
        "select digits.npy -b 5 --proba proba.npy -o a.csv --plot proba.npy",
        "select 'shard*.csv' -b 5 -o shard1.csv",
        "select images -b 5 -o a.csv --plot images/0/000.png",
        "select linked.csv -b 5 -o digits.csv",
        "embed digits.npy -o digits.npy",
        "plan digits.csv --labeled labels.csv --plot labels.png",
        "compare digits.csv -t label --seeds 1 --budgets 10 -o folder",
    ],
)
def test_an_output_is_never_an_input_even_by_force(line, desk, capfd):
    assert run("select digits.csv -b 40 -q") == 0
    fill_in()
    digits = pl.read_csv("digits.csv")
    digits.head(900).write_csv("shard0.csv")
    digits.tail(897).write_csv("shard1.csv")
    Path("linked.csv").symlink_to("digits.csv")
    Path("labels.png").symlink_to("labels.csv")
    Path("folder").mkdir()
    Path("folder/curves.png").hardlink_to("digits.csv")
    before = contents(desk)
    for more in ("", " --force"):
        capfd.readouterr()
        assert run(line + more) == 2
        err = capfd.readouterr().err
        assert "is an input" in err
        assert err.count("\n") == 1  # before any work
        assert contents(desk) == before


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("select digits.npy -b 5", "picks.csv"),
        ("select digits.npy -b 5", RECORD),
        ("select digits.npy -b 5 -o a.csv --plot map.png", "map.png"),
        ("embed texts.txt -o vectors.npy", "vectors.npy"),
        ("plan digits.csv -b 10 --plot plan.png", "plan.png"),
        ("compare digits.csv -t label --seeds 1 --budgets 10 --strategies random -o out", "out/settings.json"),
        ("compare digits.csv -t label --seeds 1 --budgets 10 --strategies random -o out", "out/report.html"),
        ("demo -o out --budget 10 --seeds 1", "out/picks.png"),
    ],
)
def test_a_file_of_somebody_else_is_replaced_only_by_force(line, name, desk, capfd):
    (desk / name).parent.mkdir(exist_ok=True)
    (desk / name).write_text("mine")
    assert run(line) == 2
    err = capfd.readouterr().err
    assert f"{name} was not written by mheal" in err
    assert "--force" in err
    assert (desk / name).read_text() == "mine"
    assert run(f"{line} --force -q") == 0
    assert (desk / name).read_bytes() != b"mine"
    assert run(f"{line} -q") == 0  # now it is ours
    with (desk / name).open("ab") as file:
        file.write(b"\nmine")
    assert run(line) == 2
    assert ("has changed since mheal wrote it" in capfd.readouterr().err) == ("json" not in name)


def test_picks_with_labels_are_somebodys_work(desk, capfd):
    assert run("select digits.csv -b 30 -q") == 0
    assert run("select digits.csv -b 40 -q") == 0  # nobody has touched them
    fill_in(rows=1)
    before = contents(desk)
    for line in ("select digits.csv -b 50", f"select --rerun {RECORD}"):
        assert run(line) == 2
        assert "picks.csv has changed since mheal wrote it" in capfd.readouterr().err
        assert contents(desk) == before
    assert run("select digits.csv -b 50 --force -q") == 0
    assert len(pl.read_csv("picks.csv")) == 50


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_picks_are_given_back_with_their_labels(suffix, desk, capfd):
    assert run(f"select digits.csv -b 70 -q -o picks.{suffix}") == 0
    assert run(f"select digits.csv -b 9 --labeled picks.{suffix} -o next.csv") == 2
    err = capfd.readouterr().err
    assert f"picks.{suffix} has no label yet" in err
    assert "--keep" in err
    assert run(f"select digits.csv -b 90 --keep picks.{suffix} -o kept.csv -q") == 0
    first = mheal.Selection.load(f"picks.{suffix}")
    assert mheal.Selection.load("kept.csv")[:70] == first
    frame = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[suffix](f"picks.{suffix}")
    frame.cast({"label": pl.String}).write_csv("typed.csv")
    fill_in("typed.csv")
    assert run("select digits.csv -b 9 --labeled typed.csv -o next.csv") == 0
    assert "fitted on 70 labels" in capfd.readouterr().err
    assert not set(pl.read_csv("next.csv")["row"]) & set(first)


def test_picks_of_a_pool_whose_ids_are_called_like_a_column_of_ours(desk):
    pool = pl.read_csv("digits.csv").drop("id").insert_column(0, pl.Series("row", range(1796, -1, -1)))
    pool.write_csv("pool.csv")
    assert run("select pool.csv --id row -b 20 -q") == 0
    frame = pl.read_csv("picks.csv")
    assert (frame["row"] + frame["row_in_pool"] == 1796).all()
    frame.with_columns(label=pl.Series(["a", "b"] * 10)).write_csv("labels.csv")
    assert run("select pool.csv --id row -b 40 --labeled labels.csv -o next.csv -q") == 0
    assert not set(pl.read_csv("next.csv")["row"]) & set(frame["row"])


def test_the_answer_does_not_travel(desk):
    pl.read_csv("digits.csv").rename({"label": "digit"}).write_csv("pool.csv")
    assert run("select pool.csv -b 4 --labeled labels.csv -q -o a.json") == 0  # it equals the labels
    assert run("select digits.csv -b 4 -q -o b.json") == 0
    pl.read_csv("digits.csv").write_parquet("pool.parquet")
    assert run("select pool.parquet -b 4 -q -o c.json") == 0
    for name in "abc":
        data = json.loads(Path(f"{name}.json").read_text())[0]["data"]
        assert {"p0", "p63"} <= data["cells"].keys()
        assert not {"digit", "label"} & {*data, *data["cells"]}


@pytest.mark.parametrize("words", ["=1+1", "+1", "-x", "@SUM(A1)", "\tx"])
def test_formulas_are_escaped_on_request(words, desk):
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({"id": [f"{words}{row}" for row in range(90)], "a": rng.normal(size=90), "=b": [words] * 90})
    frame.write_csv("pool.csv")
    assert run("select pool.csv -b 70 --with a -q") == 0
    assert pl.read_csv("picks.csv")["id"][0].startswith(words)
    assert run("select pool.csv -b 70 --with a -q --escape-formulas") == 0
    picks = pl.read_csv("picks.csv", infer_schema_length=0)
    assert picks["id"][0].startswith(f"'{words}")
    assert picks["'=b"].to_list() == [f"'{words}"] * 70
    assert set(picks["gain"].str.slice(0, 1)) <= {*"0123456789i"}
    labels = [str(at % 2) for at in range(70)]
    picks.with_columns(label=pl.Series(labels)).write_csv("labels.csv")  # and the ids are those of the pool
    assert run("select pool.csv -b 5 --with a --labeled labels.csv -o next.csv -q") == 0
    assert not set(pl.read_csv("next.csv")["row"]) & {int(row) for row in picks["row"]}


def test_terminals_are_not_told_what_to_do(desk, capfd):
    columns = {"a\x1b[2J": [1.5, 2.0, 3.0, 4.0], "b": [1.0, 4.0, 2.0, 8.0], "name\x1b]0;x\x07": list("stuv")}
    pl.DataFrame(columns).write_csv("pool.csv")
    assert run("select pool.csv -b 2") == 0
    assert run("select pool.csv -b 2 --columns nothing -o x.csv") == 2
    err = capfd.readouterr().err
    assert not {"\x1b", "\x07"} & set(err)
    assert err.count("\\x1b[2J") >= 2


def test_output_that_is_not_utf8_and_file_names_that_are_not(desk):
    name = b"images/0/caf\xe9-\xff.png"
    with open(name, "wb") as file:
        file.write(Path("images/0/000.png").read_bytes())
    Path("images/0/łódź.png").write_bytes(b"not an image")
    for encoding in ("cp1252", "ascii", "utf-8"):
        line = [sys.executable, "-m", "mheal", "select", "images", "-b", "120", "--no-deduplicate", "-o", "all.csv"]
        done = subprocess.run(line, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding})
        assert done.returncode == 0, done.stderr
        assert b"skipped 2 images" in done.stderr
        assert b"not UTF-8: rename it" in done.stderr
        plan = [sys.executable, "-m", "mheal", "plan", "digits.npy", "-b", "20"]
        done = subprocess.run(plan, capture_output=True, check=False, env={**os.environ, "PYTHONIOENCODING": encoding})
        assert done.returncode == 0, done.stderr
    ids = pl.read_csv("all.csv")["id"].to_list()
    assert len(ids) == 120
    pl.read_csv("all.csv").with_columns(label=pl.Series(["x", "y"] * 60)).head(100).write_csv("labels.csv")
    assert run("select images -b 5 --labeled labels.csv -o next.csv -q") == 0


@pytest.mark.parametrize(("budget", "picks"), [("10%", 180), ("0.5%", 9), ("0.01%", 1)])
def test_a_budget_may_be_a_share(budget, picks, desk):
    assert run(f"select digits.npy -b {budget} -q") == 0
    assert len(pl.read_csv("picks.csv")) == picks
    assert json.loads((desk / RECORD).read_text())["parameters"]["budget"] == budget
    assert run(f"select --rerun {RECORD} -q") == 0


def test_a_share_is_of_the_rows_that_can_be_picked(desk, capfd):
    assert run("select digits.npy -b 10% --labeled labels.csv -q") == 0
    assert len(pl.read_csv("picks.csv")) == round((1797 - 120) / 10)
    for budget in ("0%", "101%", "x%", "%"):
        assert run(f"select digits.npy -b {budget}") == 2
        assert "such as 10%" in capfd.readouterr().err
