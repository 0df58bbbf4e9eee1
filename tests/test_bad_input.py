"""Bad input gets one line that names the row or column, and the remedy."""

import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import load_digits

import mheal
from mheal import MHEAL, PaperMHEAL, SphericalKMeans
from mheal.exceptions import UserError, UserTypeError

X = load_digits().data.astype(np.float32)

PICKS = mheal.Selection.of(np.array([3, 1, 2]))
NAN, INF = X[:50].copy(), X[:50].copy()
NAN[17, 3], INF[8, 60] = np.nan, -np.inf
BAD = {
    "NaN": (NAN, {}, ValueError, r"NaN at row 17, column 3"),
    "infinity": (INF, {}, ValueError, r"infinity at row 8, column 60"),
    "1-D": (X[0], {}, ValueError, r"1 dimension.*reshape"),
    "3-D": (X.reshape(-1, 8, 8), {}, ValueError, r"3 dimension.*reshape"),
    "no rows": (X[:0], {}, ValueError, "empty"),
    "no columns": (X[:, :0], {}, ValueError, "empty"),
    "text": (np.array([["a", "b"]] * 9), {}, TypeError, r"'a'.*row 0, column 0"),
    "objects": (np.array([[1, 2], [3, None]], object), {}, TypeError, "None at row 1, column 1"),
    "ragged": ([[1.0, 2.0], [3.0]], {}, ValueError, "rows of different lengths"),
    "complex": (X[:9] + 1j, {}, TypeError, "complex"),
    "infinite": (pd.DataFrame({"a": [1, 2], "b": [3, np.inf]}), {}, ValueError, "row 1, column 'b' is infinite"),
    "masked": (np.ma.masked_equal(X[:9], 0), {}, ValueError, "masked"),
    "complex sparse": (sparse.csr_matrix(X[:9] + 1j), {}, TypeError, "complex"),
    "NaN, raw, many rows": (
        np.r_[np.ones((15_000, 2)), [[1, np.nan]], np.ones((9_000, 2))],
        {"scaling": "raw"},
        ValueError,
        "NaN at row 15000, column 1",
    ),
    "all labelled": (X[:9], {"labeled": range(9)}, ValueError, "every row is labelled"),
    "texts": (
        pd.DataFrame({"a": [f"text {i}" for i in range(30)]}),
        {},
        TypeError,
        "no column .* but the texts in 'a'",
    ),
    "all rows equal": (np.ones((20, 4)), {}, ValueError, "all 20 rows of X are equal"),
    "budget 0": (X, {"budget": 0}, ValueError, "at least 1"),
    "budget negative": (X, {"budget": -3}, ValueError, "at least 1"),
    "budget float": (X, {"budget": 2.5}, TypeError, "whole number"),
    "budget truth value": (X, {"budget": True}, TypeError, "whole number"),
    "budget too large": (X, {"budget": 1798}, ValueError, "1797 unlabelled rows"),
    "budget too large with labels": (X, {"budget": 1797, "labeled": [0]}, ValueError, "at most 1796"),
    "labelled twice": (X, {"labeled": [4, 9, 4]}, ValueError, "row 4 twice"),
    "labelled out of range": (X, {"labeled": [4, 1797]}, ValueError, "row 1797, but rows go from 0 to 1796"),
    "labelled negative": (X, {"labeled": [-1]}, ValueError, "row -1"),
    "labelled selections of different lengths": (X, {"labeled": [PICKS, PICKS[:2]]}, TypeError, "join selections"),
    "labelled selections": (X, {"labeled": [PICKS, PICKS]}, TypeError, "join selections"),
    "labelled floats": (X, {"labeled": [1.0, 2.0]}, TypeError, "row numbers"),
    "mask of wrong length": (X, {"labeled": np.ones(3, bool)}, ValueError, "1797 rows"),
    "too many clusters": (X, {"n_clusters": 2000}, ValueError, "at most 1797"),
    "clusters 0": (X, {"n_clusters": 0}, ValueError, "'n_clusters' parameter of MHEAL must be"),
    "scaling": (X, {"scaling": "flat"}, ValueError, "'scaling' parameter"),
    "long rows": (X.astype(float) * 1e30, {"scaling": "raw"}, ValueError, "rows of X .* too long .* rescale"),
    "long rows, float32": (X * np.float32(1e30), {"scaling": "raw"}, ValueError, "X overflows float32 .* rescale"),
    "short rows": (X.astype(float) * 1e-30, {"scaling": "raw"}, ValueError, "rows of X .* too short .* rescale"),
    "short rows, float32": (X * np.float32(1e-30), {"scaling": "raw"}, ValueError, "rows of X .* too short .* rescale"),
    "tiny density power": (X, {"density_power": 0.01}, ValueError, "density_power=0.01 .* larger"),
    "density power 0": (X, {"density_power": 1e-300}, ValueError, "density_power=1e-300 .* larger"),
    "density power": (X, {"density_power": -1}, ValueError, "'density_power' parameter"),
    "outliers": (X, {"outlier_fraction": 1.5}, ValueError, "'outlier_fraction' parameter"),
    "representatives": (X, {"n_representatives": -1}, ValueError, "'n_representatives' parameter"),
    "random state": (X, {"random_state": "one"}, TypeError, "random_state must be an integer"),
}


@pytest.mark.parametrize("case", BAD.values(), ids=BAD)
def test_bad_input_gets_one_clear_line(case):
    pool, arguments, error, message = case
    parameters = {k: v for k, v in arguments.items() if k not in ("budget", "labeled")}
    with pytest.raises(error, match=message) as raised:
        MHEAL(**parameters).select(pool, arguments.get("budget", 1), labeled=arguments.get("labeled"))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("parameter", ["n_clusters", "n_starts", "max_iter"])
def test_parameters_of_the_paper_are_checked(parameter):
    with pytest.raises(ValueError, match=f"'{parameter}' parameter of PaperMHEAL"):
        PaperMHEAL(**{parameter: 0}).select(X, 5)


@pytest.mark.parametrize(
    ("pool", "message"),
    [
        ("pool.csv", "got str.*read_csv"),
        (pl.LazyFrame({"a": [1, 2]}), "got LazyFrame.*collect"),
        (["a text", "another"], r"'a text' at row 0.*mheal\.embed"),
        ([["a", 1], ["b", 2]], "'a' at row 0, column 0.*frame"),
        (np.array([["2024-01-01"], ["2024-01-02"]], "datetime64[D]"), "in a frame, dates become days"),
        (np.array([[date(2024, 1, 1), 5]], object), "2024.*row 0, column 0.*give a pandas or polars frame"),
    ],
)
def test_what_is_no_array_of_numbers_is_answered_with_the_remedy(pool, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserTypeError, match=message):
            mheal.select(pool, 1)


def test_rows_cannot_be_named_by_an_index():
    with pytest.raises(UserTypeError, match="get_indexer"):
        mheal.select(pd.DataFrame({"a": [1.0, 2, 4]}, index=["u", "v", "w"]), 1, labeled=["u"], y=["x"])


def test_a_generator_is_a_seed():
    picks = [mheal.select(X, 20, strategy="random", random_state=np.random.default_rng(seed)) for seed in (7, 7, 8)]
    assert picks[0].indices.tolist() == picks[1].indices.tolist() != picks[2].indices.tolist()
    generators = [np.random.default_rng(7) for _ in range(2)]
    fitted = [SphericalKMeans(4, random_state=one).fit(X[:300]) for one in generators]
    np.testing.assert_array_equal(fitted[0].labels_, fitted[1].labels_)


def test_nan_in_a_frame_is_named_by_its_column():
    frame = pd.DataFrame({"age": [1.0, 2, 3, 4], "height": [1.0, np.nan, 3, 2]})
    with pytest.raises(UserError, match="row 1, column 'height'"):
        mheal.select(frame, 2, missing="refuse")


def test_labels_of_a_frame_in_another_order_are_refused():
    frame = pd.DataFrame({"a": np.arange(20.0) ** 2}, index=[f"r{i}" for i in range(20)])
    y = pd.Series([None, "u", "v", "w"] * 5, index=frame.index)
    assert set(mheal.select(frame, 5, y=y)) == set(range(0, 20, 4))
    with pytest.raises(UserError, match=r"another order.*y\.loc\[X\.index\]"):
        mheal.select(frame, 5, y=y[::-1])
    assert len(mheal.select(frame, 5, y=y.reset_index(drop=True))) == 5  # other names are no other order


def test_a_memory_limit_is_a_number_of_bytes():
    with pytest.raises(UserTypeError, match=r"bytes.*'1GB'"):
        mheal.select(X, 5, memory_limit="1GB")


def test_every_row_has_a_label_already():
    with pytest.raises(UserError, match=r"nothing left to pick.*None"):
        mheal.select(X, 5, y=load_digits().target)
