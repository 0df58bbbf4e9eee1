"""Picks as tables and as Label Studio tasks: with the cells of their rows but without the columns of labels."""

from datetime import date, timedelta

import numpy as np
import polars as pl

from mheal import Selection
from mheal.io.read import read_pool
from mheal.io.shards import stream_shards
from mheal.io.write import picks_frame, render
from mheal.runtime.checkpoint import NullCheckpoint

PICKS = Selection([3, 0], [0, 1], [np.inf, 2.5], [2.5, 1.25])
OURS = ["rank", "row", "cluster", "gain", "radius", "reason"]


def test_cells_that_are_called_like_ours_are_renamed(tmp_path):
    rng = np.random.default_rng(0)
    names = ["rank", "row", "gain", "label", "id", "label_in_pool"]
    pl.DataFrame({name: rng.normal(size=9) for name in names} | {"id": [7] * 9}).write_csv(tmp_path / "pool.csv")
    source = read_pool(tmp_path / "pool.csv", also=["label", "row"], without=["id"])
    frame = picks_frame(PICKS, source)
    assert frame.columns[: len(OURS)] == OURS
    assert frame["row"].to_list() == [3, 0]
    assert frame.columns[-1] == "label"
    assert frame["label"].null_count() == 2
    cells = pl.read_csv(tmp_path / "pool.csv")[[3, 0]]
    for name, now in {"rank": "rank_in_pool", "row": "row_in_pool", "gain": "gain_in_pool"}.items():
        assert frame[now].to_list() == cells[name].to_list()
    assert frame["label_in_pool_in_pool"].to_list() == cells["label"].to_list()
    assert frame["label_in_pool"].to_list() == cells["label_in_pool"].to_list()
    for name in ("p.csv", "p.parquet", "p.jsonl"):
        (tmp_path / name).write_bytes(render(PICKS, source, name[2:]))
        assert Selection.load(tmp_path / name) == PICKS


def test_an_id_column_of_another_name_is_there_under_both(tmp_path):
    pl.DataFrame({"customer_id": [*"abcde"], "a": np.arange(5.0) ** 2}).write_csv(tmp_path / "pool.csv")
    frame = picks_frame(PICKS, read_pool(tmp_path / "pool.csv"))
    assert frame.columns == [*OURS[:2], "id", *OURS[2:], "customer_id", "a", "label"]
    assert frame["id"].to_list() == frame["customer_id"].to_list() == ["d", "a"]


def test_streamed_shards_have_their_cells_and_hide_the_answers(tmp_path):
    for at in range(2):
        more = {"odd": ["x", "y"]} if at else {}
        columns = {"a": [at + 0.5, at + 2.0], "label": ["yes", "no"], "when": [date(2026, 1, 1 + at)] * 2, **more}
        pl.DataFrame(columns).write_parquet(tmp_path / f"s{at}.parquet")
    files = sorted(tmp_path.glob("*.parquet"))
    source = stream_shards(files, "shards", NullCheckpoint(), columns=["a"])
    assert source.answers == ("label",)
    frame = picks_frame(PICKS, source)
    assert frame.columns == [*OURS, "a", "when", "odd", "label"]
    assert frame["a"].to_list() == [3.0, 0.5]
    assert frame["odd"].to_list() == ["y", None]
    assert frame["label"].null_count() == 2


def test_cells_of_every_type_are_written_where_they_fit(tmp_path):
    columns = {
        "a": [*np.arange(4.0), np.nan],
        "list": [[1.0, 2.0]] * 5,
        "struct": [{"x": 1}] * 5,
        "bytes": [b"\xff"] * 5,
        "day": [date(2026, 1, 1)] * 5,
        "array": pl.Series([[1.0, 2.0]] * 5, dtype=pl.Array(pl.Float64, 2)),
        "spell": [timedelta(seconds=1.5)] * 5,
        "text": ["a,b\n\"c'"] * 5,
    }
    pl.DataFrame(columns).write_parquet(tmp_path / "pool.parquet")
    source = read_pool(tmp_path / "pool.parquet", columns=["a"])
    held = {"parquet": [*columns], "jsonl": [name for name in columns if name != "bytes"]}
    held["csv"] = ["a", "day", "spell", "text"]
    picks = Selection([3, 0], [0, 1], [np.inf, np.nan], [2.5, 1.25])
    for form, names in held.items():
        (tmp_path / f"p.{form}").write_bytes(render(picks, source, form))
        read = {"csv": pl.read_csv, "jsonl": pl.read_ndjson, "parquet": pl.read_parquet}[form]
        assert read(tmp_path / f"p.{form}").columns == [*OURS, *names, "label"]


def test_a_text_of_a_list_of_texts_travels(tmp_path):
    (tmp_path / "texts.txt").write_text("a fine day\nrain, wind\nsnow again\nice and fog\n")
    frame = picks_frame(PICKS, read_pool(tmp_path / "texts.txt"))
    assert frame["text"].to_list() == ["ice and fog", "a fine day"]


def test_codes_keep_their_leading_zeros(tmp_path):
    for shard, codes in (("1.csv", ["01234", "10115"]), ("2.csv", ["20095", "80331"])):
        pl.DataFrame({"PLZ": codes, "a": [1.0, 4.5]}).write_csv(tmp_path / shard)
    source = read_pool(tmp_path / "*.csv")
    assert "PLZ (a code" in source.features
    assert picks_frame(PICKS, source)["PLZ"].to_list() == ["80331", "01234"]
    source = read_pool(tmp_path / "*.csv", also=["PLZ"])
    assert source.features == "2 numeric columns (PLZ, a)"
    np.testing.assert_array_equal(source.X[:, 0], [1234, 10115, 20095, 80331])


def test_numbers_with_leading_zeros_travel_as_they_are(tmp_path):
    codes, phones = [f"{i:03d}" for i in range(40)], [f"0{1_700_000_000 + 977 * i * i}" for i in range(40)]
    frame = pl.DataFrame({"Telefon": phones, "lot": codes, "a": [i * i % 41 for i in range(40)]})
    frame.write_csv(tmp_path / "pool.csv")
    source = read_pool(tmp_path / "pool.csv")
    assert "Telefon (long numbers" in source.features
    cells = picks_frame(PICKS, source)
    assert cells["Telefon"].to_list() == [phones[row] for row in PICKS.indices]
    assert cells["lot"].to_list() == [codes[row] for row in PICKS.indices]
    frame.rename({"lot": "lot_id"}).write_csv(tmp_path / "ids.csv")
    source = read_pool(tmp_path / "ids.csv")
    assert (source.id_column, source.ids) == ("lot_id", codes)
