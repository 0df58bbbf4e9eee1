import shutil

import numpy as np
import polars as pl
import pytest

from comparisons import TINY, write_digits
from mheal.cli import main
from mheal.evaluate.digits import write_files


@pytest.fixture(scope="session")
def prepared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    write_files(folder)
    return folder


@pytest.fixture
def desk(prepared, tmp_path, monkeypatch):
    """The current folder, with digits.csv, digits.npy, labels.csv, images and texts.txt."""
    shutil.copytree(prepared, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def digits_csv(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    write_digits()
    return tmp_path


@pytest.fixture(scope="session")
def two_seeds(tmp_path_factory):
    """The output folder of a comparison with two seeds, made once."""
    folder = tmp_path_factory.mktemp("done")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_digits()
        assert main([*TINY, "--seeds", "2", "--quiet"]) == 0
    return folder / "compare"


@pytest.fixture
def compared(digits_csv, two_seeds):
    """The digits, and a copy of the folder of `two_seeds`."""
    shutil.copytree(two_seeds, digits_csv / "compare")
    return digits_csv


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """The current folder, with pool.npy and the same rows with ids in Parquet shards."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((5000, 8)).astype(np.float32)
    np.save("pool.npy", X)
    for at, rows in enumerate(np.split(np.arange(5000), [2000, 4500])):
        columns = {f"c{t}": X[rows, t] for t in range(8)}
        pl.DataFrame({"id": [f"r{row}" for row in rows], **columns}).write_parquet(f"shard{at}.parquet")
    return tmp_path


@pytest.fixture
def streaming(monkeypatch):
    monkeypatch.setattr("mheal.io.shards.expected_shape", lambda files: (2**30, 2**10))
