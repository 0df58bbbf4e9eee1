"""`mheal select --proba`: picks where your own model is in doubt."""

import json
import shlex

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

import mheal
from mheal.cli import main

X, y = load_digits(return_X_y=True)
FIRST = np.random.default_rng(0).permutation(len(X))[:100]
PROBA = LogisticRegression(max_iter=300).fit(X[FIRST], y[FIRST]).predict_proba(X)


def run(line):
    return main(shlex.split(line))


def rows(file="picks.csv"):
    return pl.read_csv(file)["row"].to_numpy()


def doubt(picks):
    top = np.sort(PROBA[picks], axis=1)
    return float((1 - top[:, -1] + top[:, -2]).mean())


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """The pool, what a model says of it, the labels it has seen and fewer of them; and we are beside them."""
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", X)
    np.save("proba.npy", PROBA)
    pl.DataFrame({"row": FIRST}).write_csv("labeled.csv")
    pl.DataFrame({"row": FIRST[:40]}).write_csv("few.csv")
    return tmp_path


def test_picks_go_where_the_model_is_in_doubt_and_are_repeated_exactly(desk):
    assert run("select pool.npy -b 30 --labeled labeled.csv -o plain.csv") == 0
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.npy") == 0
    assert doubt(rows()) > 1.5 * doubt(rows("plain.csv"))
    assert not set(rows()) & set(FIRST)
    record = json.loads((desk / "picks.json").read_text())
    assert record["parameters"]["strategy"] == "mheal-asking"
    assert run("select --rerun picks.json -o again.csv") == 0
    assert (desk / "again.csv").read_bytes() == (desk / "picks.csv").read_bytes()
    np.save("proba.npy", PROBA[::-1])
    assert run("select --rerun picks.json -o again.csv") == 2


def test_they_are_those_of_the_strategy_and_a_table_does_as_well():
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.npy") == 0
    pl.DataFrame(PROBA, schema=[f"p{c}" for c in range(10)]).write_csv("proba.csv")
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.csv -o table.csv") == 0
    np.testing.assert_array_equal(rows("table.csv"), rows())
    free = np.setdiff1d(np.arange(len(X)), FIRST)
    confidence, entropy = PROBA.max(axis=1), -(PROBA * np.log(PROBA)).sum(axis=1)
    for name, wanted in (("least-confidence", -confidence), ("entropy", entropy)):
        assert run(f"select pool.npy -b 9 --labeled labeled.csv --proba proba.npy --strategy {name} -o {name}.csv") == 0
        np.testing.assert_array_equal(rows(f"{name}.csv"), free[np.argsort(-wanted[free])[:9]])


def test_with_few_labels_the_model_is_not_asked_and_that_is_said(capfd):
    assert run("select pool.npy -b 30 --labeled few.csv --proba proba.npy -o asked.csv") == 0
    assert "40 labels are too few to ask a model, which begins with 64" in capfd.readouterr().err
    assert run("select pool.npy -b 30 --labeled few.csv -o plain.csv") == 0
    np.testing.assert_array_equal(rows("asked.csv"), rows("plain.csv"))


@pytest.mark.parametrize(
    ("proba", "more", "words"),
    [
        (PROBA[:-1], "", "proba has shape (1796, 10), but X has 1797 rows"),
        (PROBA[:, :1], "", "proba has shape (1797, 1)"),
        (np.log(PROBA + 1e-9), "", "at row 0"),
        (PROBA, "--strategy mheal", "mheal has no use for --proba alone"),
        (PROBA, "--strategy badge", "badge has no use for --proba alone"),
    ],
)
def test_what_is_no_use_gets_one_line(desk, capfd, proba, more, words):
    np.save("proba.npy", proba)
    assert run(f"select pool.npy -b 30 --labeled labeled.csv --proba proba.npy {more}") == 2
    said = capfd.readouterr().err
    assert words in said
    assert sum(line.startswith("mheal:") for line in said.splitlines()) == 1
    assert not (desk / "picks.csv").exists()


def test_the_library_does_the_same():
    asked = mheal.select(X, 30, labeled=FIRST, proba=PROBA)
    assert doubt(asked.indices) > 1.5 * doubt(mheal.select(X, 30, labeled=FIRST).indices)
    assert mheal.select(X, 30, labeled=FIRST[:40], proba=PROBA) == mheal.select(X, 30, labeled=FIRST[:40])
    certain = np.eye(10)[y]
    assert mheal.select(X, 30, labeled=FIRST, proba=certain) == mheal.select(X, 30, labeled=FIRST)
    half = PROBA.astype(np.float16)
    assert len(mheal.select(X, 30, labeled=FIRST, proba=half)) == 30
    with pytest.raises(ValueError, match="adds up to nan at row 7"):
        mheal.select(X, 30, labeled=FIRST, proba=np.where(np.arange(len(X))[:, None] == 7, np.nan, PROBA))
