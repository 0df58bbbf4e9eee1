"""The folder of a checkpoint: what may be in it, and what is deleted at the end."""

from pathlib import Path

import numpy as np
import pytest

import mheal
from mheal import MHEAL
from mheal.runtime.checkpoint import Checkpoint, OtherRun
from mheal.runtime.files import Lock

X = np.random.default_rng(0).standard_normal((6000, 12)).astype(np.float32)


def test_a_mistake_leaves_no_folder_behind(tmp_path):
    for bad in ({"n": 10**9}, {"n": 5, "labeled": [10**6]}, {"n": 5, "strategy": MHEAL(10**6)}):
        with pytest.raises(ValueError, match="rows"):
            mheal.select(X, checkpoint=tmp_path / "work", **bad)
        assert not (tmp_path / "work").exists()


def test_a_folder_of_other_files_is_refused_and_kept(tmp_path):
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(OtherRun, match="holds other files"):
        mheal.select(X, 5, checkpoint=tmp_path)
    assert (tmp_path / "precious.txt").exists()


@pytest.mark.parametrize("others", [["lock"], ["lock", "other.txt"]])
def test_a_lock_of_somebody_else_is_one_of_the_other_files(others, tmp_path):
    for name in others:
        (tmp_path / name).write_text("mine")
    with pytest.raises(OtherRun, match="holds other files"):
        mheal.select(X, 5, checkpoint=tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(others, "mine")


def test_files_that_come_while_the_lock_is_taken_are_other_files_too(tmp_path, monkeypatch):
    take = Lock.take

    def late(lock):
        take(lock)
        (tmp_path / "precious.txt").write_text("mine")

    monkeypatch.setattr(Lock, "take", late)
    with pytest.raises(OtherRun, match="holds other files"):
        mheal.select(X, 5, checkpoint=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["precious.txt"]


def test_the_end_deletes_what_the_run_has_made_and_nothing_else(tmp_path):
    space = Checkpoint(tmp_path)
    space.begin({"seed": 0})
    space.stage("first", lambda: {"x": np.arange(3)})
    space.scratch("second", (3, 2), np.float32)
    (tmp_path / "notes.txt").write_text("mine")
    space.end()
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("deleted", range(4))
def test_a_kill_while_it_is_deleted_leaves_no_mark_of_an_array_that_is_gone(tmp_path, monkeypatch, deleted):
    stages = Checkpoint(tmp_path / "run")
    stages.begin({"budget": 3})
    stages.scratch("pool", (4, 2), np.float32)
    stages.stage("shard 0", dict)
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
