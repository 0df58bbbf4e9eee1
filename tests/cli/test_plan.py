"""`mheal plan`, end to end."""

import re
import shlex

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits

from mheal.cli import main
from mheal.cli.plan import plan
from mheal.evaluate import accuracy_plan, coverage_plan

EXAMPLES = re.findall(r"Example: mheal (.*)", plan.__doc__)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    images, y = load_digits(return_X_y=True)
    frame = pl.DataFrame(images[:500].astype(int), [f"p{i}" for i in range(64)])
    frame.with_columns(label=pl.Series(y[:500])).write_csv("digits.csv")
    rows = np.random.default_rng(0).permutation(500)[:80]
    pl.DataFrame({"row": rows, "label": y[rows]}).write_csv("labels.csv")
    return tmp_path


def numbers(out):
    """The rows of the table that was printed."""
    return [line.split() for line in out.splitlines() if re.match(r"\s+\d", line)]


def test_without_labels_it_shows_the_coverage_radius_and_a_knee(here, capsys):
    assert main(shlex.split(EXAMPLES[0])) == 0
    out, err = capsys.readouterr()
    X = pl.read_csv("digits.csv").drop("label").to_numpy().astype(np.float32)
    expected = coverage_plan(X)
    assert [row[0] for row in numbers(out)] == ["10", "20", "50", "100", "200", "250"]  # half of the pool
    assert numbers(out) == expected.table.rows
    assert f"{expected.knee} labels" in out
    assert "\x1b" not in out + err
    assert sorted(path.name for path in here.iterdir()) == ["digits.csv", "labels.csv"]


def test_with_labels_it_shows_the_accuracy_to_expect_and_advises(here, capsys):
    assert main([*shlex.split(EXAMPLES[1]), "--batch", "30"]) == 0
    out = capsys.readouterr().out
    assert main([*shlex.split(EXAMPLES[1].replace("0.9", "90%")), "--batch", "30"]) == 0
    assert capsys.readouterr().out == out
    frame, labels = pl.read_csv("digits.csv"), pl.read_csv("labels.csv")
    X, rows, y = frame.drop("label").to_numpy().astype(np.float32), labels["row"].to_numpy(), labels["label"].to_numpy()
    expected = accuracy_plan(X, y, labeled=rows, ahead=250, batch=30, target=0.9)
    assert [row[0] for row in numbers(out)] == ["80", "110", "130", "180", "280", "330"]
    assert numbers(out)[3][1] == f"{100 * expected.fits['accuracy'].predict(180).value:.1f}"
    assert all(sentence in out for sentence in expected.sentences)
    assert "90.0%" in out
    assert "balanced" not in out


def test_where_one_class_is_most_labels_balanced_accuracy_stands_beside_accuracy(here, capsys):
    for name in ("digits.csv", "labels.csv"):
        frame = pl.read_csv(name)
        frame.with_columns(pl.col("label").replace_strict({3: "three"}, default="other")).write_csv(name)
    assert main([*shlex.split(EXAMPLES[1]), "--plot", "plan.png"]) == 0
    out = capsys.readouterr().out
    assert "balanced accuracy" in out
    assert all(len(row) == 9 for row in numbers(out))  # labels, and twice a value and from … to …
    assert all(float(row[5]) < float(row[1]) for row in numbers(out))


def test_a_file_of_picks_counts_as_labelled_but_says_nothing_about_accuracy(here, capsys):
    pl.read_csv("labels.csv").select("row").write_csv("picks.csv")
    args = ["plan", "digits.csv", "--without", "label", "--labeled", "picks.csv", "--target-accuracy", "0.8"]
    assert main([*args, "--budget", "30"]) == 0
    out = capsys.readouterr().out
    assert "80 labelled rows" in out
    assert "80.0%" in out
    X = pl.read_csv("digits.csv").drop("label").to_numpy().astype(np.float32)
    rows = pl.read_csv("picks.csv")["row"].to_numpy()
    assert numbers(out) == coverage_plan(X, 30, labeled=rows).table.rows


def test_labels_still_to_be_filled_in_are_refused(here, capsys):
    pl.DataFrame({"row": [1, 2], "label": [None, None]}).write_csv("todo.csv")
    assert main(["plan", "digits.csv", "--labeled", "todo.csv", "--budget", "10"]) == 2
    assert "todo.csv has no label yet" in capsys.readouterr().err


@pytest.mark.parametrize("example", EXAMPLES)
def test_plot_and_quiet(here, capsys, example):
    assert main([*shlex.split(example), "--plot", "plan.png", "--quiet"]) == 0
    out, err = capsys.readouterr()
    assert numbers(out)  # the result alone
    assert err == ""
    assert (here / "plan.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_gives_the_same_plan(here, capsys):
    args = ["plan", "digits.csv", "--without", "label", "--labeled", "labels.csv", "--estimator", "knn", "--quiet"]
    for seed in ("1", "1", "2"):
        assert main([*args, "--seed", seed]) == 0
    first, second, other = capsys.readouterr().out.split("Accuracy of ")[1:]
    assert first == second != other


def test_a_target_out_of_reach_is_said(here, capsys):
    frame = pl.DataFrame({"a": np.random.default_rng(0).normal(size=200)})
    frame.write_csv("noise.csv")
    pl.DataFrame({"row": range(100), "label": ["x", "y"] * 50}).write_csv("labels.csv")
    assert main(["plan", "noise.csv", "--labeled", "labels.csv", "--target-accuracy", "0.95"]) == 0
    labels = pl.read_csv("labels.csv")["label"].to_numpy()
    X = frame.to_numpy().astype(np.float32)
    plan = accuracy_plan(X, labels, labeled=range(100), ahead=100, target=0.95)
    assert not plan.go_on
    out = capsys.readouterr().out
    assert all(sentence in out for sentence in plan.sentences)
    assert "95.0% is not expected" in out


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere.csv"], "nowhere.csv"),
        ([], "POOL"),
        (["digits.csv", "--labeled", "nowhere.csv"], "nowhere.csv"),
        (["digits.csv", "--labeled", "few.csv"], "there are 6 labelled rows: label at least 20"),
        (["digits.csv", "--labeled", "one.csv"], "all labels are 'cat'"),
        (["digits.csv", "--labeled", "price.csv"], "measurements"),
        (["digits.csv", "--labeled", "beyond.csv"], "no row 5000"),
        (["digits.csv", "--labeled", "all.csv"], "every row is labelled"),
        (["digits.csv", "--target-accuracy", "90"], "write 0.9 for 90 %"),
        (["digits.csv", "--target-accuracy", "0"], "between 0 and 1"),
        (["digits.csv", "--budget", "501"], "exceeds the 500 unlabelled rows"),
        (["digits.csv", "--batch", "0"], "--batch"),
        (["digits.csv", "--estimator", "oracle"], "oracle"),
        (["digits.csv", "--plot", "plan.pdf"], "ends in .png"),
        (["digits.csv", "--plot", "no/plan.png"], "no folder 'no'"),
        (["gap.npy"], "gap.npy: X has NaN at row 7"),
        (["flat.npy"], "flat.npy: all rows are equal"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2_and_leaves_nothing(here, capsys, args, words):
    np.save("gap.npy", np.where(np.arange(50)[:, None] == 7, np.nan, 1.0 * np.arange(100).reshape(50, 2)))
    np.save("flat.npy", np.ones((50, 3)))
    pl.DataFrame({"row": range(6), "label": ["a", "b"] * 3}).write_csv("few.csv")
    pl.DataFrame({"row": range(30), "label": ["cat"] * 30}).write_csv("one.csv")
    pl.DataFrame({"row": range(30), "label": np.linspace(0.1, 1, 30)}).write_csv("price.csv")
    pl.DataFrame({"row": [5000], "label": ["a"]}).write_csv("beyond.csv")
    pl.DataFrame({"row": range(500), "label": ["a", "b"] * 250}).write_csv("all.csv")
    before = sorted(here.rglob("*"))
    assert main(["plan", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mheal: ")
    assert err.count("\n") == 1
    assert words in err
    assert sorted(here.rglob("*")) == before
