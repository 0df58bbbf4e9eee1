"""`mheal select --copies`: equal rows count in tables, and once among images."""

import json
import shlex
import shutil

import numpy as np
import polars as pl
import pytest

from mheal.cli import main


def run(line):
    return main(shlex.split(line))


def rows(file="picks.csv"):
    return pl.read_csv(file)["row"].to_numpy()


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """pool.npy, whose rows from 300 on equal those before, and we are beside it."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((300, 4))
    np.save("pool.npy", np.concatenate([X, X[:150]]))
    return tmp_path


@pytest.mark.parametrize("strategy", ["mheal", "mheal-asking"])
def test_vectors_count_unless_they_are_to_count_once(strategy, pool, capfd):
    assert run(f"select pool.npy -b 300 --strategy {strategy} -o plain.csv") == 0
    assert run(f"select pool.npy -b 300 --strategy {strategy} --copies count -o count.csv") == 0
    assert (pool / "plain.csv").read_bytes() == (pool / "count.csv").read_bytes()
    assert run(f"select pool.npy -b 300 --strategy {strategy} --copies once") == 0
    assert sorted(rows()) == list(range(300))
    assert json.loads((pool / "picks.json").read_text())["parameters"]["copies"] == "once"
    assert run("select --rerun picks.json") == 0
    assert "identical" in capfd.readouterr().err


def test_images_count_once_unless_they_are_to_count(desk):
    files = sorted((desk / "images").rglob("*.png"))
    for file in files[::3]:
        shutil.copy(file, file.with_name(f"copy of {file.name}"))
    assert run(f"select images -b {len(files)}") == 0
    names = [name.replace("copy of ", "") for name in pl.read_csv("picks.csv")["id"]]
    assert len(set(names)) == len(files)
    assert run(f"select images -b {len(files)} --copies count -o count.csv") == 0
    assert rows("count.csv").tolist() != rows().tolist()
    assert run("select images -b 20 --strategy random") == 0  # has no such choice, and needs none


@pytest.mark.parametrize(
    ("more", "said"),
    [("--copies twice", "--copies is count or once, got 'twice'"),
     ("--copies once --strategy coreset", "coreset takes no --copies: leave it out, or use mheal or mheal-asking"),
     ("--copies once --max-memory 3GB", "--copies once and --max-memory do not go together: leave out one of them"),
     ("--copies once --scheduler local", "--copies once and --scheduler do not go together: leave out one of them")],
)  # fmt: skip
def test_what_does_not_go_together_is_refused(more, said, pool, capfd):
    assert run(f"select pool.npy -b 5 {more}") == 2
    err = capfd.readouterr().err
    assert said in err
    assert len(err.splitlines()) == 1
    assert [path.name for path in pool.iterdir()] == ["pool.npy"]


def test_counting_goes_with_a_limit(pool):
    assert run("select pool.npy -b 5 --copies count --max-memory 3GB") == 0
