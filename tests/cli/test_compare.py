"""`mheal compare`, end to end."""

import re
import shlex
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

from comparisons import ALWAYS, FILES, TINY, assert_one_line, listing, rows_of
from mheal.cli import main
from mheal.cli.compare import compare
from mheal.evaluate import Curves, simulate
from mheal.evaluate.report import sentences
from mheal.strategies import get, names

EXAMPLES = re.findall(r"Example: mheal (.*)", compare.__doc__)


def test_the_second_example_in_the_help_measures_what_it_names(digits_csv, capsys):
    assert main(shlex.split(EXAMPLES[1])) == 0
    rows = pl.read_csv("svm/curves.csv")
    assert set(rows["estimator"]) == {"sklearn.svm:LinearSVC"}
    assert (rows["f1_macro"] <= 1).all()
    assert (rows["f1_macro"] != rows["accuracy"]).any()
    assert "macro f1" in capsys.readouterr().out.lower()


def test_the_first_example_in_the_help_works_as_written(digits_csv, capsys):
    assert main(shlex.split(EXAMPLES[0])) == 0
    assert listing(digits_csv / "compare") == FILES
    out, err = capsys.readouterr()
    for words in ("mheal ", "random ", "coreset ", "kmeans ", "labels saved", "p (Holm)", "mean rank", "±"):
        assert words in out
    assert all(sentence in out for sentence in sentences(Curves.from_csv("compare/curves.csv")))
    assert "digits.csv: 400 rows, 64 numeric columns" in err
    assert "Written: compare/curves.csv" in err
    assert "\x1b" not in out + err
    assert rows_of("compare").shape == (4 * 3 * 2, 7)


def test_the_rows_are_those_of_simulate_without_the_target_among_the_features(compared):
    frame = pl.read_csv("digits.csv")
    X, y = frame.drop("label").to_numpy().astype(np.float32), frame["label"].to_numpy()
    expected = simulate(X, y, ["mheal", "random", "margin"], [10, 20, 40], seeds=2)
    expected.save_csv("expected.csv")
    assert rows_of("compare").equals(pl.read_csv("expected.csv").drop("seconds"))


@pytest.mark.parametrize(("metric", "beside"), [("accuracy", ["balanced accuracy"]), ("f1_macro", ALWAYS)])
def test_where_one_class_is_most_rows_accuracy_and_balanced_accuracy_are_both_shown(digits_csv, capsys, metric, beside):
    frame = pl.read_csv("digits.csv")
    frame.with_columns(pl.col("label").replace_strict({3: "three"}, default="other")).write_csv("digits.csv")
    args = ["compare", "digits.csv", "-t", "label", "--strategies", "mheal", "--budgets", "20,40", "--seeds", "3"]
    assert main([*args, "--metric", metric]) == 0
    out, page = capsys.readouterr().out, Path("compare/report.html").read_text(encoding="utf-8")
    rows = pl.read_csv("compare/curves.csv")
    assert rows["largest_class"].min() > 0.85
    curves = Curves.from_csv("compare/curves.csv", metric)
    for name in beside:
        height = 100 * rows.filter(strategy="mheal", labels=40)[name.replace(" ", "_")].mean()
        for text in (out, page):
            assert f"{name.capitalize()} in %" in text
            assert f"mean {name}, %" in text
            assert f"{height:.1f} ±" in text
    title = curves.metric_title[0].upper() + curves.metric_title[1:]
    assert out.index(f"{title} in %") < out.index("Balanced accuracy in %")  # the user's comes first


def test_with_even_classes_there_is_one_metric(compared, capsys):
    assert main([*TINY, "--seeds", "2"]) == 0
    page = (compared / "compare" / "report.html").read_text(encoding="utf-8").lower()
    assert "balanced" not in capsys.readouterr().out.lower() + page


def test_quiet_writes_the_files_and_prints_nothing(digits_csv, capsys):
    assert main([*TINY, "--seeds", "1", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert listing(digits_csv / "compare") == FILES
    assert (digits_csv / "compare" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_fetches_nothing_and_says_where_the_data_is_from(compared):
    page = (compared / "compare" / "report.html").read_text(encoding="utf-8")
    assert "http" not in page
    assert set(re.findall(r'(?:src|srcset|href)="([^"]{0,22})', page)) == {"data:image/png;base64,"}
    assert "digits.csv, 400 labelled rows" in page
    assert "a pool of 280 rows and a test set of 120" in page
    counts = pl.read_csv("digits.csv")["label"].value_counts(sort=True)
    assert f"classes: {counts['label'][0]} {counts['count'][0]}, " in page


def test_random_is_always_run_and_all_means_all_that_need_no_torch(digits_csv, capsys):
    assert (
        main(["compare", "digits.csv", "-t", "label", "--strategies", "coreset", "--budgets", "10", "--seeds", "1"])
        == 0
    )
    assert rows_of("compare")["strategy"].to_list() == ["coreset", "random"]
    assert sentences(Curves.from_csv("compare/curves.csv"))[0] in capsys.readouterr().out
    tiny = pl.read_csv("digits.csv").head(100).select("p20", "p21", "p28", "label")
    tiny.filter(pl.col("label") < 2).write_csv("tiny.csv")
    line = ["compare", "tiny.csv", "-t", "label", "--strategies", "all", "--budgets", "4", "--seeds", "1", "-o", "all"]
    assert main([*line, "-q"]) == 0
    assert set(rows_of("all")["strategy"]) == {name for name in names() if not get(name).needs_torch}


def test_default_budgets_are_at_most_half_of_the_pool(digits_csv):
    X, y = load_iris(return_X_y=True)
    np.savez("iris.npz", X=X, y=y)
    assert main(["compare", "iris.npz", "--target", "y", "--seeds", "1", "-q"]) == 0
    assert set(rows_of("compare")["labels"]) == {10, 20, 50}


def test_that_nothing_beats_random_is_printed(digits_csv, capsys):
    X, _ = load_iris(return_X_y=True)
    np.savez("noise.npz", X=X, y=np.random.default_rng(0).integers(0, 2, 150))
    assert main(["compare", "noise.npz", "--target", "y", "--strategies", "mheal", "--budgets", "10,20"]) == 0
    curves = Curves.from_csv("compare/curves.csv")
    assert curves.significance()["p_t_holm"][0] > 0.05
    assert "\n".join(sentences(curves)) in capsys.readouterr().out


def test_rows_without_labels_are_left_out_and_said(digits_csv, capsys):
    frame = pl.read_csv("digits.csv")
    labels = frame.select(row=pl.int_range(400), label="label")
    labels.filter(pl.col("row") % 4 > 0).write_csv("labels.csv")
    frame.drop("label").write_parquet("pool.parquet")
    assert main(["compare", "pool.parquet", "-t", "labels.csv", "--budgets", "20", "--seeds", "1"]) == 0
    assert "labels.csv: 100 rows without a label left out" in capsys.readouterr().err
    kept = frame.filter(pl.int_range(400) % 4 > 0)
    curves = simulate(kept.drop("label").to_numpy(), kept["label"].to_numpy(), ["random"], [20], seeds=1)
    assert rows_of("compare").filter(strategy="random")["accuracy"].to_list() == curves.values("random")[:, 0].tolist()


# ---- resuming


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["nowhere.csv", "-t", "label"], "nowhere.csv"),
        (["digits.csv"], "--target"),
        (["digits.csv", "-t", "labl"], "did you mean 'label'"),
        (["digits.csv", "-t", "label", "--strategies", "mheal,magic"], "magic"),
        (["digits.csv", "-t", "label", "--strategies", ","], "--strategies is empty"),
        (["digits.csv", "-t", "label", "--estimator", "oracle"], "oracle"),
        (["digits.csv", "-t", "label", "--metric", "luck"], "luck"),
        (["digits.csv", "-t", "label", "--budgets", "few,many"], "--budgets takes whole numbers"),
        (["digits.csv", "-t", "label", "--budgets", ""], "one or more numbers of labels"),
        (["digits.csv", "-t", "label", "--budgets", "0,10"], "at least 1"),
        (["digits.csv", "-t", "label", "--budgets", "281"], "exceeds the pool of 280"),
        (["digits.csv", "-t", "label", "--seeds", "0"], "--seeds"),
        (["digits.csv", "-t", "label", "--columns", "p1,label"], "label"),
        (["digits.csv", "-t", "label", "--without", "p99"], "p99"),
        (["digits.csv", "-t", "label", "--max-pool", "5"], "max_pool"),
        (["digits.csv", "-t", "label", "--out", "taken"], "taken' is a file"),
        (["digits.csv", "-t", "short.npy"], "short.npy has 3 labels"),
        (["gap.npy", "-t", "y.npy"], "gap.npy: X has NaN at row 7"),
        (["flat.npy", "-t", "y.npy"], "flat.npy: all rows are equal"),
        (["fine.npy", "-t", "price.npy"], "price.npy holds measurements"),
        (["fine.npy", "-t", "rare.npy"], "class 9 has 1 row only"),
        (["fine.npy", "-t", "label"], "no file 'label'"),
        (["fine.npy", "-t", "y.npy", "--columns", "a"], "not a table"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2_and_leaves_nothing(digits_csv, capsys, args, words):
    rng = np.random.default_rng(0)
    fine = rng.normal(size=(50, 3))
    np.save("fine.npy", fine)
    np.save("gap.npy", np.where(np.arange(50)[:, None] == 7, np.nan, fine))
    np.save("flat.npy", np.ones((50, 3)))
    np.save("y.npy", np.arange(50) % 2)
    np.save("rare.npy", np.r_[np.arange(49) % 2, 9])
    np.save("price.npy", rng.normal(size=50))
    np.save("short.npy", [0, 1, 0])
    (digits_csv / "taken").touch()
    before = listing(digits_csv)
    assert main(["compare", *args]) == 2
    assert_one_line(capsys, words)
    assert listing(digits_csv) == before
