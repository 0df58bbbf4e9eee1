"""The benchmarks' page tells what has been measured so far."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def report(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("report")


def test_a_run_on_a_gpu_that_was_stopped_is_told_as_far_as_it_goes(report, tmp_path):
    lines = (BENCHMARKS / "results" / "gpu.jsonl").read_text().splitlines()
    stopped = next(at for at, line in enumerate(lines) if '"memory, streamed"' in line)
    file = tmp_path / "gpu.jsonl"
    file.write_text("\n".join(lines[:stopped]))
    assert '"selection, streamed"' in file.read_text()
    assert "picks take" in report.gpu(tmp_path)
    assert "Streamed from" not in report.gpu(tmp_path)
    file.write_text("\n".join(lines))
    assert "Streamed from" in report.gpu(tmp_path)
