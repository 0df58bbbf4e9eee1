"""Targets: columns, arrays, folders and files of labels."""

import json

import numpy as np
import polars as pl
import pytest
from PIL import Image

from mheal.exceptions import UserError
from mheal.io.read import read_pool
from mheal.io.targets import read_target

SPECIES = ["setosa", "virginica", "versicolor"] * 4
X = np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(extra=None):
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1], "species": SPECIES})
    (frame if extra is None else frame.with_columns(**extra)).write_csv("pool.csv")


def target_of(target, pool="pool.csv"):
    source = read_pool(pool, target=target)
    return *read_target(target, pool, source), source


def test_a_column_is_the_target_and_no_feature(here):
    table()
    rows, labels, described, source = target_of("species")
    assert labels.tolist() == SPECIES
    assert rows.tolist() == list(range(12))
    assert described == "pool.csv, column 'species'"
    np.testing.assert_allclose(source.X, X[:, :2], rtol=1e-6)


def test_shards_are_read_in_order(here):
    for part in range(3):
        pl.DataFrame({"a": X[part::3, 0], "species": SPECIES[part::3]}).write_parquet(f"part{part}.parquet")
    _, labels, _, _ = target_of("species", "part*.parquet")
    assert labels.tolist() == sorted(SPECIES, key=["setosa", "virginica", "versicolor"].index)


def test_an_array_of_the_pools_own_archive(here):
    np.savez("pool.npz", X=X, y=np.arange(12) % 2, wide=X[:, :2])
    for pool in ("pool.npz", "pool.npz:X"):
        _, labels, _, source = target_of("y", pool)
        assert labels.tolist() == [0, 1] * 6
        assert source.X.shape == (12, 3)
    with pytest.raises(ValueError, match=r"pool.npz has no array 'z'.*X, y, wide"):
        target_of("z", "pool.npz")
    with pytest.raises(ValueError, match=r"shape \(12, 2\)"):
        target_of("wide", "pool.npz")


def test_folders_of_images(here):
    for at, name in enumerate(["cat/1.png", "cat/deep/2.png", "dog/1.png", "dog/2.png", "stray.png"]):
        path = here / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.full((8, 8), 40 * at, np.uint8)).save(path)
    rows, labels, _, source = target_of("folder", "photos")
    assert labels.tolist() == ["cat", "cat", "dog", "dog"]
    assert [source.ids[row] for row in rows] == ["cat/1.png", "cat/deep/2.png", "dog/1.png", "dog/2.png"]
    with pytest.raises(FileNotFoundError, match="'folder' if each class has a folder"):
        target_of("species", "photos")


@pytest.mark.parametrize("name", ["y.npy", "y.npz", "y.npz:y", "y.txt", "y.csv", "y.tsv", "y.parquet", "y.jsonl"])
def test_files_with_a_label_for_each_row(here, name):
    np.save("pool.npy", X)
    np.save("y.npy", np.array(SPECIES))
    np.savez("y.npz", y=np.array(SPECIES), other=X)
    (here / "y.txt").write_text("\n".join(SPECIES) + "\n")
    frame = pl.DataFrame({"label": SPECIES, "note": ["x"] * 12})
    frame.write_csv("y.csv")
    frame.select("label").write_csv("y.tsv", separator="\t")
    frame.select(anything="label").write_parquet("y.parquet")
    frame.write_ndjson("y.jsonl")
    _, labels, _, _ = target_of(name, "pool.npy")
    assert labels.tolist() == SPECIES


def test_files_are_matched_by_row_and_by_id(here):
    np.save("pool.npy", X)
    order = np.random.default_rng(1).permutation(12)
    shuffled = pl.DataFrame({"row": order, "label": [SPECIES[i] for i in order]})
    shuffled.write_csv("rows.csv")
    assert target_of("rows.csv", "pool.npy")[1].tolist() == SPECIES
    table({"id": pl.Series([f"item {i}" for i in range(12)])})
    shuffled.select(pl.format("item {}", "row").alias("id"), "label").write_parquet("ids.parquet")
    assert target_of("ids.parquet")[1].tolist() == SPECIES
    tasks = [
        {"data": {"id": f"item {i}"}, "annotations": [{"result": [{"value": {"choices": [SPECIES[i]]}}]}]}
        for i in order
    ]
    (here / "export.json").write_text(json.dumps(tasks))
    assert target_of("export.json")[1].tolist() == SPECIES


@pytest.mark.parametrize("suffix", ["csv", "txt", "npy", "rows.csv"])
def test_rows_without_a_label_are_left_out(here, suffix):
    np.save("pool.npy", X)
    values = [0.0, 1.0, np.nan, *([0.0, 1.0] * 4), np.nan]
    blank = [None if v != v else int(v) for v in values]
    pl.DataFrame({"label": blank, "x": range(12)}).write_csv("y.csv")
    pl.DataFrame({"label": blank, "row": range(12)}).write_csv("y.rows.csv")
    (here / "y.txt").write_text("\n".join("" if v is None else str(v) for v in blank) + "\n")
    np.save("y.npy", values)
    rows, labels, _, _ = target_of(f"y.{suffix}", "pool.npy")
    assert rows.tolist() == [0, 1, *range(3, 11)]
    assert labels.tolist() == [0, 1] * 5
    assert labels.dtype == np.int64


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (np.linspace(0, 1, 12).tolist(), "12 different values in 12 rows"),
        (np.random.default_rng(0).normal(size=12).tolist() * 1, "different"),
        ([3] * 12, "all labels are 3"),
        ([0, 1] * 5 + [0, 7], "class 7 has 1 row only"),
        ([f"id {i}" for i in range(12)], "ids or measurements"),
        ([None] * 12, "no label at all: fill them in, or name another target"),
        ([[1, 2]] * 12, "holds list"),
    ],
)
def test_what_cannot_be_a_target(here, values, words):
    pl.DataFrame({"a": X[:, 0], "y": values}, strict=False).write_parquet("pool.parquet")
    with pytest.raises(ValueError, match=words) as error:
        target_of("y", "pool.parquet")
    assert "pool.parquet, column 'y'" in str(error.value)


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        ("specie", ValueError, "pool.csv has no column 'specie'.*did you mean 'species'"),
        ("nothing like it", ValueError, "its columns are a, b, species"),
        ("short.npy", ValueError, "short.npy has 3 labels, but the pool has 12 rows"),
        ("wide.npy", ValueError, r"wide.npy has labels of shape \(12, 2\)"),
        ("objects.npy", ValueError, "cannot read objects.npy"),
        ("empty.npy", ValueError, "cannot read empty.npy"),
        ("several.npz", ValueError, "several.npz has no array 'y': write several.npz:NAME"),
        ("columns.csv", ValueError, "columns.csv has no column 'label': it has p, q"),
        ("picks.csv", ValueError, "picks.csv has no column 'label'"),
        ("labels.doc", ValueError, "cannot read labels from labels.doc"),
    ],
)
def test_mistakes_are_named(here, target, error, words):
    table()
    np.save("short.npy", [1, 2, 3])
    np.save("wide.npy", np.ones((12, 2)))
    np.save("objects.npy", np.array([{}] * 12), allow_pickle=True)
    (here / "empty.npy").touch()
    np.savez("several.npz", one=np.ones(12), two=np.ones(12))
    pl.DataFrame({"p": range(12), "q": range(12)}).write_csv("columns.csv")
    pl.DataFrame({"row": range(12)}).write_csv("picks.csv")
    (here / "labels.doc").touch()
    with pytest.raises(error, match=words):
        target_of(target)


def test_a_file_that_is_not_there(here):
    np.save("pool.npy", X)
    with pytest.raises(FileNotFoundError, match=r"no file 'labels.npy': the target is a file of labels \(\.npy"):
        target_of("labels.npy", "pool.npy")


def test_lines_of_labels_may_be_in_latin1(here):
    table()
    (here / "latin.txt").write_bytes(b"caf\xe9\nth\xe9\n" * 6)
    assert target_of("latin.txt")[1].tolist() == ["café", "thé"] * 6


def test_images_without_folders_have_no_classes(here):
    (here / "images").mkdir()
    for i in range(4):
        Image.fromarray(np.full((8, 8), 60 * i, np.uint8)).save(here / "images" / f"{i}.png")
    with pytest.raises(UserError, match="put the images of each class into a folder of its own"):
        target_of("folder", "images")


def test_characters_that_are_none_are_refused(here):
    np.save("pool.npy", X)
    words = np.array(["x", "y"] * 6)
    words.view(np.uint32)[3] = 0x110000  # as in a damaged file; Python cannot even print it
    np.save("y.npy", words)
    with pytest.raises(UserError, match=r"y.npy: 'X' holds invalid characters"):
        target_of("y.npy", "pool.npy")
