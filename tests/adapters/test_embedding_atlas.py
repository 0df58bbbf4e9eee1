"""Embedding Atlas: a Parquet file of the pool and the picks."""

import json
import subprocess
import sys
import zipfile
from importlib.util import find_spec

import numpy as np
import pandas as pd
import polars as pl
import pytest
from polars.testing import assert_series_equal

import mheal
from mheal.adapters.embedding_atlas import write

X = np.random.default_rng(0).normal(size=(150, 6)).astype(np.float32)
PICKS = mheal.select(X, 12)
TEXTS = [f"text {i}" for i in range(150)]


def test_the_file_has_every_row_and_the_picks(tmp_path):
    write(tmp_path / "pool.parquet", X, PICKS, data=pl.DataFrame({"text": TEXTS}), projection=X[:, :2])
    found = pl.read_parquet(tmp_path / "pool.parquet")
    assert found["text"].to_list() == TEXTS
    np.testing.assert_array_equal(found["vector"].to_numpy(), X)
    np.testing.assert_array_equal(found.select("x", "y").to_numpy(), X[:, :2])
    best_first = found.drop_nulls("pick_rank").sort("pick_rank")
    assert best_first["row"].to_list() == list(PICKS)
    assert best_first["pick_reason"].to_list() == list(PICKS.reason)


def test_data_of_other_forms(tmp_path):
    for data in (pd.DataFrame({"text": TEXTS}), {"text": TEXTS}):
        write(tmp_path / "pool.parquet", X, PICKS, data=data)
        assert_series_equal(pl.read_parquet(tmp_path / "pool.parquet")["text"], pl.Series("text", TEXTS))


def test_mistakes(tmp_path):
    with pytest.raises(mheal.exceptions.UserError, match=r"ends in \.parquet"):
        write(tmp_path / "pool.csv", X, PICKS)
    with pytest.raises(mheal.exceptions.UserError, match="data has 3 rows and X has 150"):
        write(tmp_path / "pool.parquet", X, PICKS, data={"text": TEXTS[:3]})
    with pytest.raises(mheal.exceptions.UserError, match="two numbers for each of 150 rows"):
        write(tmp_path / "pool.parquet", X, PICKS, projection=X)
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(find_spec("embedding_atlas") is None, reason="needs embedding-atlas")
@pytest.mark.parametrize("arranged", [True, False], ids=["projection", "vectors"])
def test_embedding_atlas_opens_it(tmp_path, arranged):
    write(tmp_path / "pool.parquet", X, PICKS, data={"text": TEXTS}, projection=X[:, :2] if arranged else None)
    where = ["--disable-projection", "--x", "x", "--y", "y"] if arranged else ["--vector", "vector"]
    command = [sys.executable, "-c", "from embedding_atlas.cli import main; main()", "pool.parquet", "--text", "text"]
    done = subprocess.run(
        [*command, *where, "--export-application", "out.zip"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".parquet")]
        found = pl.read_parquet(archive.read(name))
        assert any(json.loads(archive.read(n)) for n in archive.namelist() if n.endswith("metadata.json"))
    assert found.drop_nulls("pick_rank").sort("pick_rank")["row"].to_list() == list(PICKS)
