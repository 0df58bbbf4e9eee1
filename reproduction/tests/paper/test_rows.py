import importlib
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from mheal_reproduction.rows import RawRows, measure_all, versions

VERSION = "1.2.3"


def open_rows(folder, version=VERSION, **protocol):
    return RawRows(folder, "figure0", {"size": 10, **protocol}, version)


def row(dataset, seed, method="IWAL", **values):
    return {"dataset": dataset, "method": method, "setting": "excess", "seed": seed, **values}


def silent(*_):
    pass


MEASURES = """
import os
from mheal.runtime.threads import thread_count

def double(dataset, method, setting, seed, factor):
    return {"value": 2 * seed * factor, "process": os.getpid(), "threads": thread_count()}

def breaks(dataset, method, setting, seed):
    if seed == 2:
        raise RuntimeError("power cut")
    return {"value": seed}
"""


@pytest.fixture
def measures(tmp_path, monkeypatch):
    """A module that other processes can import, too."""
    (tmp_path / "measures_of_rows.py").write_text(MEASURES)
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("measures_of_rows")
    del sys.modules["measures_of_rows"]


def test_a_new_run_goes_on_where_the_last_one_stopped(tmp_path):
    rows = open_rows(tmp_path / "new")
    assert not rows.has("wine", "IWAL", "excess", 0)
    rows.add([row("wine", 0, error=1 / 3), row("wine", 0, "MHEAL", error=None)])
    rows.add([row("iris", 10, error={"1": 0.5})])
    again = open_rows(tmp_path / "new")
    assert again.has("wine", "MHEAL", "excess", 0)
    assert again.has("iris", "IWAL", "excess", 10)
    assert not again.has("iris", "IWAL", "excess", 1)
    again.add([row("iris", 1, error=0)])
    assert open_rows(tmp_path / "new").rows == again.rows
    assert (tmp_path / "new" / "rows.jsonl").read_text().splitlines()[0] == json.dumps(
        {"experiment": "figure0", "mheal": VERSION, **row("wine", 0, error=0.333333)}
    )


def test_rows_are_found_by_their_columns(tmp_path):
    rows = open_rows(tmp_path)
    for seed in range(3):
        rows.add([row("wine", seed), row("wine", seed, "MHEAL")])
    assert len(rows.where(dataset="wine")) == 6
    assert [found["seed"] for found in rows.where(seed=range(2), method="MHEAL")] == [0, 1]
    assert rows.where(dataset="iris") == []


def test_numpy_values_and_what_is_not_finite_are_plain_json(tmp_path):
    rows = open_rows(tmp_path)
    rows.add([row("wine", np.int64(3), curve=np.array([0.5, np.nan]), best=np.float32(0.1), never=float("inf"))])
    assert open_rows(tmp_path).rows == [
        {"experiment": "figure0", "mheal": VERSION, **row("wine", 3, curve=[0.5, None], best=0.1, never=None)}
    ]


def test_rows_that_fail_leave_nothing(tmp_path):
    rows = open_rows(tmp_path)
    rows.add([row("wine", 0)])

    def broken():
        yield row("iris", 0)
        raise RuntimeError("power cut")

    with pytest.raises(RuntimeError):
        rows.add(broken())
    with pytest.raises(KeyError):
        rows.add([{"dataset": "iris", "seed": 0}])
    assert not rows.has("iris", "IWAL", "excess", 0)
    assert open_rows(tmp_path).rows == rows.rows
    assert sorted(p.name for p in tmp_path.iterdir()) == ["protocol.json", "rows.jsonl"]


def test_rows_name_the_version_of_mheal_that_made_them(tmp_path):
    open_rows(tmp_path).add([row("wine", 0)])
    again = open_rows(tmp_path, "9.8.7")  # another version is no other protocol
    again.add([row("wine", 1), row("wine", 2)])
    assert versions(again.rows[1:]) == ["9.8.7"]
    assert versions(again.rows) == [VERSION, "9.8.7"]


def test_rows_of_another_protocol_are_refused(tmp_path):
    open_rows(tmp_path).add([row("wine", 0)])
    with pytest.raises(ValueError, match=r"rows\.jsonl has another protocol: name another folder"):
        open_rows(tmp_path, size=20)


@pytest.mark.parametrize("workers", [1, 2])
def test_every_unit_is_measured_once(tmp_path, measures, workers):
    rows, seen = open_rows(tmp_path / "out"), []
    units = [("wine", "IWAL", "excess", seed) for seed in range(4)]
    measure_all(rows, units[:2], measures.double, (10,), silent, workers)
    measure_all(rows, units, measures.double, (100,), lambda done, total, _: seen.append((done, total)), workers)
    assert {found["seed"]: found["value"] for found in rows.rows} == {0: 0, 1: 20, 2: 400, 3: 600}
    assert seen == [(2, 4), (3, 4), (4, 4)]
    own = {found["process"] == os.getpid() for found in rows.rows}
    assert own == {workers == 1}
    if workers > 1:
        assert {found["threads"] for found in rows.rows} == {1}


@pytest.mark.parametrize("workers", [1, 2])
def test_a_failure_keeps_what_was_measured(tmp_path, measures, workers):
    rows = open_rows(tmp_path / "out")
    with pytest.raises(RuntimeError, match="power cut"):
        measure_all(rows, [("wine", "IWAL", "", seed) for seed in range(3)], measures.breaks, (), silent, workers)
    kept = {found["seed"] for found in open_rows(tmp_path / "out").rows}
    assert kept <= {0, 1}
    assert workers == 2 or kept == {0, 1}


def test_a_killed_run_leaves_whole_rows(tmp_path):
    code = f"""
from pathlib import Path

from mheal_reproduction.rows import RawRows
rows = RawRows(Path({str(tmp_path)!r}), "figure0", {{"size": 10}})
print("go", flush=True)
for seed in range(10**6):
    rows.add([dict(dataset="wine", method=m, setting="", seed=seed, value=[0.5] * 200) for m in "ab"])
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        while not (tmp_path / "rows.jsonl").exists() or (tmp_path / "rows.jsonl").stat().st_size < 100_000:
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    found = open_rows(tmp_path).rows
    assert len(found) >= 50
    assert len(found) % 2 == 0
