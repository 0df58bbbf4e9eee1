"""The workspace: finished stages survive, foreign ones are refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from mheal import MHEAL
from mheal.runtime.checkpoint import Memory, OtherRun, Workspace, mark, opened, working_in
from mheal.runtime.lock import Lock
from mheal.runtime.memory import limited_pages

X = np.random.default_rng(0).standard_normal((6000, 12)).astype(np.float32)
MODES = {
    "default": MHEAL(random_state=0),
    "labelled from the start": MHEAL(cover=0, random_state=0),
    "uncharged": MHEAL(charge=None, random_state=0),
    "quota": MHEAL(quota=True, random_state=0),
    "uncharged quota": MHEAL(quota=True, charge=None, random_state=0),
    "charged clusters": MHEAL(6, global_repulsion=False, random_state=0),
    "paper": MHEAL.paper(5, n_init=2, random_state=0),
}
each_mode = pytest.mark.parametrize("mode", MODES.values(), ids=MODES)


class Stopped(BaseException):
    """As if the process had been killed."""


class Stops(Workspace):
    """A workspace whose run is stopped after so many stages and notes have been saved."""

    def __init__(self, folder, left):
        super().__init__(folder)
        self.left, self.saved = left, []

    def _save(self, name, arrays):
        super()._save(name, arrays)
        self.saved.append(name)
        if len(self.saved) == self.left:
            raise Stopped


@pytest.fixture
def small_parts(monkeypatch):
    """Sizes at which a small pool takes the ways of a large one."""
    monkeypatch.setattr("mheal.backends.cpu.points.PASS_ROWS", 512)
    monkeypatch.setattr("mheal.backends.cpu.traversal.FRONT_MIN", 64)
    monkeypatch.setattr("mheal.algorithms.local_spacing.SPAN_BYTES", 1 << 14)
    monkeypatch.setattr("mheal.algorithms.local_spacing.TOGETHER", 16)
    monkeypatch.setattr("mheal.algorithms.local_spacing.TASK", 256)
    monkeypatch.setattr("mheal.runtime.checkpoint.EVERY", 0.0)


@pytest.fixture
def mapped(tmp_path):
    np.save(tmp_path / "pool.npy", X)
    return np.load(tmp_path / "pool.npy", mmap_mode="r")


@each_mode
@pytest.mark.parametrize("labeled", [None, np.arange(0, 600, 20)], ids=["", "warm"])
def test_picks_from_a_file_with_hardly_any_memory_are_those_in_memory(mode, labeled, small_parts, mapped, tmp_path):
    expected = mode.select(X, 150, labeled)
    with limited_pages(mapped, 1):
        assert mode.select(mapped, 150, labeled, workspace=tmp_path / "work") == expected
    assert not (tmp_path / "work").exists()


@each_mode
def test_a_run_stopped_after_any_stage_goes_on_from_there(mode, small_parts, mapped, tmp_path, monkeypatch):
    monkeypatch.setenv("MHEAL_NUM_THREADS", "1")  # other threads would outlive the end of the first
    whole = Stops(tmp_path / "work", 0)
    expected = mode.select(mapped, 150, workspace=whole)
    whole.end()
    assert expected == mode.select(X, 150)
    assert len(whole.saved) >= 2
    for stop in {*range(1, min(12, len(whole.saved))), len(whole.saved)}:
        first = Stops(tmp_path / "work", stop)
        with pytest.raises(Stopped):
            mode.select(mapped, 150, workspace=first)
        then = Stops(tmp_path / "work", 0)
        assert mode.select(mapped, 150, workspace=then) == expected
        again = set(first.saved) & set(then.saved)
        assert again <= {"picks"}  # nothing is made twice; of picks there are notes
        assert len(first.saved) + len(then.saved) == len(whole.saved)
        then.end()


def test_stopped_again_and_again(small_parts, mapped, tmp_path):
    expected, mode = MODES["default"].select(X, 300), MODES["default"]
    for _ in range(100):
        try:
            picks = mode.select(mapped, 300, workspace=Stops(tmp_path / "work", 1))
            break
        except Stopped:
            pass
    assert picks == expected


def test_random_numbers_go_on_as_if_nothing_had_happened(tmp_path):
    def draw(space):
        rng = np.random.RandomState(0)
        first = space.once("first", lambda: {"x": rng.standard_normal(3)}, rng)["x"]
        return first, rng.standard_normal(5)

    space = Workspace(tmp_path / "work")
    space.begin({"seed": 0})
    for a, b, c in zip(draw(Memory()), draw(space), draw(space), strict=True):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(a, c)


@pytest.mark.parametrize(
    ("change", "name"),
    [({"budget": 61}, "budget"), ({"labeled": [3]}, "labeled"), ({"mode": MHEAL(3, random_state=0)}, "parameters")],
)
def test_another_run_is_refused_and_left_alone(change, name, mapped, tmp_path):
    with pytest.raises(Stopped):
        MHEAL(random_state=0).select(mapped, 60, workspace=Stops(tmp_path / "work", 2))
    before = sorted(path.name for path in (tmp_path / "work").iterdir())
    asked = {"mode": MHEAL(random_state=0), "budget": 60, "labeled": None} | change
    with pytest.raises(OtherRun, match=f"unfinished run with another {name}: repeat that command .* or delete"):
        asked["mode"].select(mapped, asked["budget"], asked["labeled"], workspace=tmp_path / "work")
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == before


def test_a_pool_that_has_changed_is_another_run(mapped, tmp_path):
    with pytest.raises(Stopped):
        MHEAL(random_state=0).select(mapped, 60, workspace=Stops(tmp_path / "work", 2))
    np.save(tmp_path / "pool.npy", X + 1)
    changed = np.load(tmp_path / "pool.npy", mmap_mode="r")
    with pytest.raises(OtherRun, match="another pool"):
        MHEAL(random_state=0).select(changed, 60, workspace=tmp_path / "work")


def test_a_workspace_needs_a_seed_and_an_array(tmp_path):
    with pytest.raises(ValueError, match="integer random_state"):
        MHEAL().select(X, 5, workspace=tmp_path / "work")
    with pytest.raises(TypeError, match=r"arrays or \.npy files, not for list"):
        MHEAL(random_state=0).select(X.tolist(), 5, workspace=tmp_path / "work")


def test_arrays_in_memory_are_known_by_their_rows():
    assert mark(X) == mark(X.copy())
    assert mark(X) != mark(X + 1)


def test_selections_use_the_workspace_they_are_in(tmp_path):
    space = Stops(tmp_path / "work", 0)
    with working_in(space):
        picks = MHEAL(random_state=0).select(X, 20)
    assert {"moments", "clusters", "spacing", "cover", "radii"} <= {*space.saved}
    assert json.loads((tmp_path / "work" / "manifest.json").read_text())["budget"] == 20
    assert picks == MHEAL(random_state=0).select(X, 20)
    with opened(None) as nothing:
        assert not nothing.on_disk


def test_progress_is_reported_by_stage_and_by_pick(small_parts):
    said = []
    with working_in(Memory(lambda *report: said.append(report))):
        MHEAL(random_state=0).select(X, 400)
    assert [what for done, total, what in said if (done, total) == (1, 1)] == [
        "moments", "clusters", "spacing", "cover", "radii",
    ]  # fmt: skip
    counts = [done for done, total, what in said if what == "picks" and total == 400 - 256]
    assert counts[-1] == 400 - 256
    assert counts == sorted(counts)


def test_a_mistake_leaves_no_folder_behind(tmp_path):
    mistakes = {
        "rows": {"budget": 10**9},
        "labeled names": {"budget": 5, "labeled": [10**6]},
        "utility has shape": {"budget": 5, "worth": [1]},
    }
    for said, bad in mistakes.items():
        with pytest.raises(ValueError, match=said):
            MHEAL(random_state=0).select(X, workspace=tmp_path / "work", **bad)
        assert not (tmp_path / "work").exists()


def test_a_folder_of_other_files_is_refused_and_kept(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(OtherRun, match="holds other files"):
        MHEAL(random_state=0).select(X, 5, workspace=tmp_path)
    assert (tmp_path / "precious.txt").exists()


@pytest.mark.parametrize("others", [["lock"], ["lock", "other.txt"]])
def test_a_lock_of_somebody_else_is_one_of_the_other_files(others, tmp_path):
    for name in others:
        (tmp_path / name).write_text("mine")
    with pytest.raises(OtherRun, match="holds other files"):
        MHEAL(random_state=0).select(X, 5, workspace=tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(others, "mine")


def test_files_that_come_while_the_lock_is_taken_are_other_files_too(tmp_path, monkeypatch):
    take = Lock.take

    def late(lock):
        take(lock)
        (tmp_path / "precious.txt").write_text("mine")

    monkeypatch.setattr(Lock, "take", late)
    with pytest.raises(OtherRun, match="holds other files"):
        MHEAL(random_state=0).select(X, 5, workspace=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_the_end_deletes_what_the_run_has_made_and_nothing_else(tmp_path):
    space = Workspace(tmp_path)
    space.begin({"seed": 0})
    space.once("first", lambda: {"x": np.arange(3)})
    space.scratch("second", (3, 2), np.float32)
    (tmp_path / "notes.txt").write_text("mine")
    space.end()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_parts_of_one_file_are_told_apart(mapped):
    assert mark(mapped[:3000]) != mark(mapped[3000:])


def test_labelled_rows_are_the_same_however_they_are_given(tmp_path):
    mask = np.zeros(len(X), bool)
    mask[[3, 5]] = True
    given = [[3, 5], np.array([3, 5], np.int32), mask]
    runs = [MHEAL(random_state=0)._run(X, 5, labeled, None) for labeled in given]
    assert runs[0] == runs[1] == runs[2]
    other = MHEAL(3, init=X[:3].copy(), random_state=0)._run(X, 5, None, None)
    assert other != MHEAL(3, init=X[3:6].copy(), random_state=0)._run(X, 5, None, None)


@pytest.mark.parametrize("deleted", range(4))
def test_a_kill_while_it_is_deleted_leaves_no_mark_of_an_array_that_is_gone(tmp_path, monkeypatch, deleted):
    stages = Workspace(tmp_path / "run")
    stages.begin({"budget": 3})
    stages.scratch("pool", (4, 2), np.float32)
    stages.once("shard 0", dict)
    unlink, left = Path.unlink, iter([True] * deleted)

    def killed(path, **options):
        if not next(left, False):
            raise KeyboardInterrupt
        unlink(path, **options)

    monkeypatch.setattr(Path, "unlink", killed)
    with pytest.raises(KeyboardInterrupt):
        stages.end()
    monkeypatch.undo()
    names = {path.name for path in stages.folder.iterdir()}
    assert len(names) == 4 - deleted
    assert "pool.npy" in names or "shard 0.npz" not in names
    assert "manifest.json" in names or "pool.npy" not in names
