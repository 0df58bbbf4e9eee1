"""`mheal compare`, end to end."""

import json
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_iris

from mheal.cli import main
from mheal.cli.compare import compare
from mheal.evaluate import Curves, simulate
from mheal.evaluate.report import sentences
from mheal.strategies import get, names

FILES = ["curves.csv", "curves.png", "report.html", "settings.json"]
ALWAYS = ["accuracy", "balanced accuracy"]
TINY = ["compare", "digits.csv", "--target", "label", "--strategies", "mheal,random,margin", "--budgets", "10,20,40"]


def write_digits():
    images, y = load_digits(return_X_y=True)
    frame = pl.DataFrame(images[:400].astype(int), [f"p{i}" for i in range(64)])
    frame.with_columns(label=pl.Series(y[:400])).write_csv("digits.csv")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    write_digits()
    return tmp_path


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of two seeds, made once."""
    folder = tmp_path_factory.mktemp("done")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_digits()
        assert main([*TINY, "--seeds", "2", "--quiet"]) == 0
    return folder / "compare"


@pytest.fixture
def compared(here, done):
    """Digits, and a copy of that folder."""
    shutil.copytree(done, here / "compare")
    return here


def rows_of(folder):
    """Everything but the time it took."""
    return pl.read_csv(Path(folder) / "curves.csv").drop("seconds")


def settings_in(folder):
    """All that is said of the runs, but for the digests of the files."""
    return json.loads((Path(folder) / "settings.json").read_text()) | {"files": None}


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


EXAMPLES = re.findall(r"Example: mheal (.*)", compare.__doc__)


def test_the_second_example_in_the_help_measures_what_it_names(here, capsys):
    assert main(shlex.split(EXAMPLES[1])) == 0
    rows = pl.read_csv("svm/curves.csv")
    assert set(rows["estimator"]) == {"sklearn.svm:LinearSVC"}
    assert (rows["f1_macro"] <= 1).all()
    assert (rows["f1_macro"] != rows["accuracy"]).any()
    assert "macro f1" in capsys.readouterr().out.lower()


def test_the_first_example_in_the_help_works_as_written(here, capsys):
    assert main(shlex.split(EXAMPLES[0])) == 0
    assert listing(here / "compare") == FILES
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
def test_where_one_class_is_most_rows_accuracy_and_balanced_accuracy_are_both_shown(here, capsys, metric, beside):
    frame = pl.read_csv("digits.csv")
    frame.with_columns(pl.col("label").replace_strict({3: "three"}, default="other")).write_csv("digits.csv")
    args = ["compare", "digits.csv", "-t", "label", "--strategies", "mheal", "--budgets", "20,40", "--seeds", "2"]
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


def test_quiet_writes_the_files_and_prints_nothing(here, capsys):
    assert main([*TINY, "--seeds", "1", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert listing(here / "compare") == FILES
    assert (here / "compare" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_report_fetches_nothing_and_says_where_the_data_is_from(compared):
    page = (compared / "compare" / "report.html").read_text(encoding="utf-8")
    assert "http" not in page
    assert set(re.findall(r'(?:src|srcset|href)="([^"]{0,22})', page)) == {"data:image/png;base64,"}
    assert "digits.csv, 400 labelled rows" in page
    assert "a pool of 280 rows and a test set of 120" in page
    counts = pl.read_csv("digits.csv")["label"].value_counts(sort=True)
    assert f"classes: {counts['label'][0]} {counts['count'][0]}, " in page


def test_random_is_always_run_and_all_means_all_that_need_no_torch(here, capsys):
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


def test_default_budgets_are_at_most_half_of_the_pool(here):
    X, y = load_iris(return_X_y=True)
    np.savez("iris.npz", X=X, y=y)
    assert main(["compare", "iris.npz", "--target", "y", "--seeds", "1", "-q"]) == 0
    assert set(rows_of("compare")["labels"]) == {10, 20, 50}


def test_that_nothing_beats_random_is_printed(here, capsys):
    X, _ = load_iris(return_X_y=True)
    np.savez("noise.npz", X=X, y=np.random.default_rng(0).integers(0, 2, 150))
    assert main(["compare", "noise.npz", "--target", "y", "--strategies", "mheal", "--budgets", "10,20"]) == 0
    curves = Curves.from_csv("compare/curves.csv")
    assert curves.significance()["p_t_holm"][0] > 0.05
    assert "\n".join(sentences(curves)) in capsys.readouterr().out


def test_rows_without_labels_are_left_out_and_said(here, capsys):
    frame = pl.read_csv("digits.csv")
    labels = frame.select(row=pl.int_range(400), label="label")
    labels.filter(pl.col("row") % 4 > 0).write_csv("labels.csv")
    frame.drop("label").write_parquet("pool.parquet")
    assert main(["compare", "pool.parquet", "-t", "labels.csv", "--budgets", "20", "--seeds", "1"]) == 0
    assert "labels.csv: 100 rows without a label are left out" in capsys.readouterr().err
    kept = frame.filter(pl.int_range(400) % 4 > 0)
    curves = simulate(kept.drop("label").to_numpy(), kept["label"].to_numpy(), ["random"], [20], seeds=1)
    assert rows_of("compare").filter(strategy="random")["accuracy"].to_list() == curves.values("random")[:, 0].tolist()


# ---- resuming


def test_a_run_can_be_extended_and_equals_one_in_one_go(here, capsys):
    """More seeds, more strategies and more budgets later; margin learns between the budgets, so it must run again."""
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


def test_resuming_runs_only_what_is_missing(here, capsys):
    assert main([*TINY, "--seeds", "3", "-q"]) == 0
    whole = Curves.from_csv("compare/curves.csv")
    Curves([row for row in whole.rows if (row["strategy"], row["seed"]) not in {("margin", 0), ("mheal", 2)}]).save_csv(
        "compare/curves.csv"
    )
    (here / "compare" / "report.html").unlink()
    assert main([*TINY, "--seeds", "3"]) == 2
    assert_one_line(capsys, "curves.csv has changed since mheal wrote it", "--force")
    assert main([*TINY, "--seeds", "3", "--force"]) == 0
    assert "compare: 7 of 9 runs found" in capsys.readouterr().err
    assert rows_of("compare").equals(pl.DataFrame(list(whole.rows)).drop("seconds"))
    kept = pl.read_csv("compare/curves.csv").filter(seed=1)["seconds"].to_list()
    assert kept == [row["seconds"] for row in whole.rows if row["seed"] == 1]  # not run again
    assert listing(here / "compare") == FILES


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


def test_a_folder_without_settings_is_not_ours(here, capsys):
    (here / "compare").mkdir()
    (here / "compare" / "curves.csv").write_text("my,own\n1,2\n")
    assert main([*TINY]) == 2
    assert_one_line(capsys, "curves.csv was not written by mheal")
    assert main([*TINY, "--force"]) == 2
    assert_one_line(capsys, "no settings.json")
    assert listing(here / "compare") == ["curves.csv"]


def test_interrupt_keeps_the_runs_so_far(here):
    command = [sys.executable, "-m", "mheal", *TINY, "--estimator", "forest", "--seeds", "50"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        wait_for(here / "compare" / "curves.csv", process)
        process.send_signal(signal.SIGINT)
        err = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    kept = len(rows_of("compare")) // 3
    assert f"{kept} of 150 runs are kept in compare" in err
    assert "Traceback" not in err


def wait_for(path, process, since=0):
    """Until the process has written a file after this time."""
    while not (path.exists() and path.stat().st_mtime_ns > since):
        assert process.poll() is None, f"it has ended without {path.name}"
        time.sleep(0.01)


@pytest.mark.parametrize("kills", [2, pytest.param(25, marks=pytest.mark.slow)])
def test_killed_at_any_moment_it_leaves_whole_runs_and_goes_on(here, kills):
    rng = random.Random(kills)
    command = [*TINY, "--seeds", "6" if kills == 2 else "60", "--quiet"]
    settings, kept = here / "compare" / "settings.json", set()
    for kill in range(kills):
        before = settings.stat().st_mtime_ns if settings.exists() else 0
        with subprocess.Popen([sys.executable, "-m", "mheal", *command]) as process:
            if kill % 4 == 3:  # while it starts or, on a quick machine, at work
                time.sleep(rng.uniform(0.5, 4))
            else:  # at work: it has just written its settings
                wait_for(settings, process, before)
                if kill == 0:
                    wait_for(here / "compare" / "curves.csv", process)
                time.sleep(rng.uniform(0, 0.8))
            process.kill()
        if (here / "compare" / "curves.csv").exists():
            curves = Curves.from_csv("compare/curves.csv")
            units = {(row["strategy"], row["seed"]) for row in curves.rows}
            assert sorted((row["strategy"], row["seed"], row["labels"]) for row in curves.rows) == sorted(
                (*unit, labels) for unit in units for labels in (10, 20, 40)
            )
            kept.add(len(curves.rows))
        json.loads(settings.read_text())
    assert len(kept) > kills // 8  # killed at work, not only before and after it
    assert main(command) == 0
    assert listing(here / "compare") == FILES  # what killed runs left behind is gone
    assert main([*command, "--out", "once"]) == 0
    assert rows_of("compare").equals(rows_of("once"))
    assert settings_in("compare") == settings_in("once")
    for name in ("curves.png", "report.html"):
        assert (here / "compare" / name).read_bytes() == (here / "once" / name).read_bytes()


# ---- mistakes


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
        (["digits.csv", "-t", "label", "--out", "taken"], "taken is a file"),
        (["digits.csv", "-t", "short.npy"], "short.npy has 3 labels"),
        (["gap.npy", "-t", "y.npy"], "gap.npy: X has NaN at row 7"),
        (["flat.npy", "-t", "y.npy"], "flat.npy: all rows are equal"),
        (["fine.npy", "-t", "price.npy"], "price.npy holds measurements"),
        (["fine.npy", "-t", "rare.npy"], "class 9 has 1 row only"),
        (["fine.npy", "-t", "label"], "no file 'label'"),
        (["fine.npy", "-t", "y.npy", "--columns", "a"], "not a table"),
    ],
)
def test_a_mistake_is_one_line_and_exit_2_and_leaves_nothing(here, capsys, args, words):
    rng = np.random.default_rng(0)
    fine = rng.normal(size=(50, 3))
    np.save("fine.npy", fine)
    np.save("gap.npy", np.where(np.arange(50)[:, None] == 7, np.nan, fine))
    np.save("flat.npy", np.ones((50, 3)))
    np.save("y.npy", np.arange(50) % 2)
    np.save("rare.npy", np.r_[np.arange(49) % 2, 9])
    np.save("price.npy", rng.normal(size=50))
    np.save("short.npy", [0, 1, 0])
    (here / "taken").touch()
    before = listing(here)
    assert main(["compare", *args]) == 2
    assert_one_line(capsys, words)
    assert listing(here) == before


def assert_one_line(capsys, *words):
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mheal: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_the_first_seed_chooses_the_splits(compared):
    assert main([*TINY, "--seeds", "1", "--seed", "1"]) == 0  # the second of the two splits that are there
    curves = Curves.from_csv("compare/curves.csv")
    assert curves.seeds() == [0, 1]
    assert json.loads(Path("compare/settings.json").read_text(encoding="utf-8"))["seed"] == 1
    assert main([*TINY, "--seeds", "1", "--seed", "7", "--out", "other"]) == 0
    assert Curves.from_csv("other/curves.csv").seeds() == [7]
