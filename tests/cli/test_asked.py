"""`mheal select --labeled` with labels that are classes: picks go where a model of them is in doubt."""

import json
import shlex
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits

import mheal
from mheal.cli import main
from mheal.estimators import ASKED, fit_on_pool

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
FIRST = mheal.select(X, 100).indices
PROBA = fit_on_pool(ASKED, 0, X, FIRST, y[FIRST]).predict_proba(X)


def run(line):
    return main(shlex.split(line))


def rows(file="picks.csv"):
    return pl.read_csv(file)["row"].to_numpy()


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """The pool and its labels, with and without what they are; and we are beside them."""
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", X)
    np.save("proba.npy", PROBA)
    pl.DataFrame({"row": FIRST}).write_csv("rows.csv")
    pl.DataFrame({"row": FIRST, "label": y[FIRST]}).write_csv("labels.csv")
    return tmp_path


def test_the_picks_are_those_of_a_model_of_the_labels_and_are_repeated_exactly(desk, capfd):
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    assert "asking a model of the 100 labels" in capfd.readouterr().err
    assert run("select pool.npy -b 30 --labeled rows.csv --proba proba.npy -o proba.csv") == 0
    np.testing.assert_array_equal(rows(), rows("proba.csv"))
    assert run("select pool.npy -b 30 --labeled rows.csv -o plain.csv") == 0
    assert set(rows()) != set(rows("plain.csv"))
    assert json.loads((desk / "picks.json").read_text())["parameters"]["strategy"] == "mheal-asking"
    assert run("select --rerun picks.json -o again.csv") == 0
    assert (desk / "again.csv").read_bytes() == (desk / "picks.csv").read_bytes()


def test_names_of_classes_do_as_well():
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    pl.DataFrame({"row": FIRST, "label": [f"digit {c}" for c in y[FIRST]]}).write_csv("names.csv")
    assert run("select pool.npy -b 30 --labeled names.csv -o names_picks.csv") == 0
    np.testing.assert_array_equal(rows("names_picks.csv"), rows())


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (
            y[FIRST] + np.linspace(0.1, 0.9, 100),
            "into a few classes first): picking without a model",
        ),
        (FIRST, "these are ids or measurements, not classes: picking without a model"),
        (np.where(np.arange(100) < 63, y[FIRST].astype(str), ""), "63 labels are too few to ask a model"),
        (np.full(100, 7), "there is nothing to learn from one class: picking without a model"),
    ],
    ids=["measurements", "names", "few", "one class"],
)
def test_where_there_is_nothing_to_ask_it_is_mheal(capfd, labels, words):
    pl.DataFrame({"row": FIRST, "label": labels}).write_csv("labels.csv")
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    said = capfd.readouterr().err
    assert words in said
    assert "30 picks by MHEAL, away" in said
    assert run("select pool.npy -b 30 --labeled labels.csv --strategy mheal -o plain.csv") == 0
    np.testing.assert_array_equal(rows(), rows("plain.csv"))


@pytest.mark.parametrize("more", ["--strategy mheal", "--max-memory 2GB"])
def test_some_options_leave_it_at_mheal(desk, capfd, more):
    assert run(f"select pool.npy -b 30 --labeled labels.csv {more}") == 0
    said = "--max-memory: picking without a model of the labels" in capfd.readouterr().err
    assert said == ("--max-memory" in more)
    assert json.loads((desk / "picks.json").read_text())["parameters"]["strategy"] == "mheal"
    assert run("select pool.npy -b 30 --labeled rows.csv -o plain.csv") == 0
    np.testing.assert_array_equal(rows(), rows("plain.csv"))


def test_labels_of_another_kind_are_stayed_away_from(capfd):
    days = [date(2026, 1, 1) + timedelta(int(c)) for c in y[FIRST]]
    pl.DataFrame({"row": FIRST, "label": days}).write_parquet("labels.parquet")
    assert run("select pool.npy -b 30 --labeled labels.parquet") == 0
    assert "the labels are no classes" in capfd.readouterr().err
    assert not set(rows()) & set(FIRST)


def test_a_forecast_is_made_without_a_model(capfd):
    assert run("select pool.npy -b 30 --labeled labels.csv --forecast") == 0
    assert "should take about" in capfd.readouterr().out


def test_labels_count_where_earlier_picks_are_kept():
    assert run("select pool.npy -b 20 --labeled labels.csv -o first.csv") == 0
    assert run("select pool.npy -b 50 --labeled labels.csv --keep first.csv") == 0
    np.testing.assert_array_equal(rows()[:20], rows("first.csv"))
    top = np.sort(PROBA[rows()[20:]], axis=1)
    every = np.sort(PROBA, axis=1)
    assert (1 - top[:, -1] + top[:, -2]).mean() > 1.5 * (1 - every[:, -1] + every[:, -2]).mean()
