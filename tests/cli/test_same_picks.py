"""The command line picks the rows that `mheal.select` picks: same data, seed and options."""

import shlex

import numpy as np
import polars as pl
import pytest
from sklearn.svm import SVC

import mheal
from mheal.cli import main
from mheal.strategies import get, names


@pytest.fixture
def digits(desk):
    """The features as the command reads them, the labelled rows and their labels."""
    X = pl.read_csv("digits.csv").drop("id", "label").to_numpy().astype(np.float32)
    labels = pl.read_csv("labels.csv")
    return X, labels["row"].to_numpy(), labels["label"].to_numpy()


def picked(line):
    """The rows that the command picks."""
    assert main(shlex.split(f"select digits.csv --without label -b 20 -q {line}")) == 0
    return pl.read_csv("picks.csv")["row"].to_list()


def needs_labels(name):
    return get(name).needs_model or get(name).needs_labels


@pytest.mark.parametrize("name", [name for name in names() if not needs_labels(name)])
def test_without_labels(name, digits):
    X, _, _ = digits
    assert picked(f"--strategy {name} --seed 3") == list(mheal.select(X, 20, strategy=name, random_state=3))


@pytest.mark.parametrize("name", names())
def test_with_labels(name, digits):
    X, rows, y = digits
    expected = mheal.select(X, 20, strategy=name, labeled=rows, y=y)
    assert picked(f"--strategy {name} --labeled labels.csv") == list(expected)


def test_with_options(digits):
    X, rows, y = digits
    proba = np.load("proba.npy")
    assert picked("--proba proba.npy") == list(mheal.select(X, 20, proba=proba))
    assert picked("--classes 10") == list(mheal.select(X, 20, n_classes=10))
    assert picked("--clusters 10") == picked("--classes 10")
    assert picked("--scaling unit") == list(mheal.select(X, 20, scaling="unit"))
    assert picked("--deduplicate") == list(mheal.select(X, 20, deduplicate=True))
    known = {"labeled": rows, "y": y}
    assert picked("--labeled labels.csv --estimator forest") == list(mheal.select(X, 20, estimator="forest", **known))
    theirs = mheal.select(X, 20, estimator=SVC(), **known)
    assert picked("--labeled labels.csv --estimator sklearn.svm:SVC") == list(theirs)
