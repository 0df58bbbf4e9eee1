"""The results pages of the benchmarks are short, and generated from the committed rows."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
STUDIES = sorted(path.parent.name for path in (BENCHMARKS / "labels").glob("*/run.py"))


@pytest.fixture
def speed(monkeypatch):
    monkeypatch.syspath_prepend(BENCHMARKS / "speed")
    return importlib.import_module("report")


def test_a_gpu_run_that_was_stopped_is_reported_as_far_as_it_got(speed, tmp_path):
    lines = (BENCHMARKS / "speed" / "results" / "gpu.jsonl").read_text().splitlines()
    stopped = next(at for at, line in enumerate(lines) if '"memory, streamed"' in line)
    file = tmp_path / "gpu.jsonl"
    file.write_text("\n".join(lines[:stopped]))
    assert "Streamed" not in speed.gpu(tmp_path)
    assert "10,000 picks" in speed.gpu(tmp_path)
    file.write_text("\n".join(lines))
    assert "Streamed" in speed.gpu(tmp_path)


def test_the_speed_page_is_generated_from_the_committed_results(speed, tmp_path):
    results = BENCHMARKS / "speed" / "results"
    for file in results.glob("*.json*"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    speed.write(tmp_path)
    assert (tmp_path / "README.md").read_text() == (results / "README.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_of_a_study_fits_a_screen(name):
    page = (BENCHMARKS / "labels" / name / "README.md").read_text(encoding="utf-8")
    assert len(page.splitlines()) <= 45
    assert f"benchmarks/labels/{name}/run.py" in page


@pytest.mark.parametrize("name", STUDIES)
def test_the_page_of_a_study_is_generated_from_its_rows(name, monkeypatch):
    folder = BENCHMARKS / "labels" / name
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MHEAL_NUM_THREADS"):
        monkeypatch.setenv(variable, "1")  # the scripts set these: undone after the test
    monkeypatch.syspath_prepend(folder.parent)
    common = importlib.import_module("common")
    spec = importlib.util.spec_from_file_location(f"study_{name}", folder / "run.py")
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    page = common.wrapped(study.page(common.read(next(folder.glob("rows.csv*")))))
    assert page == (folder / "README.md").read_text(encoding="utf-8")


def test_every_study_is_in_the_index():
    index = (BENCHMARKS / "labels" / "README.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((\w+)/README\.md\)", index)) == STUDIES
