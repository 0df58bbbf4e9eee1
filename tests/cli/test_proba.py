"""`mheal select --proba`: rows that your own model is uncertain about are preferred."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

from commands import rows, run

X, y = load_digits(return_X_y=True)
FIRST = np.random.default_rng(0).permutation(len(X))[:100]
PROBA = LogisticRegression(max_iter=300).fit(X[FIRST], y[FIRST]).predict_proba(X)


def uncertainty(picks):
    top = np.sort(PROBA[picks], axis=1)
    return float((1 - top[:, -1] + top[:, -2]).mean())


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    """The current folder, with the pool, a model's probabilities, the rows it was fitted on, and fewer labels."""
    monkeypatch.chdir(tmp_path)
    np.save("pool.npy", X)
    np.save("proba.npy", PROBA)
    pl.DataFrame({"row": FIRST}).write_csv("labeled.csv")
    pl.DataFrame({"row": FIRST[:40], "label": y[FIRST[:40]]}).write_csv("few.csv")
    return tmp_path


def test_uncertain_rows_are_preferred_and_picks_are_repeated_exactly(desk):
    assert run("select pool.npy -b 30 --labeled labeled.csv -o plain.csv") == 0
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.npy") == 0
    assert uncertainty(rows()) > 1.5 * uncertainty(rows("plain.csv"))
    assert not set(rows()) & set(FIRST)
    assert run("select --rerun picks.csv.mheal.json -o again.csv") == 0
    assert (desk / "again.csv").read_bytes() == (desk / "picks.csv").read_bytes()
    np.save("proba.npy", PROBA[::-1])
    assert run("select --rerun picks.csv.mheal.json -o again.csv") == 2


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


def test_with_few_labels_the_model_is_not_used_and_that_is_said(capfd):
    assert run("select pool.npy -b 30 --labeled few.csv --proba proba.npy -o few_picks.csv") == 0
    err = capfd.readouterr().err
    assert "64" in err
    assert "there are 40" in err
    assert "proba.npy" not in err
    assert run("select pool.npy -b 30 --labeled few.csv -o plain.csv") == 0
    np.testing.assert_array_equal(rows("few_picks.csv"), rows("plain.csv"))


def test_without_labels_the_model_is_taken_to_have_learnt_from_others():
    assert run("select pool.npy -b 30 -o plain.csv") == 0
    assert run("select pool.npy -b 30 --proba proba.npy") == 0
    assert uncertainty(rows()) > 1.5 * uncertainty(rows("plain.csv"))


def test_kept_picks_are_no_labels(capfd):
    assert run("select pool.npy -b 70 --labeled few.csv -o kept.csv") == 0
    assert run("select pool.npy -b 90 --keep kept.csv --labeled few.csv -o plain.csv") == 0
    assert run("select pool.npy -b 90 --keep kept.csv --labeled few.csv --proba proba.npy") == 0
    assert "there are 40" in capfd.readouterr().err
    np.testing.assert_array_equal(rows(), rows("plain.csv"))
    assert run("select pool.npy -b 50 --proba proba.npy -o whole.csv") == 0
    assert run("select pool.npy -b 20 --proba proba.npy -o first.csv") == 0
    assert run("select pool.npy -b 50 --keep first.csv --proba proba.npy") == 0
    np.testing.assert_array_equal(rows(), rows("whole.csv"))


def test_rows_are_matched_by_id_where_both_have_one(capfd):
    ids = [f"d{row:04}" for row in range(len(X))]
    pl.DataFrame({"id": ids, **{f"x{j}": X[:, j] for j in range(64)}}).write_csv("pool.csv")
    shuffled = np.random.default_rng(1).permutation(len(X))
    columns = {f"p{c}": PROBA[shuffled, c] for c in range(10)}
    pl.DataFrame({"id": [ids[row] for row in shuffled], **columns}).write_csv("shuffled.csv")
    assert run("select pool.csv -b 30 --labeled labeled.csv --proba proba.npy") == 0
    assert run("select pool.csv -b 30 --labeled labeled.csv --proba shuffled.csv -o matched.csv") == 0
    np.testing.assert_array_equal(rows("matched.csv"), rows())
    pl.read_csv("shuffled.csv").filter(pl.col("id") != "d0007").write_csv("short.csv")
    assert run("select pool.csv -b 30 --labeled labeled.csv --proba short.csv") == 2
    assert "short.csv has no row for id 'd0007'" in capfd.readouterr().err


def test_an_array_of_an_archive_and_a_device_of_torch_do_as_well():
    pytest.importorskip("torch")
    np.savez("all.npz", X=X, P=PROBA)
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.npy") == 0
    assert run("select all.npz:X -b 30 --labeled labeled.csv --proba all.npz:P --device cpu:0 -o other.csv") == 0
    np.testing.assert_array_equal(rows("other.csv"), rows())


@pytest.mark.parametrize(
    ("proba", "more", "words"),
    [
        (PROBA[:-1], "", "proba has shape (1796, 10), but X has 1797 rows"),
        (PROBA[:, :1], "", "proba has one number a row: give a column for each class"),
        (np.log(PROBA + 1e-9), "", "at row 0"),
        (PROBA, "--strategy coreset", "coreset has no use for"),
        (PROBA, "--forecast", "--proba"),
    ],
)
def test_what_is_no_use_gets_one_line(desk, capfd, proba, more, words):
    np.save("proba.npy", proba)
    assert run(f"select pool.npy -b 30 --labeled labeled.csv --proba proba.npy {more}") == 2
    said = capfd.readouterr().err
    assert words in said
    assert sum(line.startswith("mheal:") for line in said.splitlines()) == 1
    assert not (desk / "picks.csv").exists()


def test_classes_may_be_called_anything():
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.npy") == 0
    pl.DataFrame(PROBA, schema=["y", "target", "n", *"abcdefg"]).write_csv("proba.csv")
    assert run("select pool.npy -b 30 --labeled labeled.csv --proba proba.csv -o table.csv") == 0
    np.testing.assert_array_equal(rows("table.csv"), rows())
