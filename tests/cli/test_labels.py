"""`mheal select --labeled` with classes: rows that a model of them is uncertain about are preferred."""

import json
from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import mheal
from commands import rows, run
from mheal.estimators import fit_on_pool

X, y = load_digits(return_X_y=True)
X = X.astype(np.float32)
FIRST = mheal.select(X, 100).indices
PROBA = fit_on_pool("logistic+knn", 0, X, FIRST, y[FIRST]).predict_proba(X)


def uncertainty(rows):
    top = np.sort(PROBA[rows], axis=1)
    return float((1 - top[:, -1] + top[:, -2]).mean())


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """The current folder, with the pool and its labelled rows, with and without the classes."""
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", X)
    np.save("proba.npy", PROBA)
    pl.DataFrame({"row": FIRST}).write_csv("rows.csv")
    pl.DataFrame({"row": FIRST, "label": y[FIRST]}).write_csv("labels.csv")
    return tmp_path


def test_the_picks_are_those_of_a_model_of_the_labels_and_are_repeated_exactly(desk, capfd):
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    assert "logistic+knn fitted on 100 labels" in capfd.readouterr().err
    assert run("select pool.npy -b 30 --labeled rows.csv --proba proba.npy -o proba.csv") == 0
    np.testing.assert_array_equal(rows(), rows("proba.csv"))
    assert run("select pool.npy -b 30 --labeled rows.csv -o plain.csv") == 0
    assert set(rows()) != set(rows("plain.csv"))
    assert run("select --rerun picks.csv.mheal.json -o again.csv") == 0
    assert (desk / "again.csv").read_bytes() == (desk / "picks.csv").read_bytes()


@pytest.mark.parametrize(("strategy", "named"), [("margin", True), ("spal", False), ("coreset", False)])
def test_a_model_is_named_where_one_is_queried(strategy, named, capfd):
    assert run(f"select pool.npy -b 5 --labeled labels.csv --strategy {strategy}") == 0
    assert ("logistic fitted on 100 labels" in capfd.readouterr().err) == named


def test_names_of_classes_do_as_well():
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    pl.DataFrame({"row": FIRST, "label": [f"digit {c}" for c in y[FIRST]]}).write_csv("names.csv")
    assert run("select pool.npy -b 30 --labeled names.csv -o names_picks.csv") == 0
    np.testing.assert_array_equal(rows("names_picks.csv"), rows())


def test_an_estimator_of_ones_own_is_found_in_the_folder(desk, capfd):
    (desk / "mine.py").write_text(
        "from sklearn.linear_model import LogisticRegression\n"
        "def model():\n    return LogisticRegression(max_iter=500)\n"
    )
    assert run("select pool.npy -b 30 --labeled labels.csv --estimator mine:model") == 0
    assert "mine:model fitted on 100 labels" in capfd.readouterr().err
    model = LogisticRegression(max_iter=500)
    assert list(mheal.select(X, 30, labeled=FIRST, y=y[FIRST], estimator=model)) == rows().tolist()
    assert json.loads((desk / "picks.csv.mheal.json").read_text())["parameters"]["estimator"] == "mine:model"


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("--labeled labels.csv --estimator nothing", "nothing"),
        ("--labeled labels.csv --estimator nowhere:model", "nowhere"),
        ("--labeled labels.csv --estimator sklearn.svm:SVR", "classifier"),
        ("--labeled labels.csv --estimator forest --proba proba.npy", "proba"),
        ("--estimator forest", "no labels"),
        ("--labeled rows.csv --estimator forest", "no labels"),
    ],
)
def test_an_estimator_that_cannot_be_used_is_one_line(desk, capfd, more, words):
    assert run(f"select pool.npy -b 30 -q {more}") == 2
    err = capfd.readouterr().err
    assert err.startswith("mheal: ")
    assert err.count("\n") == 1
    assert words in err
    assert not (desk / "picks.csv").exists()


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (y[FIRST] + np.arange(100) / 128, "measurements"),
        (FIRST, "different values"),
        (np.where(np.arange(100) < 63, y[FIRST].astype(str), ""), "63"),
        (np.full(100, 7), "all labels are 7"),
    ],
    ids=["measurements", "names", "few", "one class"],
)
def test_labels_that_are_of_no_use_to_a_model_are_said(capfd, labels, words):
    pl.DataFrame({"row": FIRST, "label": labels}).write_csv("labels.csv")
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    err = capfd.readouterr().err
    assert words in err
    assert "without a model" in err
    assert "fitted" not in err
    pl.read_csv("labels.csv").filter(pl.col("label").cast(str) != "").select("row").write_csv("rows.csv")
    assert run("select pool.npy -b 30 --labeled rows.csv -o plain.csv") == 0
    np.testing.assert_array_equal(rows(), rows("plain.csv"))


def test_labels_of_another_kind_are_stayed_away_from(capfd):
    days = [date(2026, 1, 1) + timedelta(int(c)) for c in y[FIRST]]
    pl.DataFrame({"row": FIRST, "label": days}).write_parquet("labels.parquet")
    assert run("select pool.npy -b 30 --labeled labels.parquet") == 0
    assert "without a model" in capfd.readouterr().err
    assert not set(rows()) & set(FIRST)


def test_a_memory_limit_changes_no_pick():
    assert run("select pool.npy -b 30 --labeled labels.csv") == 0
    assert run("select pool.npy -b 30 --labeled labels.csv --max-memory 3GB -o within.csv") == 0
    np.testing.assert_array_equal(rows("within.csv"), rows())


def test_a_forecast_is_made_without_a_model(capfd):
    assert run("select pool.npy -b 30 --labeled labels.csv --forecast") == 0
    assert "should take" in capfd.readouterr().out


def test_labels_count_where_earlier_picks_are_kept():
    assert run("select pool.npy -b 20 --labeled labels.csv -o first.csv") == 0
    assert run("select pool.npy -b 50 --labeled labels.csv --keep first.csv") == 0
    np.testing.assert_array_equal(rows()[:20], rows("first.csv"))
    assert uncertainty(rows()[20:]) > 1.5 * uncertainty(np.arange(len(X)))
    assert run("select pool.npy -b 50 --labeled labels.csv --keep first.csv --strategy margin") == 0
    assert run("select pool.npy -b 50 --labeled labels.csv --keep first.csv --strategy aldr") == 2
