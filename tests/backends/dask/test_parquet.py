"""Parquet shards as a Dask array, and `mheal select` on a cluster."""

import numpy as np
import polars
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")
pa = pytest.importorskip("pyarrow")

import pyarrow.parquet as pq  # noqa: E402

import mheal  # noqa: E402
from mheal.cli import main  # noqa: E402
from mheal.io.shards import read_on_cluster, read_parquet  # noqa: E402


@pytest.fixture
def shards(tmp_path, make_pool):
    """Three shards of unequal length in several row groups; the pool itself."""
    X = make_pool(n=900, d=4)
    for i, (lo, hi) in enumerate([(0, 350), (350, 351), (351, 900)]):
        columns = {f"x{j}": X[lo:hi, j] for j in range(4)}
        table = pa.table({"id": [f"item-{row}" for row in range(lo, hi)], **columns})
        pq.write_table(table, tmp_path / f"shard-{i}.parquet", row_group_size=100)
    return str(tmp_path / "shard-*.parquet"), X


def test_rows_come_in_the_order_of_the_shards(client, shards):
    pattern, X = shards
    read = read_parquet(pattern)
    assert read.dtype == np.float32
    assert read.chunks == ((350, 1, 549), (4,))
    np.testing.assert_array_equal(read.compute(), X)
    np.testing.assert_array_equal(read_parquet(pattern, ["x2", "x0"]).compute(), X[:, [2, 0]])
    np.testing.assert_array_equal(read_parquet(pattern, without=["x1"]).compute(), X[:, [0, 2, 3]])


def test_large_row_groups_are_parts_of_their_own(client, shards):
    source = read_on_cluster(shards[0], part_bytes=250 * 4 * 4)
    assert source.X.chunks[0] == (200, 150, 1, 200, 200, 149)


@pytest.mark.parametrize("kind", [pa.list_(pa.float64()), pa.list_(pa.float32(), 3)], ids=str)
def test_embeddings_are_rows(client, tmp_path, kind):
    X = np.arange(30, dtype=np.float32).reshape(10, 3)
    pq.write_table(pa.table({"v": pa.array(X.tolist(), kind), "n": range(10)}), tmp_path / "e.parquet")
    np.testing.assert_array_equal(read_parquet(tmp_path / "e.parquet").compute(), X)


def test_a_missing_value_is_named_by_its_row(client, tmp_path):
    for i in range(2):
        values = [1.0, None, 3.0] if i else [1.0, 2.0, 4.0]
        pq.write_table(pa.table({"x": values, "y": [1, 2, 3]}), tmp_path / f"{i}.parquet")
    with pytest.raises(ValueError, match="NaN at row 4, column 0"):
        mheal.select(read_parquet(str(tmp_path / "*.parquet")), 2)


@pytest.mark.parametrize(("columns", "said"), [(["nothing"], "has no column 'nothing'"), (["id"], "holds text")])
def test_wrong_columns_are_one_line(shards, columns, said):
    with pytest.raises(ValueError, match=said):
        read_parquet(shards[0], columns)


def test_the_command_gives_ids_and_takes_labels(client, shards, tmp_path):
    pattern, _ = shards
    out = tmp_path / "picks.csv"
    address = client.scheduler.address
    command = ["select", pattern, "--budget", "12", "--out", str(out), "--quiet"]
    assert main([*command, "--scheduler", address]) == 0
    picks = polars.read_csv(out)
    assert picks["id"].to_list() == [f"item-{row}" for row in picks["row"]]
    alone = tmp_path / "alone.csv"
    assert main([*command, "--out", str(alone)]) == 0
    assert polars.read_csv(alone).equals(picks)
    record = tmp_path / "picks.csv.mheal.json"
    assert address not in record.read_text()
    assert main(["select", "--rerun", str(record), "--quiet"]) == 2  # where the cluster is, is not taken from a file
    assert main(["select", "--rerun", str(record), "--quiet", "--scheduler", address]) == 0
    labels = tmp_path / "labels.csv"
    picks.with_columns(label=polars.lit("x")).write_csv(labels)
    again = [*command, "--labeled", str(labels), "--scheduler", address, "--out", str(tmp_path / "more.csv")]
    assert main(again) == 0
    assert not set(picks["row"]) & set(polars.read_csv(tmp_path / "more.csv")["row"])


def test_a_column_that_equals_the_labels_is_no_feature_on_a_cluster(client, tmp_path, capsys):
    X = np.random.default_rng(0).standard_normal((40, 3))
    columns = {"a": X[:, 0], "b": X[:, 1], "verdict": (X[:, 2] > 0).astype(int)}
    pq.write_table(pa.table(columns), tmp_path / "pool.parquet")
    (tmp_path / "labels.csv").write_text("row,label\n" + "".join(f"{at},{X[at, 2] > 0:d}\n" for at in range(20)))
    names = [str(tmp_path / name) for name in ("pool.parquet", "labels.csv", "picks.csv")]
    command = ["select", names[0], "--budget", "5", "--labeled", names[1], "--out", names[2]]
    assert main([*command, "--scheduler", client.scheduler.address]) == 0
    assert "verdict (holds labels)" in capsys.readouterr().err
    assert "verdict" not in polars.read_csv(names[2]).columns


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--strategy", "coreset"], "does not run on a Dask array"),
        (["--embed", "pca"], "--scheduler and --embed do not go together"),
        (["--forecast"], "leave them out"),
    ],
)
def test_what_a_cluster_cannot_do_is_refused(shards, capsys, more, said):
    assert main(["select", shards[0], "--budget", "5", "--scheduler", "local", *more]) == 2
    assert said in capsys.readouterr().err


def test_lists_of_unequal_lengths_are_refused_though_their_sum_fits(client, tmp_path):
    pq.write_table(pa.table({"v": [[1.0, 2, 3], [4.0, 5], [6.0, 7, 8, 9]]}), tmp_path / "e.parquet")
    with pytest.raises(ValueError, match="row 1, column 'v' has 2 numbers, but the first has 3"):
        read_parquet(tmp_path / "e.parquet").compute()


def test_two_columns_of_embeddings_stand_side_by_side(client, tmp_path):
    pq.write_table(pa.table({"v": [[1.0, 2], [3.0, 4]], "w": [[5.0], [6.0]]}), tmp_path / "e.parquet")
    np.testing.assert_array_equal(read_parquet(tmp_path / "e.parquet", ["v", "w"]).compute(), [[1, 2, 5], [3, 4, 6]])


def test_large_numbers_stay_what_they_are_and_text_is_refused(client, tmp_path):
    times = [1_700_000_000, 1_700_000_001]
    pq.write_table(pa.table({"time": times, "id": ["a", "b"]}), tmp_path / "t.parquet")
    assert read_parquet(tmp_path / "t.parquet").compute()[:, 0].tolist() == times
    pq.write_table(pa.table({"x": [1.0], "colour": ["red"]}), tmp_path / "c.parquet")
    with pytest.raises(
        ValueError, match="column 'colour' holds text, which can be a feature only if the pool is read into memory"
    ):
        read_parquet(tmp_path / "c.parquet")
