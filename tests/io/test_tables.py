"""Tables: the columns that are features, the ids, and errors for malformed files."""

from datetime import date

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_wine

from mheal.io.read import read_pool

DIGITS = load_digits()
FRAME = pl.DataFrame(DIGITS.data, schema=[f"p{i}" for i in range(64)]).with_columns(
    sku=pl.Series([f"{i:05d}" for i in range(1797)]),
    ink=pl.Series(DIGITS.target % 3).replace_strict({0: "red", 1: "green", 2: "blue"}),
)
WRITERS = {
    ".csv": pl.DataFrame.write_csv,
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".parquet": pl.DataFrame.write_parquet,
    ".jsonl": pl.DataFrame.write_ndjson,
}
UNEVEN = 7 * np.arange(50) % 50
EXPECTED = np.hstack([DIGITS.data, np.eye(3)[[[2, 1, 0][t % 3] for t in DIGITS.target]]])  # blue, green, red


def write(tmp_path, text, name="pool.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path / name


@pytest.mark.parametrize("suffix", WRITERS)
def test_digits_with_an_id_and_a_category(tmp_path, suffix):
    WRITERS[suffix](FRAME, tmp_path / f"pool{suffix}")
    source = read_pool(tmp_path / f"pool{suffix}", id_column="sku")
    np.testing.assert_array_equal(source.X, EXPECTED)
    assert source.X.dtype == np.float32
    assert source.X.flags.c_contiguous
    assert source.features.startswith("64 numeric columns (p0, p1, p2, ")
    assert source.features.endswith(" + 1 one-hot encoded (ink: 3 values); ids: sku")
    assert source.ids[:2] == ["00000", "00001"]  # the text of the file, not the number 0
    assert (source.id_column, source.kind, source.items) == ("sku", "table", None)


@pytest.mark.parametrize("suffix", WRITERS)
def test_shards(tmp_path, suffix):
    WRITERS[suffix](FRAME[1000:].select(reversed(FRAME.columns)), tmp_path / f"b{suffix}")
    WRITERS[suffix](FRAME[:1000], tmp_path / f"a{suffix}")
    source = read_pool(tmp_path / f"*{suffix}", id_column="sku")
    np.testing.assert_array_equal(source.X, EXPECTED)
    assert source.ids == FRAME["sku"].to_list()
    assert [file.name for file in source.files] == [f"a{suffix}", f"b{suffix}"]


def test_codes_are_left_out_with_a_note(tmp_path):
    FRAME.write_parquet(tmp_path / "pool.parquet")
    source = read_pool(tmp_path / "pool.parquet")
    np.testing.assert_array_equal(source.X, EXPECTED)
    assert source.features.endswith("(ink: 3 values); left out: sku (a code, such as a postal code or a phone number)")
    assert source.ids is None


def test_columns_choose_and_without_keeps_out(tmp_path):
    FRAME.write_csv(tmp_path / "pool.csv")
    chosen = read_pool(tmp_path / "pool.csv", columns=["p20", "p3"])
    np.testing.assert_array_equal(chosen.X, DIGITS.data[:, [20, 3]])
    assert chosen.features == "2 numeric columns (p20, p3)"
    others = read_pool(tmp_path / "pool.csv", id_column="sku", without=["ink", "p0"])
    np.testing.assert_array_equal(others.X, DIGITS.data[:, 1:])


@pytest.mark.parametrize(
    ("values", "ids"),
    [("7,8,9", [7, 8, 9]), ("007,008,9", ["007", "008", "9"]), ("a,b,2020-01-01", ["a", "b", "2020-01-01"])],
)
def test_a_column_called_id_names_the_rows(tmp_path, values, ids):
    file = write(tmp_path, "id,a\n" + "".join(f"{v},{i}\n" for i, v in enumerate(values.split(","))))
    source = read_pool(file)
    assert (source.ids, source.id_column) == (ids, "id")
    np.testing.assert_array_equal(source.X, [[0], [1], [2]])


def test_a_column_called_id_is_a_feature_where_it_is_chosen(tmp_path):
    np.testing.assert_array_equal(read_pool(write(tmp_path, "id,a\n7,1\n7,2\n"), columns=["id"]).X, [[7], [7]])
    np.testing.assert_array_equal(read_pool(write(tmp_path, "id,a\n7,1\n8,2\n"), also=["id"]).X, [[7, 1], [8, 2]])


def test_booleans_dates_categories_and_constants(tmp_path):
    frame = pl.DataFrame(
        {
            "flag": [True, False, True],
            "day": [date(2020, 1, d) for d in (1, 2, 3)],
            "kind": pl.Series(["x", "y", "x"], dtype=pl.Categorical),
            "same": [5, 5, 5],
            "none": pl.Series([None] * 3, dtype=pl.Float64),
            "nested": [{"a": 1}] * 3,
        }
    )
    frame.write_parquet(tmp_path / "pool.parquet")
    source = read_pool(tmp_path / "pool.parquet")
    np.testing.assert_array_equal(source.X, [[1, 18262, 5, 1, 0], [0, 18263, 5, 0, 1], [1, 18264, 5, 1, 0]])
    assert source.features == (
        "3 numeric columns (flag, day [dates], same) + 1 one-hot encoded (kind: 2 values); "
        "left out: none (empty), nested (neither numbers nor text)"
    )


def test_dates_in_csv_are_numbers(tmp_path):
    source = read_pool(write(tmp_path, "when,a\n2020-01-01,1\n2020-01-02,2\n"))
    np.testing.assert_array_equal(source.X, [[18262, 1], [18263, 2]])
    assert source.features == "2 numeric columns (when [dates], a)"


def test_the_index_that_pandas_writes_is_no_feature(tmp_path):
    file = write(tmp_path, ",a\n0,5.5\n1,6.5\n")
    source = read_pool(file)
    np.testing.assert_array_equal(source.X, [[5.5], [6.5]])
    assert source.ids == [0, 1]


@pytest.mark.parametrize("suffix", [".parquet", ".jsonl"])
def test_a_column_of_lists_is_the_embeddings(tmp_path, suffix):
    frame = pl.DataFrame({"n": range(1797), "e": DIGITS.data.tolist(), "t": ["x"] * 1797})
    WRITERS[suffix](frame, tmp_path / f"pool{suffix}")
    source = read_pool(tmp_path / f"pool{suffix}")
    np.testing.assert_array_equal(source.X, DIGITS.data)
    assert source.X.dtype == np.float32
    assert (
        source.features
        == "the embeddings in column 'e' (64 numbers a row); left out: n (not the embeddings), t (not the embeddings)"
    )
    both = read_pool(tmp_path / f"pool{suffix}", columns=["e", "n"])
    np.testing.assert_array_equal(both.X, np.column_stack([np.arange(1797), DIGITS.data]))


def test_parquet_arrays_are_embeddings(tmp_path):
    e = pl.Series("e", DIGITS.data.astype(np.float32))
    assert isinstance(e.dtype, pl.Array)
    pl.DataFrame([e]).write_parquet(tmp_path / "pool.parquet")
    np.testing.assert_array_equal(read_pool(tmp_path / "pool.parquet").X, DIGITS.data)


@pytest.mark.parametrize(
    ("column", "dtype"),
    [
        (np.linspace(0.1, 0.9, 50), np.float32),
        (np.full(50, 0.1), np.float32),
        (UNEVEN, np.float32),
        (1.7e9 + np.arange(50), np.float64),  # seconds: float32 would merge rows
        (2.0**40 + UNEVEN, np.float64),
        (np.linspace(1e300, 2e300, 50), np.float64),
        (np.linspace(1e-60, 2e-60, 50), np.float64),
    ],
)
def test_float32_where_that_is_good_enough(tmp_path, column, dtype):
    pl.DataFrame({"a": UNEVEN / 2, "b": column}).write_parquet(tmp_path / "pool.parquet")
    X = read_pool(tmp_path / "pool.parquet").X
    assert X.dtype == dtype
    np.testing.assert_allclose(X[:, 1], column, rtol=1e-6)
    assert len(np.unique(X[:, 1])) == len(np.unique(column))


def test_pca_of_a_table_is_of_standardised_columns(tmp_path):
    wine = pl.DataFrame(load_wine().data, schema=load_wine().feature_names)
    wine.write_csv(tmp_path / "pool.csv")
    wine.with_columns(pl.col("proline") * 1000).write_csv(tmp_path / "other_unit.csv")
    Z = read_pool(tmp_path / "pool.csv", embed="pca").X
    assert 0.9 * 13 < np.var(Z, axis=0).sum() < 13
    np.testing.assert_allclose(Z, read_pool(tmp_path / "other_unit.csv", embed="pca").X, atol=1e-4)


BAD = {
    "an infinity": ("a,b\n1,2.5\n3,-inf\n", {}, "pool.csv: row 1, column 'b' is infinite"),
    "a null, refused": ("a,b\n1,2\n3,\n", {"missing": "refuse"}, "pool.csv: row 1, column 'b' is empty"),
    "all null": ("a,b\n,\n,\n", {}, "pool.csv has no rows"),
    "nothing": ("", {}, "cannot read pool.csv: it is empty"),
    "no rows": ("a,b\n", {}, "pool.csv has no rows"),
    "too many cells": ("a,b\n1,2\n3,4,5\n", {}, "cannot read pool.csv: line 3 has 3 cells, but the first line has 2"),
    "a missing column": ("a,b\n1,2\n", {"columns": ["c"]}, "pool.csv has no column 'c': it has a, b"),
    "a missing id": ("a,b\n1,2\n", {"id_column": "c"}, "pool.csv has no column 'c': it has a, b"),
    "a missing text": ("a,b\n1,2\n", {"text_column": "c"}, "pool.csv has no column 'c': it has a, b"),
    "a missing without": ("a,b\n1,2\n", {"without": ["c"]}, "pool.csv has no column 'c': it has a, b"),
    "a column twice": ("a,b\n1,2\n", {"columns": ["a", "a"]}, "columns must name one or more different columns"),
    "an empty id": ("k,b\nx,2\n,3\n", {"id_column": "k"}, "pool.csv: row 1 has no id in column 'k'"),
    "an id twice": (
        "k,b\nx,2\ny,3\ny,4\n",
        {"id_column": "k"},
        "pool.csv: rows 1 and 2 have the same id 'y' in column 'k': make ids unique",
    ),
    "an id as feature": ("k,b\nx,2\n", {"id_column": "k", "columns": ["k"]}, "column 'k' is kept out of the features"),
    "text and columns": ("a,b\n1,2\n", {"columns": ["a"], "text_column": "b"}, "either the text column or the columns"),
    "many texts chosen": (
        "t,a\n" + "".join(f"t{i},{i}\n" for i in range(21)),
        {"columns": ["t"]},
        r"column 't' cannot be a feature \(21 different texts\): name it as the text column",
    ),
    "only texts": (
        "t,u\n" + "".join(f"t{i},u{i}\n" for i in range(21)),
        {},
        r"no column that separates its rows, but t \(21 different texts\), .* if 't' is text to read",
    ),
    "tfidf of a table": ("a,b\n1,2\n", {"embed": "tfidf"}, "no method 'tfidf' for table: use none, pca or autoenc"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_csv(tmp_path, case):
    text, options, message = BAD[case]
    with pytest.raises(ValueError, match=message) as raised:
        read_pool(write(tmp_path, text), **options)
    assert "\n" not in str(raised.value)


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [
        ["customer_id", "age", "when", "kind"],
        *([f"c{i}", i * i % 13, date(2024, 1, 1 + i), "ab"[i % 2]] for i in range(9)),
    ]:
        book.active.append(row)
    book.save(tmp_path / "pool.xlsx")
    source = read_pool(tmp_path / "pool.xlsx")
    assert source.ids == [f"c{i}" for i in range(9)]
    assert (
        source.features
        == "2 numeric columns (age, when [dates]) + 1 one-hot encoded (kind: 2 values); ids: customer_id"
    )
    np.testing.assert_array_equal(source.X[:2], [[0, 19723, 1, 0], [1, 19724, 0, 1]])


def test_missing_values_are_filled_in_with_a_note(tmp_path):
    rows = [f"{i % 9},{'xyz'[i % 3]}" for i in range(40)]
    rows[3], rows[20] = "NA,x", ","
    rows[30] = "5,"
    source = read_pool(write(tmp_path, "a,b\n" + "\n".join(rows) + "\n"))
    assert len(source.X) == 39
    assert 20 not in source.rows
    assert source.n_rows == 40
    assert len(source.notes) == 2
    assert "1 empty row" in source.notes[0]
    assert "(a: 1, b: 1)" in source.notes[1]


def test_rows_with_missing_values_are_left_out_if_dropped(tmp_path):
    rows = [f"k{i},{i % 9},{'xyz'[i % 3]}" for i in range(40)]
    rows[3], rows[30] = "k3,NA,x", "k30,5,"
    source = read_pool(write(tmp_path, "id,a,b\n" + "\n".join(rows) + "\n"), missing="drop", target=None)
    assert len(source.X) == 38
    assert source.ids_of(np.array([3, 37])) == ["k4", "k39"]
    assert source.numbers(np.array([3, 37])).tolist() == [4, 39]
    assert source.places(np.array([3, 4, 30, 39])).tolist() == [-1, 3, -1, 37]
    assert source.cells["id"].to_list()[3] == "k4"


@pytest.mark.parametrize("keep", [0, 4, 500, -3])
def test_truncated_parquet(tmp_path, keep):
    FRAME.write_parquet(tmp_path / "pool.parquet")
    (tmp_path / "pool.parquet").write_bytes((tmp_path / "pool.parquet").read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"^cannot read pool.parquet: .+") as raised:
        read_pool(tmp_path / "pool.parquet")
    assert "\n" not in str(raised.value)
