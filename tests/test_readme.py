"""What the README says is executed, or compared with the files it comes from."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

import pytest

from workbench import write_files

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def tables():
    """Each Markdown table as a list of lines."""
    return re.findall(r"(?:^\|.*\n)+", README, flags=re.M)


def test_the_ten_lines_run(tmp_path):
    block = re.search(r"```python\n(.*?)```", README, flags=re.S)[1]
    subprocess.run([sys.executable, "-c", block], cwd=tmp_path, check=True)
    assert (tmp_path / "picks.csv").exists()


def test_the_commands_run_as_written(tmp_path):
    write_files(tmp_path)
    blocks = re.findall(r"```sh\n(.*?)```", README, flags=re.S)
    lines = [line for block in blocks for line in block.splitlines()]
    assert len(lines) >= 9
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "mheal"
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    for name in ("picks.csv", "next.csv", "sheet.html", "tasks.json", "map.png", "compare/report.html"):
        assert (tmp_path / name).stat().st_size > 100


def test_demo_table_comes_from_the_committed_rows():
    with (ROOT / "demo" / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = next(t for t in tables() if t.startswith("| labels"))
    header, _, *body = [[c.strip() for c in line.strip("|\n ").split("|")] for line in table.splitlines()]
    assert len(body) == 4
    for line in body:
        for budget, shown in zip(header[1:], line[1:], strict=True):
            values = [100 * float(r["accuracy"]) for r in rows if r["strategy"] == line[0] and r["labels"] == budget]
            assert len(values) == 10
            assert shown.strip("*") == f"{mean(values):.1f} ± {stdev(values):.1f}"


def test_speed_table_is_quoted_from_the_results():
    results = (ROOT / "benchmarks" / "results" / "README.md").read_text()
    table = next(t for t in tables() if t.startswith("| work"))
    for line in table.splitlines()[2:]:
        work, peer, ratio = (c.strip() for c in line.strip("|").split("|"))
        row = next((r for r in results.splitlines() if r.startswith(f"| {work} | {peer} |")), None)
        assert row is not None, f"no such row in the results: {line}"
        assert f"| **{ratio.removesuffix(' ×')}** (" in row


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_both_commands_are_named():
    assert "make demo" in README
    assert "make test" in README
