"""Picks as Label Studio tasks, which show the cells of their rows."""

import json

import numpy as np
import polars as pl
import pytest

from mheal import Selection
from mheal.io.read import read_pool
from mheal.io.write import render


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tasks_show_their_own_rows_without_the_labels(tmp_path, suffix):
    values = [0.5, None, *np.arange(2, 9)]
    frame = pl.DataFrame({"a": values, "b": [None if v is None else v * v for v in values], "label": ["x"] * 9})
    getattr(frame, f"write_{suffix}")(tmp_path / f"pool.{suffix}")
    source = read_pool(tmp_path / f"pool.{suffix}")
    assert source.rows.tolist() == [0, *range(2, 9)]
    picks = Selection([3, 0], [0, 1], [np.inf, 2.5], [2.5, 1.25])
    tasks = [task["data"] for task in json.loads(render(picks, source, "label-studio"))]
    assert [(task["row"], task["a"], task["b"]) for task in tasks] == [(4, 4, 16), (0, 0.5, 0.25)]
    assert tasks[0]["gain"] is None
    assert "label" not in tasks[0]
