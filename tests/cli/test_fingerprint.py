"""A file of picks is refused if its row numbers no longer refer to the same rows of the pool."""

import shlex

import numpy as np
import polars as pl
import pytest

from mheal.cli import main

ROWS = 60


def table():
    rng = np.random.default_rng(0)
    return pl.DataFrame({"a": rng.normal(size=ROWS), "n": rng.integers(0, 9, ROWS), "c": rng.choice(["x", "y"], ROWS)})


def write_array(frame):
    np.save("pool.npy", frame.select("a", "n").to_numpy())


def write_texts(frame):
    with open("pool.txt", "w") as out:
        out.writelines(f"text number {row['n']} about {row['c']} and {row['a']:.3f}\n" for row in frame.to_dicts())


WRITERS = {
    "pool.csv": lambda frame: frame.write_csv("pool.csv"),
    "pool.parquet": lambda frame: frame.write_parquet("pool.parquet"),
    "pool.npy": write_array,
    "pool.txt": write_texts,
}


@pytest.fixture(autouse=True)
def desk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def run(line, capsys):
    status = main(shlex.split(line))
    return status, capsys.readouterr().err


def label_picks():
    pl.read_csv("picks.csv").with_columns(label=pl.Series(["u", "v"] * 6)).write_csv("picks.csv")


def picked(pool, capsys, label="labels"):
    WRITERS[pool](table())
    assert run(f"select {pool} -b 12", capsys)[0] == 0
    if label == "labels":
        label_picks()


@pytest.mark.parametrize("pool", WRITERS)
@pytest.mark.parametrize("option", ["--labeled picks.csv", "--keep picks.csv"])
def test_a_pool_in_another_order_is_refused(pool, option, capsys):
    picked(pool, capsys, label="none" if "keep" in option else "labels")
    assert run(f"select {pool} -b 20 {option} -o next.csv", capsys)[0] == 0
    WRITERS[pool](table().reverse())
    status, said = run(f"select {pool} -b 20 {option} -o next.csv", capsys)
    assert status == 2
    error = said.splitlines()[-1]
    assert "picks.csv" in error
    assert "restore the order" in error
    assert "id column" in error


@pytest.mark.parametrize("pool", WRITERS)
def test_a_pool_that_has_grown_is_accepted(pool, capsys):
    picked(pool, capsys)
    more = table().sample(20, seed=1).with_columns(pl.col("a") + 0.5)
    WRITERS[pool](pl.concat([table(), more]))
    assert run(f"select {pool} -b 5 --labeled picks.csv -o next.csv", capsys)[0] == 0


def test_a_pool_with_other_types_new_columns_and_labels_is_accepted(capsys):
    picked("pool.csv", capsys)
    more = pl.DataFrame({"a": [0.1], "n": [2.5], "c": ["x"]})
    grown = pl.concat([table().with_columns(pl.col("n").cast(pl.Float64)), more])
    grown.with_columns(note=pl.lit("new"), label=pl.lit("u")).write_csv("pool.csv")
    assert run("select pool.csv -b 5 --labeled picks.csv -o next.csv", capsys)[0] == 0


def test_rows_that_were_left_out_do_not_count(capsys):
    holes = table().with_columns(pl.when(pl.col("n") == 3).then(None).otherwise(pl.col("a")).alias("a"))
    holes.write_csv("pool.csv")
    assert run("select pool.csv -b 12 --missing drop", capsys)[0] == 0
    label_picks()
    assert run("select pool.csv -b 5 --labeled picks.csv -o next.csv", capsys)[0] == 0
    holes[1:].write_csv("pool.csv")
    assert run("select pool.csv -b 5 --labeled picks.csv --missing drop -o next.csv", capsys)[0] == 2


def test_the_answer_may_be_known_only_later(capsys):
    table().with_columns(status=pl.Series(["u", "v"] * 30)).write_csv("pool.csv")
    assert run("select pool.csv -b 12", capsys)[0] == 0
    pl.DataFrame({"row": range(20, 40), "label": ["u", "v"] * 10}).write_csv("labels.csv")
    free = pl.read_csv("picks.csv").filter(~pl.col("row").is_between(20, 39))
    free.write_csv("picks.csv")
    status, said = run("select pool.csv -b 20 --labeled labels.csv --keep picks.csv -o next.csv", capsys)
    assert status == 0
    assert "status (holds labels)" in said


def test_ids_move_with_their_rows(capsys):
    table().with_columns(id=pl.arange(100, 160)).write_csv("pool.csv")
    assert run("select pool.csv -b 12", capsys)[0] == 0
    label_picks()
    table().with_columns(id=pl.arange(100, 160)).reverse().write_csv("pool.csv")
    assert run("select pool.csv -b 5 --labeled picks.csv -o next.csv", capsys)[0] == 0
