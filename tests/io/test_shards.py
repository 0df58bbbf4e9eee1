"""Parquet shards that are streamed into one file give the same numbers as those read in memory."""

from datetime import date
from functools import partial

import numpy as np
import polars as pl
import pytest

from mheal.io import shards
from mheal.io.read import read_pool
from mheal.io.shards import expected_shape, gather, stream_shards
from mheal.runtime.checkpoint import Checkpoint, NullCheckpoint, OtherRun

SIZES = (700, 1, 400)


def table(kind, rng, n):
    if kind == "embeddings":
        return {"v": pl.Series(rng.standard_normal((n, 6)).astype(np.float32)), "other": rng.standard_normal(n)}
    if kind == "lists of doubles":
        return {"v": pl.Series(rng.standard_normal((n, 6)).tolist())}
    if kind == "numbers":
        return {"a": rng.standard_normal(n), "b": rng.integers(9, size=n), "c": rng.uniform(size=n) < 0.5}
    if kind == "small numbers":
        return {"a": rng.standard_normal(n).astype(np.float32), "b": rng.integers(9, size=n).astype(np.int16)}
    return {"a": rng.standard_normal(n), "time": 1.7e9 + rng.uniform(size=n)}  # float32 would lose the time


KINDS = ("embeddings", "lists of doubles", "numbers", "small numbers", "time stamps")


def write(folder, kind="numbers"):
    rng, start = np.random.default_rng(0), 0
    for at, n in enumerate(SIZES):
        frame = pl.DataFrame({"id": [f"r{row}" for row in range(start, start + n)], **table(kind, rng, n)})
        frame.write_parquet(folder / f"shard{at}.parquet", row_group_size=150)
        start += n
    return sorted(folder.glob("*.parquet"))


@pytest.mark.parametrize("kind", KINDS)
def test_streamed_numbers_are_those_read_in_memory(kind, tmp_path):
    files = write(tmp_path, kind)
    expected = read_pool(tmp_path / "*.parquet")
    streamed = stream_shards(files, "pool", Checkpoint(tmp_path / "work"), slice_bytes=4000)
    assert isinstance(streamed.X, np.memmap)
    assert streamed.X.dtype == expected.X.dtype
    np.testing.assert_array_equal(streamed.X, expected.X)
    assert (streamed.id_column, streamed.kind, streamed.files) == ("id", "table", expected.files)
    rows = np.array([1100, 3, 700, 3, 699])
    assert list(streamed.ids) == expected.ids
    assert streamed.ids_of(rows) == expected.ids_of(rows)
    gathered = gather(files, rows)
    assert gathered["id"].to_list() == expected.ids_of(rows)


def test_columns_can_be_chosen_and_kept_out(tmp_path):
    files = write(tmp_path)
    chosen = stream_shards(files, "pool", NullCheckpoint(), columns=["b"])
    np.testing.assert_array_equal(chosen.X, read_pool(tmp_path / "*.parquet", columns=["b"]).X)
    left = stream_shards(files, "pool", NullCheckpoint(), without=["b"])
    np.testing.assert_array_equal(left.X, read_pool(tmp_path / "*.parquet", without=["b"]).X)


def test_finished_shards_are_not_read_again(tmp_path, monkeypatch):
    files, copied, copy = write(tmp_path), [], shards.feature_array
    expected = read_pool(tmp_path / "*.parquet").X

    def stopping(frame, schema, file, start):
        copied.append((file, start))
        if len(copied) == 6:  # the last shard is half-written
            raise KeyboardInterrupt
        return copy(frame, schema, file, start)

    monkeypatch.setattr(shards, "feature_array", stopping)
    with pytest.raises(KeyboardInterrupt):
        stream_shards(files, "pool", Checkpoint(tmp_path / "work"), slice_bytes=300 * 24)
    copied.clear()
    X = stream_shards(files, "pool", Checkpoint(tmp_path / "work")).X
    assert copied == [("shard2.parquet", 0)]
    np.testing.assert_array_equal(X, expected)
    pl.DataFrame({"a": [1.0], "b": [2], "c": [True]}).write_parquet(files[-1])
    with pytest.raises(OtherRun, match="another files"):
        stream_shards(files, "pool", Checkpoint(tmp_path / "work"))


def test_row_numbers_of_pandas_are_no_feature(tmp_path):
    pl.DataFrame({"__index_level_0__": range(40), "a": np.arange(40.0) ** 2}).write_parquet(tmp_path / "a.parquet")
    assert stream_shards([tmp_path / "a.parquet"], "pool", NullCheckpoint()).X.shape == (40, 1)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"a": [1.0, None]}, "a.parquet: row 1, column 'a' is empty"),
        ({"a": [1.0, float("inf")]}, "a.parquet: row 1, column 'a' is infinite"),
        ({"v": [[1.0, 2.0], [1.0]]}, "row 1, column 'v' has 1 numbers, but the first has 2"),
        ({"v": [[1.0, 2.0], None]}, "row 1, column 'v' is empty"),
        (
            {"a": [1.0, 2.0], "b": ["x", "y"]},
            "column 'b' holds text, which can be a feature only if the pool is read into memory",
        ),
        ({"v": [[1.0], [2.0]], "w": [[1.0], [2.0]]}, "several columns of embeddings"),
        ({"id": [1, 2]}, "no column that separates its rows"),
    ],
)
def test_what_cannot_be_streamed_is_refused_in_one_line(columns, words, tmp_path):
    pl.DataFrame(columns).write_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match=words):
        stream_shards([tmp_path / "a.parquet"], "pool", NullCheckpoint())


def test_dates_are_numbers_and_embeddings_may_stand_beside_numbers(tmp_path):
    file = tmp_path / "a.parquet"
    pl.DataFrame({"v": [[1.0, 2.0], [3.0, 4.0]], "day": [date(2020, 1, 1)] * 2, "n": [7, 8]}).write_parquet(file)
    for read in (lambda **chosen: stream_shards([file], "pool", NullCheckpoint(), **chosen), partial(read_pool, file)):
        np.testing.assert_array_equal(read(columns=["v", "n"]).X, [[7, 1, 2], [8, 3, 4]])
        np.testing.assert_array_equal(read(without=["v"]).X, [[18262, 7], [18262, 8]])


def test_shards_of_different_columns_are_refused(tmp_path):
    pl.DataFrame({"a": [1.0]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"column 'a' holds text in b\.parquet, but numbers in a\.parquet"):
        stream_shards([tmp_path / "a.parquet", tmp_path / "b.parquet"], "pool", NullCheckpoint())
    with pytest.raises(ValueError, match="no column 'z'"):
        stream_shards([tmp_path / "a.parquet"], "pool", NullCheckpoint(), columns=["z"])


def test_an_empty_first_shard_is_no_obstacle(tmp_path):
    files = write(tmp_path, "embeddings")
    pl.read_parquet(files[0]).head(0).write_parquet(tmp_path / "shard-.parquet")
    both = sorted(tmp_path.glob("*.parquet"))
    assert both[0].name == "shard-.parquet"
    streamed = stream_shards(both, "pool", NullCheckpoint())
    np.testing.assert_array_equal(streamed.X, read_pool(tmp_path / "shard[0-9].parquet").X)
    assert list(streamed.ids)[:2] == ["r0", "r1"]
    assert expected_shape(both)[0] == len(streamed.X)
