import pytest

from mheal.paper.rows import RawRows


def open_rows(folder, **protocol):
    return RawRows(folder, {"size": 10, **protocol}, ("dataset", "seed"))


def unit(dataset, seed, n=2):
    return [{"dataset": dataset, "seed": seed, "at": i, "value": seed + i / 3} for i in range(n)]


def test_a_new_run_goes_on_where_the_last_one_stopped(tmp_path):
    rows = open_rows(tmp_path / "new")
    assert not rows.has("wine", 0)
    rows.add(unit("wine", 0))
    rows.add(unit("iris", 10))
    again = open_rows(tmp_path / "new")
    assert again.has("wine", 0)
    assert again.has("iris", 10)
    assert not again.has("iris", 1)
    again.add(unit("iris", 1))
    assert open_rows(tmp_path / "new").rows == again.rows
    assert (tmp_path / "new" / "rows.csv").read_text().splitlines()[:3] == [
        "dataset,seed,at,value", "wine,0,0,0", "wine,0,1,0.333333"]  # fmt: skip


def test_rows_are_found_by_their_columns(tmp_path):
    rows = open_rows(tmp_path)
    for seed in range(3):
        rows.add(unit("wine", seed))
    assert len(rows.where(dataset="wine")) == 6
    assert [row["seed"] for row in rows.where(seed=range(2), at=1)] == ["0", "1"]
    assert rows.where(dataset="iris") == []


def test_a_failed_unit_leaves_nothing(tmp_path):
    rows = open_rows(tmp_path)
    rows.add(unit("wine", 0))

    def broken():
        yield from unit("iris", 0)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        rows.add(broken())
    with pytest.raises(ValueError, match="extra"):
        rows.add([{"dataset": "iris", "seed": 0, "extra": 1}])
    assert not rows.has("iris", 0)
    assert open_rows(tmp_path).rows == rows.rows
    assert sorted(p.name for p in tmp_path.iterdir()) == ["protocol.json", "rows.csv"]


def test_rows_of_another_protocol_are_refused(tmp_path):
    open_rows(tmp_path).add(unit("wine", 0))
    with pytest.raises(ValueError, match=r"rows\.csv is from another experiment or size"):
        open_rows(tmp_path, size=20)


def test_missing_values_are_empty(tmp_path):
    rows = open_rows(tmp_path)
    rows.add([{"dataset": "wine", "seed": 0, "value": None}])
    assert open_rows(tmp_path).rows[0]["value"] == ""
