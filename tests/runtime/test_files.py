"""Files are written atomically. Errors of the system, and files that cannot be read, give the user one line."""

import errno
import json
import os
import zipfile
from threading import Thread

import numpy as np
import polars as pl
import pytest

from mheal.exceptions import UserError, UserFileError
from mheal.io.read import read_pool
from mheal.runtime.checkpoint import Checkpoint, kept_unless_mistaken
from mheal.runtime.files import reading, replacing


def test_a_file_is_replaced_when_all_is_written(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(TypeError), replacing(file) as part:
        part.write_text("".join(["half", 0]))
    assert file.read_text() == "old"
    with replacing(file) as part:
        part.write_text("new")
    assert file.read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    with replacing(tmp_path / "deep" / "er" / "a.txt", make_folder=True) as part:
        part.write_text("new")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nowhere/a.csv", "there is no folder .*nowhere' to write a.csv to: make it first"),
        ("file.txt/a.csv", "cannot write a.csv: .*file.txt' is a file, not a folder"),
        ("folder", "cannot write .*folder': [Ii]s a directory"),
    ],
)
def test_what_cannot_be_written_is_one_line(tmp_path, name, words):
    (tmp_path / "file.txt").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(UserFileError, match=words) as raised, replacing(tmp_path / name) as part:
        part.write_text("x")
    assert "\n" not in str(raised.value)


def test_a_full_disk_is_one_line_and_leaves_a_checkpoint_to_resume_from(tmp_path):
    def full():
        with replacing(tmp_path / "a.csv"):
            raise OSError(errno.ENOSPC, "No space left on device")

    run = Checkpoint(tmp_path / "work")
    run.begin({"seed": 0})
    run.stage("first", lambda: {"a": np.arange(3)})
    with pytest.raises(UserFileError, match=r"cannot write .*a.csv': No space left"), kept_unless_mistaken(run):
        full()
    again = Checkpoint(tmp_path / "work")
    again.begin({"seed": 0})
    assert again.stage("first", full)["a"].tolist() == [0, 1, 2]
    again.end()


def test_a_checkpoint_in_a_file_is_one_line(tmp_path):
    (tmp_path / "work").touch()
    with pytest.raises(UserFileError, match=r"cannot write .*work"):
        Checkpoint(tmp_path / "work").begin({"seed": 0})


@pytest.mark.parametrize(
    ("make", "read", "words"),
    [
        (lambda f: None, lambda f: f.read_text(), "there is no file .*pool"),
        (lambda f: f.mkdir(), lambda f: f.read_text(), "cannot read pool: [Ii]s a directory"),
        (lambda f: f.write_bytes(b"\xff"), lambda f: f.read_text("utf-8"), "cannot read pool: it is not UTF-8"),
        (lambda f: f.write_text("[1,\n2"), lambda f: json.loads(f.read_text()), "pool: line 2 is not JSON"),
        (lambda f: f.write_text("x"), lambda f: np.load(f, allow_pickle=False), "cannot read pool: .*: get it again"),
        (lambda f: f.write_text("x"), zipfile.ZipFile, "cannot read pool: File is not a zip file: get it again"),
        (lambda f: f.touch(), pl.read_csv, "cannot read pool: .*: get it again"),
        (lambda f: f.write_text("PAR1"), pl.read_parquet, "cannot read pool: .*: get it again"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, make, read, words):
    file = tmp_path / "pool"
    make(file)
    with pytest.raises(UserError, match=words) as raised, reading(file, ": get it again"):
        read(file)
    assert "\n" not in str(raised.value)


def test_our_own_mistakes_are_not_the_files(tmp_path):
    with pytest.raises(KeyError), reading(tmp_path):
        {}["no such key"]


@pytest.mark.skipif(os.name != "posix", reason="links and modes are Unix's")
def test_a_link_and_the_mode_of_what_is_replaced_are_kept(tmp_path):
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "a.csv", tmp_path / "link.csv"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to(file)
    with replacing(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert file.stat().st_mode & 0o777 == 0o640
    fresh, plain = tmp_path / "b.csv", tmp_path / "plain"
    with replacing(fresh) as part:
        part.write_text("new")
    plain.touch()
    assert fresh.stat().st_mode == plain.stat().st_mode


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes in folders")
def test_a_pipe_is_written_to_and_stays(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = Thread(target=lambda: got.append((tmp_path / "pipe").read_text()))
    got = []
    reader.start()
    with replacing(tmp_path / "pipe") as part:
        part.write_text("words")
    reader.join()
    assert got == ["words"]
    assert (tmp_path / "pipe").is_fifo()


def test_temporary_files_of_others_are_neither_taken_nor_swept_while_they_live(tmp_path):
    pytest.importorskip("fcntl")
    file = tmp_path / "a.csv"
    dead = tmp_path / f".a.csv.{'0' * 16}.part"
    dead.touch()
    mine = tmp_path / ".a.csv.notes.part"
    mine.touch()
    with replacing(file) as first, replacing(file) as second:
        assert first != second
        assert first.exists()
        assert second.exists()
        assert not dead.exists()
        first.write_text("first")
        second.write_text("second")
    assert file.read_text() == "first"
    assert {path.name for path in tmp_path.iterdir()} == {"a.csv", mine.name}


def test_a_panic_below_python_is_the_files_fault(tmp_path):
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    with pytest.raises(UserError, match="cannot read pool: index out of bounds"), reading(tmp_path / "pool"):
        raise panic("index out of bounds")
    with pytest.raises(KeyboardInterrupt), reading(tmp_path):
        raise KeyboardInterrupt


def test_messages_are_one_line_of_at_most_300_printable_characters():
    text = str(UserError("pool.csv: " + "\x1b[31m\n \udce9" + "x" * 5000 + ": rename it"))
    assert len(text) <= 300
    assert text.isprintable()
    assert text.startswith("pool.csv: \\x1b[31m \\udce9x")
    assert text.endswith(": rename it")
    assert str(UserFileError("no\nfile")) == "no file"


def test_memory_that_an_archive_says_it_needs_is_looked_at_first(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((1000, 1000)))
    monkeypatch.setattr("mheal.runtime.memory.available", lambda: 7_999_999)
    with pytest.raises(UserError, match=r"bomb.npz unpacks to 0.008 GB"):
        read_pool(tmp_path / "bomb.npz")


def test_what_another_call_has_yielded_is_written_to_as_it_is(tmp_path):
    with replacing(tmp_path / "a.png") as outer:
        with replacing(outer) as inner:
            inner.write_text("picture")
        assert inner == outer
        assert [path.name for path in tmp_path.iterdir()] == [outer.name]  # so that a killed run leaves no other file
    assert (tmp_path / "a.png").read_text() == "picture"
