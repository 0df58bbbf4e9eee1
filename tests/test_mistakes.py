"""Mistakes in calls of the library, each answered with one line that has the remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import mheal
from mheal.exceptions import UserError

X, Y = np.random.default_rng(0).normal(size=(40, 3)), ["x", "y"] * 20
FRAME, HALVES = pd.DataFrame({"size": X[:, 0], "colour": ["red", "blue"] * 20}), np.arange(40) % 2
SOME = np.arange(38)
COLOURS = make_pipeline(make_column_transformer((OneHotEncoder(), ["colour"])), LogisticRegression())
IN_PYTHON = {
    "a list of words": (lambda: mheal.select([["a", "b"]] * 9, 2), "give a pandas or polars frame"),
    "a file name": (lambda: mheal.select("pool.csv", 2), "read files first"),
    "one dimension": (lambda: mheal.select(X[:, 0], 2), "reshape"),
    "NaN": (lambda: mheal.select(np.where(X > 1, np.nan, X), 2), "drop such rows or fill them in"),
    "too many": (lambda: mheal.select(X, 41), "at most 40"),
    "none": (lambda: mheal.select(X, 0), "at least 1"),
    "a share": (lambda: mheal.select(X, 0.1), "whole number"),
    "a strategy that is not there": (lambda: mheal.select(X, 2, strategy="bets"), "choose from"),
    "a row that is not there": (lambda: mheal.select(X, 2, labeled=[40], y=["x"]), "0 to 39"),
    "other labels than rows": (lambda: mheal.select(X, 2, labeled=[1, 2], y=["x"]), "give one for each"),
    "labels of all rows": (lambda: mheal.select(X, 2, y=Y), "None for the labels that are missing"),
    "names as rows": (lambda: mheal.select(X, 2, labeled=["a"]), "row numbers or a boolean mask"),
    "no labels for margin": (lambda: mheal.select(X, 2, strategy="margin"), "give estimator or proba, or labels"),
    "probabilities of other rows": (lambda: mheal.select(X, 2, proba=np.ones((2, 2)) / 2), "40 rows"),
    "two sources of probabilities": (
        lambda: mheal.select(X, 2, proba=np.ones((40, 2)) / 2, utility=np.ones(40)), "give one of them"),
    "a model that takes frames": (
        lambda: mheal.select(FRAME, 2, labeled=SOME, y=HALVES[SOME], estimator=COLOURS, strategy="margin"),
        "takes an array of numbers"),
    "a model that was fitted on a frame": (
        lambda: mheal.select(FRAME, 2, estimator=clone(COLOURS).fit(FRAME, HALVES), strategy="margin"),
        "its class probabilities as proba"),
    "a seed in words": (lambda: mheal.select(X, 2, random_state="x"), "random_state"),
    "what to do with gaps": (lambda: mheal.select(pl.DataFrame(X), 2, missing="mean"), "impute, drop, refuse"),
    "a frame that is not read yet": (lambda: mheal.select(pl.DataFrame(X).lazy(), 2), "collect what is lazy"),
    "a simulation without labels": (
        lambda: mheal.evaluate.simulate(X, None, ["random"], [5], seeds=1), "one column of labels"),
}  # fmt: skip


@pytest.mark.parametrize("case", IN_PYTHON)
def test_a_mistake_in_python_is_one_line_with_the_remedy(case):
    call, remedy = IN_PYTHON[case]
    with pytest.raises(UserError) as caught:
        call()
    assert "\n" not in str(caught.value)
    assert remedy in str(caught.value)
