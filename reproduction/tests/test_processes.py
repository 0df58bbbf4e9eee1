import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import mheal
from mheal_reproduction.paper.readings.grid import CONTROL, PAPER, ordered_units
from mheal_reproduction.paper.readings.protocol import protocol
from mheal_reproduction.processes import Limit, WorkerError, measure_groups
from mheal_reproduction.rows import RawRows, stored_rows

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_sweep_measures_what_is_missing_without_polars_and_matplotlib(tmp_path):
    X, y = load_digits(return_X_y=True)
    X = (X.reshape(-1, 8, 8) * 255 / 16).astype(np.uint8)
    np.savez_compressed(tmp_path / "mnist.npz", X_train=X[:1400], y_train=y[:1400], X_test=X[1400:], y_test=y[1400:])
    for name in ("polars", "dask", "matplotlib", "typer", "rich"):
        (tmp_path / "absent" / name).mkdir(parents=True)
        (tmp_path / "absent" / name / "__init__.py").write_text(f"raise ModuleNotFoundError('no {name}')")
    out, cache = tmp_path / "out", tmp_path / "cache"
    wanted = {
        *(("mnist", method, "SVM, codes, k = 10, warm", 0) for method in (PAPER, CONTROL)),
        ("mnist", PAPER, "network, codes, k = 20, cold, quota by size", 0),
    }
    left_out = ("mnist", PAPER, "SVM, DEC codes, k = 10, warm", 0)  # its features are not there
    rows = RawRows(out, "readings", protocol(quick=True))
    rows.add(
        dict(zip(("dataset", "method", "setting", "seed"), unit, strict=True))
        for unit in ordered_units(1)
        if unit not in wanted | {left_out}
    )
    path = os.pathsep.join(map(str, (tmp_path / "absent", Path(mheal.__file__).parents[1], ROOT / "src")))
    command = [sys.executable, ROOT / "scripts" / "sweep.py", out, "--quick", "--data", tmp_path, "--cache", cache]
    command += ["--processes", "2", "--seeds", "1"]
    done = subprocess.run(command, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    new = stored_rows(out)[len(rows.rows) :]
    assert {(row["dataset"], row["method"], row["setting"], row["seed"]) for row in new} == wanted
    assert all(0 < value < 1 for row in new for value in row["accuracy"].values())
    assert all(row["device"] and row["seconds"] > 0 for row in new)
    assert [file.name for file in cache.iterdir()] == ["mnist_readings_20_0.npy"]


def test_no_row_is_begun_when_time_is_up(tmp_path):
    rows = RawRows(tmp_path, "any", {})
    measure_groups(rows, [[[("mnist", "a", "b", 0)]]], partial(dict), 1, Limit.after(0), lambda *_: None)
    assert not rows.rows


def test_an_error_in_a_process_is_an_error(tmp_path):
    rows = RawRows(tmp_path, "any", {})
    with pytest.raises(WorkerError, match="invalid literal"):
        measure_groups(rows, [], partial(int, "x"), 1, Limit.after(None), lambda *_: None)
