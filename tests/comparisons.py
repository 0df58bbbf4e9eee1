"""Helpers of the tests of `mheal compare`: a command, its data, and functions that read its folder."""

import json
from pathlib import Path

import polars as pl
from sklearn.datasets import load_digits

FILES = ["curves.csv", "curves.png", "report.html", "settings.json"]
ALWAYS = ["accuracy", "balanced accuracy"]
TINY = ["compare", "digits.csv", "--target", "label", "--strategies", "mheal,random,margin", "--budgets", "10,20,40"]


def write_digits():
    images, y = load_digits(return_X_y=True)
    frame = pl.DataFrame(images[:400].astype(int), [f"p{i}" for i in range(64)])
    frame.with_columns(label=pl.Series(y[:400])).write_csv("digits.csv")


def rows_of(folder):
    """The recorded rows without the column of seconds."""
    return pl.read_csv(Path(folder) / "curves.csv").drop("seconds")


def settings_in(folder):
    """The settings of the runs, without the digests of the files."""
    return json.loads((Path(folder) / "settings.json").read_text()) | {"files": None}


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def assert_one_line(capsys, *words):
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("mheal: ")
    assert err.count("\n") == 1
    for word in words:
        assert word in err
