"""A table has the same features, ids and errors whether it is read in memory, streamed, or read on a cluster."""

import numpy as np
import polars as pl
import pytest

pytest.importorskip("dask.array")
pytest.importorskip("pyarrow")

from mheal.exceptions import UserError
from mheal.io.read import read_pool
from mheal.io.shards import read_on_cluster, stream_shards
from mheal.runtime.checkpoint import NullCheckpoint

N = 40
RNG = np.random.default_rng(0)
V = RNG.normal(size=(N, 3))
UNEVEN = (7 * np.arange(N) % N).astype(np.int16)
NUMBERS = {"a": RNG.normal(size=N).astype(np.float32), "b": UNEVEN, "c": np.arange(N) % 2 == 0}
DAYS = 7 * np.arange(N) % 5
DAY = pl.Series(DAYS).cast(pl.Int32).cast(pl.Date)


@pytest.fixture(params=["in memory", "streamed", "on a cluster"])
def read(request, tmp_path):
    """Write a frame as two shards and read them in one of three ways."""

    def read(frame, **chosen):
        for at, part in enumerate((frame[: N // 3], frame[N // 3 :])):
            part.write_parquet(tmp_path / f"{at}.parquet")
        pattern = tmp_path / "*.parquet"
        if request.param == "in memory":
            return read_pool(pattern, **chosen)
        if request.param == "streamed":
            return stream_shards(sorted(tmp_path.glob("*.parquet")), "*.parquet", NullCheckpoint(), **chosen)
        return read_on_cluster(pattern, **chosen)

    return read


@pytest.mark.parametrize(
    ("columns", "chosen", "X"),
    [
        (NUMBERS, {}, np.column_stack([*NUMBERS.values()])),
        ({**NUMBERS, "day": DAY}, {"without": ["b"]}, np.column_stack([NUMBERS["a"], NUMBERS["c"], DAYS])),
        ({"__index_level_0__": range(N), "a": NUMBERS["a"]}, {}, NUMBERS["a"][:, None]),
        ({"v": V.astype(np.float32).tolist(), "b": NUMBERS["b"]}, {}, V),
        ({"v": pl.Series(V.astype(np.float32)), "b": NUMBERS["b"]}, {}, V),
        ({"v": V.tolist(), "b": NUMBERS["b"]}, {"columns": ["v", "b"]}, np.column_stack([NUMBERS["b"], V])),
        ({"a": NUMBERS["a"], "nested": [{"x": 1}] * N}, {}, NUMBERS["a"][:, None]),
        ({"when": 1.7e9 + np.arange(N)}, {}, 1.7e9 + np.arange(N)[:, None]),
    ],
)  # fmt: skip
def test_features(read, columns, chosen, X):
    source = read(pl.DataFrame({"id": [f"r{row}" for row in range(N)], **columns}, strict=False), **chosen)
    np.testing.assert_allclose(np.asarray(source.X), X, rtol=1e-6)
    assert (source.id_column, list(source.ids)) == ("id", [f"r{row}" for row in range(N)])
    assert source.ids_of(np.array([30, 3])) == ["r30", "r3"]


def test_what_is_left_out_is_said_with_the_reason(read):
    source = read(pl.DataFrame({**NUMBERS, "counter": range(N), "customer_id": [1] * N, "nested": [{"x": 1}] * N}))
    assert (
        "left out: counter (counts the rows), customer_id (an id), nested (neither numbers nor text)" in source.features
    )


@pytest.mark.parametrize(
    ("columns", "chosen", "words"),
    [
        ({"a": [1.0] * N}, {"columns": ["z"]}, "has no column 'z': it has a"),
        ({"a": [1.0] * N}, {"columns": ["a"], "without": ["a"]}, "column 'a' is kept out of the features"),
        ({"a": [1.0] * N}, {"columns": ["a", "a"]}, "one or more different columns"),
        ({"v": [[1.0]] * N, "w": [[1.0]] * N}, {}, r"several columns of embeddings \(v, w\): choose columns"),
        (
            {"day": DAY, "label": DAY},
            {"without": ["day"]},
            r"no column that separates its rows, but label \(named like labels",
        ),
        ({"id": range(N)}, {}, "has no column that separates its rows, but only ids"),
    ],
)
def test_refusals(read, columns, chosen, words):
    with pytest.raises(UserError, match=words) as raised:
        read(pl.DataFrame(columns), **chosen)
    assert "\n" not in str(raised.value)


def test_shards_of_different_columns(read, tmp_path):
    pl.DataFrame({"a": ["x"]}).write_parquet(tmp_path / "2.parquet")
    with pytest.raises(UserError, match=r"column 'a' holds text in 2\.parquet, but numbers in 0\.parquet"):
        read(pl.DataFrame({"a": [1.0] * N}))
