"""The data that a typed path, pattern or name refers to."""

import numpy as np
import pytest

from mheal.exceptions import UserError
from mheal.io.locate import locate
from mheal.io.read import read_pool


def test_a_missing_file_with_a_near_name(tmp_path):
    np.save(tmp_path / "pool.npy", np.ones((2, 2)))
    with pytest.raises(FileNotFoundError, match=r"there is no file or folder '.*poll.npy': did you mean 'pool.npy'\?"):
        read_pool(tmp_path / "poll.npy")


def test_a_missing_file_in_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"check the path; a pool is a .npy, .npz, .csv"):
        read_pool(tmp_path / "nowhere" / "pool.csv")


def test_a_pattern_without_matches(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches the pattern '.*\*.parquet'"):
        read_pool(tmp_path / "*.parquet")


def test_an_unknown_suffix(tmp_path):
    (tmp_path / "pool.doc").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"cannot read pool.doc: a pool is a .npy, .npz, .csv, .tsv, .xlsx, .parquet, .jsonl"
    ):
        read_pool(tmp_path / "pool.doc")


def test_a_pattern_of_different_kinds(tmp_path):
    for name in ("a.csv", "b.txt"):
        (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(ValueError, match=r"different kinds of files \(a.csv, b.txt\)"):
        read_pool(tmp_path / "*")


def test_a_folder_without_images(tmp_path):
    with pytest.raises(ValueError, match=r"there is no image in the folder '[^']*': a pool is"):
        read_pool(tmp_path)
    (tmp_path / "a.parquet").write_bytes(b"")
    with pytest.raises(ValueError, match=r"for its .parquet files use the pattern '.*/\*.parquet'"):
        read_pool(tmp_path)


def test_one_image_is_not_a_pool(tmp_path):
    (tmp_path / "cat.JPG").write_bytes(b"")
    with pytest.raises(ValueError, match=r"cat.JPG is one image, not a pool: give the folder it is in"):
        read_pool(tmp_path / "cat.JPG")


def test_images_are_found_below_and_sorted_by_path(tmp_path):
    for name in ("b/2.PNG", "a/10.jpeg", "a/9.tif", "top.gif", "notes.md", ".trash/x.png", "a/._9.tif"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    names = [file.relative_to(tmp_path).as_posix() for file in locate(tmp_path).files]
    assert names == ["a/10.jpeg", "a/9.tif", "b/2.PNG", "top.gif"]


def test_brackets_in_a_real_name_are_no_pattern(tmp_path):
    for suffix, text in ((".csv", "a\n1\n2\n"), (".jsonl", '{"a": 1}\n{"a": 2}\n'), (".txt", "one text\ntwo texts\n")):
        (tmp_path / f"pool[1]{suffix}").write_text(text)
        assert len(read_pool(tmp_path / f"pool[1]{suffix}").X) == 2


def test_linked_folders_are_said(tmp_path):
    pool, other = tmp_path / "pool", tmp_path / "other"
    for folder in (pool / "cats", other):
        folder.mkdir(parents=True)
        (folder / "a.png").touch()
    (pool / "linked").symlink_to(other)
    found = locate(pool)
    assert [file.relative_to(pool).as_posix() for file in found.files] == ["cats/a.png"]
    assert len(found.notes) == 1
    assert f"linked folders are not read, but patterns such as '{pool}/*/*.png' are: {pool}/linked" in found.notes[0]
    assert [file.parent.name for file in locate(pool / "*" / "*.png").files] == ["cats", "linked"]
    (pool / "cats" / "a.png").unlink()
    with pytest.raises(UserError, match=r"no image in the folder .*: linked folders are not read"):
        locate(pool)
