import datetime
import decimal
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

import mheal
from mheal.exceptions import DataWarning, UserError, UserTypeError
from mheal.tables.table import as_polars
from mheal.validation import as_array


def customers(n=200, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "customer_id": [f"c{i}" for i in range(n)],
            "age": rng.normal(40, 9, n),
            "income": rng.lognormal(10, 1, n),
            "job": rng.choice(["clerk", "nurse", "smith"], n),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
            "churn": rng.choice(["stays", "leaves"], n),
        },
        index=pd.Index([f"row {i}" for i in range(n)]),
    )
    frame.loc[frame.index[::7], "income"] = np.nan
    frame.loc[frame.index[3], "job"] = None
    return frame


def test_a_mixed_frame_is_understood_with_warnings():
    frame = customers()
    with pytest.warns(DataWarning) as caught:
        picks = mheal.select(frame, 10)
    text = " ".join(str(warning.message) for warning in caught)
    for word in ("age", "job: 3 values", "since [dates]", "income: 29", "indicator column for income"):
        assert word in text
    assert "customer_id" not in frame.columns[[1]]
    assert picks.to_pandas().index.tolist() == frame.iloc[picks].index.tolist()
    with pytest.warns(DataWarning):
        assert mheal.select(pl.from_pandas(frame.reset_index(drop=True)), 10).indices.tolist() == picks.indices.tolist()


def test_plain_numbers_need_no_warning():
    frame = customers()[["age"]].assign(income=1.5 * np.arange(200) % 7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert mheal.select(frame, 10).indices.tolist() == mheal.select(frame.to_numpy(), 10).indices.tolist()


def test_rows_with_missing_values_are_not_picked_if_dropped():
    frame = customers()
    labelled = [*np.flatnonzero(frame["income"].notna())[:6].tolist(), 7]
    y = ["a", "b", "a", "b", "a", "b", "a"]
    with pytest.warns(DataWarning):
        picks = mheal.select(frame, 20, labeled=labelled, y=y, missing="drop")
    picked = frame.iloc[picks]
    assert picked["income"].notna().all()
    assert picked["job"].notna().all()
    assert not set(picks) & set(labelled)
    assert picks.to_pandas().index.tolist() == picked.index.tolist()


def test_missing_values_can_be_refused():
    with pytest.raises(UserError, match=r"row 0, column 'income' is empty"):
        mheal.select(customers(), 20, missing="refuse")


def test_a_column_that_repeats_the_labels_is_left_out():
    frame = customers()
    rows = list(range(60))
    with pytest.warns(DataWarning, match="left out churn"):
        picks = mheal.select(frame, 10, labeled=rows, y=frame["churn"].iloc[rows].tolist())
    with pytest.warns(DataWarning):
        same = mheal.select(frame.drop(columns="churn"), 10, labeled=rows, y=frame["churn"].iloc[rows].tolist())
    assert picks.indices.tolist() == same.indices.tolist()


def test_texts_are_refused_with_the_remedy():
    frame = pd.DataFrame({"text": [f"a sentence about matter number {i}" for i in range(50)]})
    with pytest.raises(UserTypeError, match=r"mheal\.embed"):
        mheal.select(frame, 5)


def test_rows_without_any_value_are_not_picked():
    frame = customers()[["age", "income", "job"]]
    frame.iloc[[5, 50]] = None
    with pytest.warns(DataWarning, match="2 empty rows left out: 5, 50"):
        picks = mheal.select(frame, 150)
    assert not {5, 50} & set(picks)
    assert mheal.MHEAL(random_state=0).select(frame, 150).indices.tolist() == picks.indices.tolist()
    with pytest.raises(UserError, match="2 empty rows"):
        as_array(frame)


def test_arrays_of_polars_are_embeddings():
    X = np.random.default_rng(0).normal(size=(50, 4))
    assert isinstance(pl.DataFrame({"e": X}).schema["e"], pl.Array)
    assert mheal.select(pl.DataFrame({"e": X}), 5, scaling="raw").indices.tolist() == (
        mheal.select(X, 5, scaling="raw").indices.tolist()
    )


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_dates_with_a_time_zone_are_days(zone):
    frame = customers()[["age", "since"]].assign(since=lambda f: f["since"].dt.tz_localize(zone))
    frame.iloc[3, 1] = pd.NaT
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        mheal.select(frame, 5)
    days = as_polars(frame)["since"]
    assert days.null_count() == 1
    assert days[0] == frame["since"].iloc[0].tz_convert("UTC").tz_localize(None)


def test_lists_and_arrays_in_pandas_are_embeddings():
    X = np.random.default_rng(0).normal(size=(50, 4))
    expected = mheal.select(X, 5, scaling="raw").indices.tolist()
    for rows in (X.tolist(), list(X)):
        assert mheal.select(pd.DataFrame({"e": rows}), 5, scaling="raw").indices.tolist() == expected


def test_cells_that_are_no_values_are_left_out_with_a_warning():
    with pytest.warns(DataWarning, match=r"extra \(neither numbers nor text\)"):
        mheal.select(customers()[["age"]].assign(extra=[{"a": i} for i in range(200)]), 5)


def test_complex_numbers_are_refused():
    with pytest.raises(UserTypeError, match=r"'z' holds complex.*two columns"):
        mheal.select(customers()[["age"]].assign(z=1j), 5)


def test_ids_are_named_in_a_warning():
    with pytest.warns(DataWarning, match="ids: customer_id"):
        mheal.select(customers()[["customer_id", "age"]], 5)


def numbers(**columns):
    rng = np.random.default_rng(0)
    return pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)} | columns)


HOURS = [datetime.time(i % 24) for i in range(60)]
IN_UTC = [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC) + datetime.timedelta(days=i * i) for i in range(60)]
COLUMNS = {  # a column of a pandas frame, and what the warnings say about it
    "times of day": (HOURS, "c [times of day]"),
    "times of day and dates": ([*HOURS[:30], *[datetime.date(2020, 1, 2)] * 30], "c (25 different texts)"),
    "moments of several time zones": (
        [*IN_UTC[:30], *(moment.replace(tzinfo=None) for moment in IN_UTC[30:])],
        "[dates]",
    ),
    "dates as words and as dates": (["2021-01-01", datetime.date(2020, 1, 1), None] * 20, "c [dates]"),
    "a nullable boolean": (pd.array([True, None, False] * 20, dtype="boolean"), "c: 20"),
    "nullable whole numbers": (pd.array([1, None, 3] * 20, dtype="Int64"), "c: 20"),
    "categories": (pd.Categorical(["x", "y", None] * 20), "c: 20"),
    "categories of dates": (pd.Categorical(pd.to_datetime(["2020-01-01", "2020-02-01", "2020-03-01"] * 20)), "[dates]"),
    "timedelta": (pd.to_timedelta(np.arange(60) ** 2, unit="h"), "c [durations]"),
    "numbers and words": ([1, "x", 2.5, None] * 15, "c: 15"),
    "lists and words": ([[1, 2], "x"] * 30, "c (neither numbers nor text)"),
    "matrices": ([np.ones((2, 2))] * 60, "c (neither numbers nor text)"),
    "nothing": ([None] * 60, "c (empty)"),
}


@pytest.mark.parametrize("case", COLUMNS)
def test_columns_of_every_type_are_used_or_left_out_with_a_warning(case):
    values, said = COLUMNS[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mheal.select(numbers(c=values), 5)
    assert {warning.category for warning in caught} == {DataWarning}
    assert said in " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (pl.Series([{"x": i, "y": "z"} for i in range(60)]), "c (neither numbers nor text)"),
        (pl.Series([b"x"] * 60), "c (neither numbers nor text)"),
        (pl.Series(["x", "y", None] * 20, dtype=pl.Enum(["x", "y"])), "c: 20"),
        (pl.Series([[decimal.Decimal(i)] for i in range(60)]), "the embeddings in column 'c'"),
        (pl.Series([datetime.timedelta(hours=i * i) for i in range(60)]), "c [durations]"),
        (pl.Series([[[1.0], [2.0]]] * 60), "c (neither numbers nor text)"),
    ],
)
def test_columns_of_polars_are_used_or_left_out_with_a_warning(values, said):
    with pytest.warns(DataWarning) as caught:
        mheal.select(pl.from_pandas(numbers()).with_columns(c=values), 5)
    assert said in " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("index", [pd.MultiIndex.from_product([range(6), range(10)]), pd.Index([0, 1] * 30)])
def test_any_index_will_do(index):
    frame = numbers().set_index(index)
    y = pd.Series(["p", "q", None] * 20, index=index, dtype=object)
    with pytest.warns(UserWarning, match="from 64 labels on"):
        picks = mheal.select(frame, 5, y=y)
    assert picks.to_pandas().index.equals(frame.iloc[picks].index)
    assert not y.iloc[picks.indices].notna().any()


def test_long_doubles_are_numbers():
    frame = numbers()
    assert mheal.select(frame.astype(np.longdouble), 5).indices.tolist() == mheal.select(frame, 5).indices.tolist()


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"c": [{"x": 1}] * 60}),
        pl.DataFrame({"id": ["p", "q"] * 30, "a": range(60)}),
    ],
)
def test_messages_name_no_options_of_the_command_line(frame):
    with pytest.raises(UserError) as caught:
        mheal.select(frame, 5)
    assert "--" not in str(caught.value)
