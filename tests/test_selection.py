"""Selection: frozen, comparable, saved whole or not at all."""

import numpy as np
import pytest

from mheal import Selection

PICKS = Selection([7, 3, 9], [1, 0, 1], [np.inf, 2.5, 1.25], [2.5, 1.25, 0.5])


def test_is_frozen():
    with pytest.raises(AttributeError):
        PICKS.indices = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        PICKS.indices[0] = 1


def test_frame():
    frame = PICKS.to_frame()
    assert frame.columns == ["rank", "row", "cluster", "gain", "radius"]
    assert frame["rank"].to_list() == [1, 2, 3]
    assert frame["row"].to_list() == [7, 3, 9]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.jsonl"])
def test_round_trip(tmp_path, name):
    PICKS.save(tmp_path / name)
    assert Selection.load(tmp_path / name) == PICKS
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_radius_may_be_infinite_in_jsonl(tmp_path):
    picks = Selection([1, 2], [0, 1], [np.inf, np.inf], [np.inf, 3.0])
    picks.save(tmp_path / "p.jsonl")
    assert Selection.load(tmp_path / "p.jsonl") == picks


def test_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    PICKS.save(tmp_path / "p.csv")
    before = (tmp_path / "p.csv").read_bytes()

    def full_disk(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("polars.DataFrame.write_csv", full_disk)
    with pytest.raises(OSError, match="no space"):
        Selection([1], [0], [1.0], [1.0]).save(tmp_path / "p.csv")
    assert (tmp_path / "p.csv").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1


def test_unknown_suffix_and_foreign_files(tmp_path):
    with pytest.raises(ValueError, match=r"\.csv, \.parquet or \.jsonl"):
        PICKS.save(tmp_path / "p.xlsx")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no column 'cluster'"):
        Selection.load(tmp_path / "other.csv")


def test_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="cluster has shape"):
        Selection([1, 2], [0], [1.0, 1.0], [1.0, 1.0])


def test_torch_subset():
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.arange(20))
    assert [int(item[0]) for item in PICKS.subset(data)] == [7, 3, 9]


def test_repr():
    assert repr(PICKS) == "Selection(3 rows: 7, 3, 9)"
