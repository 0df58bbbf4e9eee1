"""Selection: frozen, comparable, saved whole or not at all."""

import sys

import numpy as np
import pandas as pd
import pytest

import mheal
from mheal import Selection
from mheal.exceptions import UserError

PICKS = Selection(
    [7, 3, 9], [1, 0, 1], [np.inf, 2.5, 1.25], [2.5, 1.25, 0.5], ["the first", "far, far away", '<b>"near"</b>']
)


def test_is_frozen():
    with pytest.raises(AttributeError):
        PICKS.indices = np.zeros(3)
    with pytest.raises(ValueError, match="read-only"):
        PICKS.indices[0] = 1


def test_frame():
    frame = PICKS.to_frame()
    assert frame.columns == ["rank", "row", "cluster", "gain", "radius", "reason"]
    assert frame["rank"].to_list() == [1, 2, 3]
    assert frame["row"].to_list() == [7, 3, 9]


@pytest.mark.parametrize("name", ["p.csv", "p.parquet", "p.jsonl"])
def test_round_trip(tmp_path, name):
    PICKS.save(tmp_path / name)
    assert Selection.load(tmp_path / name) == PICKS
    assert Selection.load(tmp_path / name).reason == PICKS.reason
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


def test_it_is_an_index():
    A = np.arange(40).reshape(20, 2)
    np.testing.assert_array_equal(A[PICKS], A[[7, 3, 9]])
    frame = pd.DataFrame(A, index=[f"r{i}" for i in range(20)])
    assert frame.iloc[PICKS].index.tolist() == ["r7", "r3", "r9"]
    assert list(PICKS) == [7, 3, 9]
    assert len(PICKS) == 3
    assert 3 in PICKS
    assert PICKS[0] == 7
    np.testing.assert_array_equal(np.asarray(PICKS), [7, 3, 9])
    torch = pytest.importorskip("torch")
    assert torch.as_tensor(A)[np.asarray(PICKS)].tolist() == A[[7, 3, 9]].tolist()


def test_a_slice_is_the_first_picks():
    assert PICKS[:2] == Selection([7, 3], [1, 0], [np.inf, 2.5], [2.5, 1.25])
    assert PICKS[:2].reason == ("the first", "far, far away")
    assert PICKS[:1] + PICKS[1:] == PICKS


def test_a_pandas_frame_needs_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UserError, match="pip install pandas"):
        PICKS.to_pandas()


def test_picks_of_a_frame_keep_its_index():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 3)), index=pd.Index([f"p{i}" for i in range(60)], name="patient"))
    picks = mheal.select(frame, 5)
    assert picks.to_pandas().index.tolist() == frame.iloc[picks].index.tolist()
    assert picks[:2].to_pandas().index.name == "patient"
    assert picks.to_pandas()["row"].tolist() == list(picks)
    assert mheal.select(frame.to_numpy(), 5).to_pandas().index.tolist() == [0, 1, 2, 3, 4]


def test_a_selection_says_which_rows_are_labelled():
    X = np.random.default_rng(0).normal(size=(100, 3))
    first = mheal.select(X, 10)
    assert mheal.select(X, 5, labeled=first) == mheal.select(X, 5, labeled=first.indices)


@pytest.mark.parametrize("strategy", ["mheal", "mheal-paper", "random", "typiclust"])
def test_every_pick_has_a_reason(strategy):
    X = np.random.default_rng(0).normal(size=(200, 3))
    picks = mheal.select(X, 30, strategy=strategy)
    assert len(picks.reason) == 30
    assert all(reason.endswith(".") or ":" in reason for reason in picks.reason)


def test_a_notebook_shows_a_table_with_what_people_wrote_made_harmless():
    html = PICKS._repr_html_()
    assert html.count("<tr>") == 4
    assert "<b>" not in html
    assert "&lt;b&gt;" in html
    assert "more" in Selection.of(np.arange(50))._repr_html_()


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("-1,0", "pick 1 has row -1"),
        ("3,0\n3,0", "pick 1 has row 3, like another"),
        (",0", "pick 1 has no row"),
        ("3,0\n4,", "pick 2 has no row or no cluster"),
        ("inf,0", "cannot read picks.csv"),
        ("6", "cannot read picks.csv|no row or no cluster"),
    ],
)
def test_damaged_picks_are_refused(lines, words, tmp_path):
    rows = "\n".join(f"{line},1.0,1.0" if line.count(",") else line for line in lines.split("\n"))
    (tmp_path / "picks.csv").write_text(f"row,cluster,gain,radius\n{rows}\n")
    with pytest.raises(UserError, match=words):
        Selection.load(tmp_path / "picks.csv")


def test_picks_that_a_spreadsheet_has_saved_are_read(tmp_path):
    lines = ["rank;row;cluster;gain;radius;note", "1;3;0;inf;2.5;caf\xe9", "2;1;0;1.5;1.25;5"]
    (tmp_path / "p.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
    assert Selection.load(tmp_path / "p.csv") == Selection([3, 1], [0, 0], [np.inf, 1.5], [2.5, 1.25])


def test_only_selections_are_added_to_selections():
    with pytest.raises(TypeError, match=r"Selection.*list"):
        Selection.of(np.array([3, 1])) + [2]  # noqa: RUF005
