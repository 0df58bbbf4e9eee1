import numpy as np
import pandas as pd
import polars as pl
import pytest

from mheal.exceptions import UserError, UserTypeError
from mheal.tables.features import features
from mheal.tables.schema import choose
from mheal.tables.table import Table, as_polars

ROWS = 40


def uneven(n):
    return [7 * i % 31 for i in range(n)]


def table(**columns):
    rng = np.random.default_rng(0)
    columns = {"a": rng.normal(size=ROWS).tolist(), "c": rng.choice(["x", "y", "y", "z"], ROWS).tolist()} | columns
    return Table.of(pl.DataFrame(columns), "pool.csv")


def of(some, missing="impute"):
    return features(some, choose(some), missing)


def test_a_whole_table_needs_nothing():
    found = of(table())
    assert found.kept is None
    assert not found.notes
    assert found.X.shape == (ROWS, 4)


def test_numbers_get_the_median_and_categories_the_most_frequent_value():
    a = [5.0, None, *range(1, ROWS - 1)]
    found = of(table(a=a, c=["y", "y", None, *["x"] * (ROWS - 3)]))
    assert found.X[1, 0] == np.median([value for value in a if value is not None])
    assert found.X[2, 1:].tolist() == [1, 0]
    assert found.X.shape == (ROWS, 3)
    assert "(a: 1, c: 1)" in found.notes[0]


def test_a_column_that_is_often_missing_gets_an_indicator():
    a = [None, None, None, *uneven(ROWS - 3)]
    found = of(table(a=a))
    assert found.X.shape == (ROWS, 5)
    assert found.X[:, -1].tolist() == [value is None for value in a]
    assert "indicator column for a" in found.notes[0]


def test_rows_are_dropped_if_chosen():
    found = of(table(a=[None, *uneven(ROWS - 1)], b=[1.5, None, *uneven(ROWS - 2)]), "drop")
    assert found.kept.tolist() == list(range(2, ROWS))
    assert len(found.X) == ROWS - 2
    assert "2 rows" in found.notes[0]


def test_missing_values_are_refused_if_chosen():
    with pytest.raises(UserError, match=r"row 1, column 'a' is empty.*\(a: 1\)"):
        of(table(a=[0.5, None, *uneven(ROWS - 2)]), "refuse")
    with pytest.raises(UserError, match="impute, drop, refuse"):
        of(table(), "mean")


def test_empty_rows_do_not_shift_the_row_that_is_named():
    with pytest.raises(UserError, match="row 4, column 'a' is empty"):
        of(table(a=[0.5, None, 1, 2, None, *uneven(ROWS - 5)], c=["x", None, *"xy" * (ROWS // 2 - 1)]), "refuse")


def test_words_that_are_no_numbers_are_named():
    found = of(table(a=["about 7", *map(str, uneven(ROWS - 1))]))
    assert "a: 1, with 'about 7'" in found.notes[0]


def test_infinity_is_refused():
    with pytest.raises(UserError, match="infinite"):
        of(table(a=[float("inf"), *uneven(ROWS - 1)]))


def test_a_frame_of_pandas_has_the_features_of_the_same_frame_of_polars():
    frame = pd.DataFrame(
        {
            "a": [1.0, np.nan, 3.0, 4.5],
            "b": pd.array([1, None, 3, 9], dtype="Int64"),
            "c": pd.Categorical(["x", "y", None, "x"]),
            "when": pd.to_datetime(["2024-01-01", None, "2024-02-01", "2024-03-01"]),
            "member": ["yes", "no", None, "no"],
            "truth": [True, False, None, True],
            5: [1, 2, 3, 5],
        }
    )
    theirs = Table.of(as_polars(frame), "X")
    same = Table.of(pl.DataFrame({str(name): _listed(frame[name]) for name in frame}), "X")
    assert choose(theirs).description == choose(same).description
    assert np.array_equal(of(theirs).X, of(same).X)


def _listed(column):
    return [
        None if pd.isna(value) else getattr(value, "to_pydatetime", lambda value=value: value)() for value in column
    ]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(UserTypeError, match="two columns called 'a'"):
        as_polars(pd.DataFrame([[1, 2]], columns=["a", "a"]))
