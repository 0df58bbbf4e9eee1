"""Labels of several rounds, in a file for each round."""

import json

import numpy as np
import polars as pl
import pytest

from commands import rows, run


@pytest.fixture(autouse=True)
def pool(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((200, 4))
    ids = [f"r{row}" for row in range(200)]
    pl.DataFrame(X, schema=[*"abcd"]).with_columns(id=pl.Series(ids)).write_csv("pool.csv")
    return X


def label(file, X):
    frame = pl.read_csv(file)
    labels = np.where(X[frame["row"].to_numpy(), 0] > 0, "high", "low")
    frame.with_columns(label=pl.Series(labels)).write_csv(file)


def pick(line):
    assert run(f"select pool.csv -b 40 {line}") == 0


def three_rounds(X):
    pick("")
    label("picks.csv", X)
    pick("--labeled picks.csv -o next.csv")
    label("next.csv", X)


def test_no_round_picks_a_row_again(pool, capfd):
    three_rounds(pool)
    capfd.readouterr()
    pick("--labeled picks.csv --labeled next.csv -o third.csv")
    said = capfd.readouterr().err
    assert "picks.csv, next.csv: 80 labels of 2 classes" in said
    assert "fitted on 80 labels" in said
    assert "was picked with" not in said
    assert len({*rows("picks.csv"), *rows("next.csv"), *rows("third.csv")}) == 120
    first, second = pl.read_csv("picks.csv"), pl.read_csv("next.csv").select("id", "label")
    pl.concat([first.select("id", "label"), second]).write_csv("all.csv")
    pick("--labeled all.csv -o joined.csv")
    np.testing.assert_array_equal(rows("joined.csv"), rows("third.csv"))
    assert run("plan pool.csv --labeled picks.csv --labeled next.csv") == 0
    assert "estimated from 80 labels" in capfd.readouterr().out


def test_the_record_names_all_files(pool, tmp_path, capfd):
    three_rounds(pool)
    (tmp_path / "sub").mkdir()
    pick("--labeled picks.csv --labeled next.csv -o sub/third.csv")
    record = json.loads((tmp_path / "sub" / "third.csv.mheal.json").read_text())
    assert record["parameters"]["labeled"] == ["../picks.csv", "../next.csv"]
    assert run("select pool.csv --rerun sub/third.csv.mheal.json") == 2
    assert "--labeled" in capfd.readouterr().err
    again = "select pool.csv --rerun sub/third.csv.mheal.json --labeled picks.csv"
    assert run(again) == 2
    assert "picks.csv has changed" in capfd.readouterr().err
    assert run(f"{again} --labeled next.csv") == 0
    assert "identical" in capfd.readouterr().err


def test_labels_that_are_not_given_this_time_are_named(pool, capfd):
    three_rounds(pool)
    capfd.readouterr()
    pick("--labeled next.csv -o third.csv")
    said = capfd.readouterr().err
    assert "next.csv was picked with the labels in picks.csv" in said
    assert "--labeled picks.csv" in said


def test_two_labels_of_a_row_are_refused_and_two_equal_ones_are_one(capfd):
    pl.DataFrame({"id": ["r1", "r2"], "label": ["high", "low"]}).write_csv("one.csv")
    pl.DataFrame({"id": ["r3", "r2"], "label": ["low", "low"]}).write_csv("other.csv")
    pick("--labeled one.csv --labeled other.csv")
    assert "3 labels" in capfd.readouterr().err
    pl.DataFrame({"id": ["r3", "r2"], "label": ["low", "high"]}).write_csv("other.csv")
    assert run("select pool.csv -b 40 --labeled one.csv --labeled other.csv -o next.csv") == 2
    said = capfd.readouterr().err
    assert "'low' in one.csv and 'high' in other.csv" in said
    assert "row 2 " in said


def test_rows_alone_and_labels_are_not_mixed(capfd):
    pl.DataFrame({"id": ["r1", "r2"], "label": ["high", "low"]}).write_csv("one.csv")
    pl.DataFrame({"id": ["r3"]}).write_csv("other.csv")
    assert run("select pool.csv -b 40 --labeled one.csv --labeled other.csv") == 2
    assert "other.csv has no column 'label'" in capfd.readouterr().err
    pl.DataFrame({"id": ["r4", "r3"]}).write_csv("one.csv")
    pick("--labeled one.csv --labeled other.csv")
    assert not {3, 4} & {*rows()}


def test_kept_picks_have_no_labels_that_would_be_lost(pool, tmp_path, capfd):
    pick("")
    label("picks.csv", pool)
    assert run("select pool.csv -b 60 --keep picks.csv -o next.csv") == 2
    assert "picks.csv has labels already" in capfd.readouterr().err
    assert not (tmp_path / "next.csv").exists()
