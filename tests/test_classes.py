"""Labels from every source are turned into classes by the same rules."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from mheal.classes import as_classes, missing, why_not_classes


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1.0, 2.0, 1.0], [1, 2, 1]),
        (np.array([1, 0], np.uint8), [1, 0]),
        ([True, False], [True, False]),
        ([True, 2], [1, 2]),
        ([0.5, 1.0, 4.5], ["0.5", "1.0", "4.5"]),  # half stars
        (["007", "7"], ["007", "7"]),
        (np.array(["a", "b"], object), ["a", "b"]),
        ([np.int64(3), 4], [3, 4]),
        ([2.0**53, 0.0], [str(2.0**53), "0.0"]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2]),
        (pd.Series(["a", "b"], dtype="category"), ["a", "b"]),
        (pl.Series(["a", "b"]), ["a", "b"]),
        (pl.Series([1.0, 2.0]), [1, 2]),
    ],
)
def test_labels_become_integers_booleans_or_strings(labels, expected):
    found = as_classes(labels)
    assert found.tolist() == expected
    assert found.dtype.kind in "iubU"


@pytest.mark.parametrize(
    "labels",
    [
        ["a", None, "b"],
        ["a", float("nan"), "b"],
        ["a", " ", "b"],
        [1, None, 2],
        np.array([1.0, np.nan, 2.0]),
        pd.Series([1, None, 2], dtype="Int64"),
        pd.Series(["a", pd.NA, "b"]),
        pl.Series(["a", None, "b"]),
        pl.Series([1, None, 2]),
    ],
)
def test_missing_labels_are_known_by_their_row(labels):
    assert missing(labels).tolist() == [False, True, False]
    with pytest.raises(ValueError, match="y has no label at row 1"):
        as_classes(labels)


@pytest.mark.parametrize(
    ("labels", "error", "words"),
    [
        (np.linspace(0.1, 9, 30), ValueError, r"prices holds measurements \(30 different numbers.*bin them"),
        ([1, "a"], TypeError, "prices mixes int and str: labels must be all whole numbers or all strings"),
        ([[1], [1, 2]], TypeError, "prices holds list"),
        (np.ones((3, 2)), ValueError, r"prices must be one column of labels, but has shape \(3, 2\)"),
        (np.array(["2020-01-01"], "datetime64[D]"), TypeError, "prices holds datetime64"),
        ([1 + 2j], TypeError, "prices holds complex"),
    ],
)
def test_what_is_no_class_gets_one_line(labels, error, words):
    with pytest.raises(error, match=words) as raised:
        as_classes(labels, "prices")
    assert "\n" not in str(raised.value)


def test_as_many_as_there_are_rows():
    with pytest.raises(ValueError, match="2 labels, but X has 3 rows"):
        as_classes([1, 2], n=3)


def test_labels_that_teach_nothing_have_a_reason():
    assert why_not_classes(np.array([1, 2, 1, 2])) is None
    assert "all labels are 'a'" in why_not_classes(np.array(["a"] * 4))
    assert "3 different values in 4 rows" in why_not_classes(np.array([1, 2, 3, 3]))
