"""`mheal select --deduplicate`: rows that equal an earlier one are left out among images, and count in tables."""

import json
import shutil

import numpy as np
import polars as pl
import pytest

from commands import rows, run


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """The current folder, with pool.npy, whose rows from 300 on equal earlier rows."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((300, 4))
    np.save("pool.npy", np.concatenate([X, X[:150]]))
    return tmp_path


def test_equal_vectors_count_unless_they_are_left_out(pool, capfd):
    assert run("select pool.npy -b 300 -o plain.csv") == 0
    assert run("select pool.npy -b 300 --no-deduplicate -o all.csv") == 0
    assert (pool / "plain.csv").read_bytes() == (pool / "all.csv").read_bytes()
    assert run("select pool.npy -b 300 --deduplicate") == 0
    assert sorted(rows()) == list(range(300))
    assert json.loads((pool / "picks.csv.mheal.json").read_text())["parameters"]["deduplicate"] is True
    assert run("select --rerun picks.csv.mheal.json") == 0
    assert "identical" in capfd.readouterr().err


def test_equal_images_are_left_out_unless_they_are_to_count(desk):
    files = sorted((desk / "images").rglob("*.png"))
    for file in files[::3]:
        shutil.copy(file, file.with_name(f"copy of {file.name}"))
    assert run(f"select images -b {len(files)}") == 0
    names = [name.replace("copy of ", "") for name in pl.read_csv("picks.csv")["id"]]
    assert len(set(names)) == len(files)
    assert run(f"select images -b {len(files)} --no-deduplicate -o all.csv") == 0
    assert rows("all.csv").tolist() != rows().tolist()
    assert run("select images -b 20 --strategy random") == 0  # has no such choice, and needs none


@pytest.mark.parametrize(
    ("more", "words"),
    [("--strategy coreset", "coreset does not look for duplicates"), ("--max-memory 3GB", "copies rows in memory")],
)
def test_what_does_not_go_together_is_refused(more, words, pool, capfd):
    assert run(f"select pool.npy -b 5 -q --deduplicate {more}") == 2
    err = capfd.readouterr().err
    assert words in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in pool.iterdir()] == ["pool.npy"]


def test_counting_goes_with_a_limit(pool):
    assert run("select pool.npy -b 5 --no-deduplicate --max-memory 3GB") == 0
