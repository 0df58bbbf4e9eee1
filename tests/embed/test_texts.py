"""Texts: lines of a file, or a column of a table."""

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from mheal.io.read import read_pool

# Real sentences: the descriptions that come with scikit-learn's data.
TEXTS = [
    " ".join(line.split())
    for load in (load_breast_cancer, load_digits, load_wine)
    for line in load().DESCR.splitlines()
    if len(line.split()) > 4
]


def test_one_text_a_line(tmp_path):
    (tmp_path / "pool.txt").write_text("\n".join(TEXTS) + "\n\n", encoding="utf-8")
    source = read_pool(tmp_path / "pool.txt")
    assert source.items == TEXTS
    assert source.X.shape == (len(TEXTS), 100)
    assert source.X.dtype == np.float32
    assert (source.kind, source.ids) == ("texts", None)
    assert source.features == f"TF-IDF of {len(TEXTS)} texts, truncated SVD to 100 columns"
    np.testing.assert_array_equal(source.X, read_pool(tmp_path / "pool.txt").X)


def test_like_texts_are_near(tmp_path):
    (tmp_path / "pool.txt").write_text("the cat sat on the mat\nshares fell sharply\nthe cat sat on a mat\n")
    X = read_pool(tmp_path / "pool.txt").X
    assert np.linalg.norm(X[0] - X[2]) < 0.7 * np.linalg.norm(X[0] - X[1])


def test_few_words_need_no_svd(tmp_path):
    (tmp_path / "pool.txt").write_text("red\ngreen\nred green\nblue\nred\n")
    source = read_pool(tmp_path / "pool.txt")
    assert source.features == "TF-IDF of 5 texts, 4 columns"  # blue, green, red, red green
    np.testing.assert_allclose(np.linalg.norm(source.X, axis=1), 1, rtol=1e-6)


def test_rare_words_are_dropped_from_many_texts(tmp_path):
    (tmp_path / "pool.txt").write_text("".join(f"word{i % 3} unique{i}\n" for i in range(1200)))
    source = read_pool(tmp_path / "pool.txt")
    assert source.features == "TF-IDF of 1,200 texts, 3 columns"


def test_shards_of_texts(tmp_path):
    (tmp_path / "b.txt").write_text("three words here\n")
    (tmp_path / "a.txt").write_text("one line\r\ntwo lines")
    assert read_pool(tmp_path / "*.txt").items == ["one line", "two lines", "three words here"]


def test_the_text_column_of_a_table(tmp_path):
    frame = pl.DataFrame({"key": [f"k{i}" for i in range(len(TEXTS))], "n": 1, "review": TEXTS})
    frame.write_csv(tmp_path / "pool.csv")
    source = read_pool(tmp_path / "pool.csv", text_column="review", id_column="key")
    assert (source.items, source.ids, source.kind) == (TEXTS, frame["key"].to_list(), "texts")
    assert (
        source.features
        == f"column 'review'; left out: n (not the text), TF-IDF of {len(TEXTS)} texts, truncated SVD to 100 columns"
    )


@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:3]])
def test_the_only_column_may_be_the_text(tmp_path, texts):
    pl.DataFrame({"id": range(len(texts)), "body": texts}).write_ndjson(tmp_path / "pool.jsonl")
    source = read_pool(tmp_path / "pool.jsonl")
    assert (source.kind, source.items, source.ids) == ("texts", texts, list(range(len(texts))))


def test_the_only_column_may_be_a_category(tmp_path):
    (tmp_path / "pool.csv").write_text("colour\nred\nblue\nred\n")
    source = read_pool(tmp_path / "pool.csv")
    assert (source.kind, source.features) == ("table", "1 one-hot encoded (colour: 2 values)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"pool.txt is empty: write one text in each line"),
        ("\n \n", r"pool.txt is empty: write one text in each line"),
        ("!\n?\n", r"no word of two letters or more occurs in the texts"),
    ],
)
def test_bad_lines(tmp_path, text, message):
    (tmp_path / "pool.txt").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_pool(tmp_path / "pool.txt")


def test_lines_that_are_not_utf8(tmp_path):
    texts = [*TEXTS, "café au lait"]
    (tmp_path / "pool.txt").write_bytes("\n".join(texts).encode("latin-1", errors="replace"))
    assert read_pool(tmp_path / "pool.txt").items[-1] == "café au lait"


def test_many_texts_that_share_nothing(tmp_path):
    (tmp_path / "pool.txt").write_text("".join(f"unique{i}\n" for i in range(1001)))
    with pytest.raises(ValueError, match=r"no word of two letters or more occurs in two of the texts"):
        read_pool(tmp_path / "pool.txt")


def test_bad_text_columns(tmp_path):
    pl.DataFrame({"t": ["some words", " "], "n": [1, 2]}).write_parquet(tmp_path / "pool.parquet")
    with pytest.raises(ValueError, match=r"column 'n' of pool.parquet holds Int64, not text"):
        read_pool(tmp_path / "pool.parquet", text_column="n")
