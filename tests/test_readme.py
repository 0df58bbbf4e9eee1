"""Code and commands in the README are executed, and its numbers compared with the files they come from."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import mean, stdev

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


def test_its_python_runs(tmp_path):
    code = "\n".join(blocks("python"))
    assert code.count("mheal.select") >= 3
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, check=True)


def test_its_commands_run_as_written(tmp_path):
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(line, comments=True)
        assert words[0] == "mheal"
        done = subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{line}: {done.stderr}"
    for name in ("picks.csv", "next.csv", "sheet.html", "compare/report.html"):
        assert (tmp_path / name).stat().st_size > 100


def test_its_table_comes_from_the_committed_rows():
    with (ROOT / "demo" / "runs.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = re.search(r"(?:^\|.*\n)+", README, flags=re.M)[0]
    header, _, *body = [[cell.strip() for cell in line.strip("|\n ").split("|")] for line in table.splitlines()]
    assert len(body) == 4
    for line in body:
        for budget, shown in zip(header[1:], line[1:], strict=True):
            values = [
                100 * float(row["accuracy"])
                for row in rows
                if row["strategy"].lower() == line[0].lower() and row["labels"] == budget
            ]
            assert len(values) == 10
            assert shown == f"{mean(values):.1f} ± {stdev(values):.1f}"

    first = re.search(r"With 20 labels of digits, .* on (\d+) % .* random ones, on (\d+) %", README).groups()
    table = {line[0]: dict(zip(header, line, strict=True))["20"] for line in body}
    assert first == tuple(f"{float(table[name].split()[0]):.0f}" for name in ("mheal", "random"))


def test_its_speed_is_quoted_from_the_results():
    ratio = re.search(r"1,000 of 100,000 rows (\d+) times as fast as\s+scikit-activeml's Core-set", README)[1]
    results = (ROOT / "benchmarks" / "speed" / "results" / "README.md").read_text(encoding="utf-8")
    row = next(line for line in results.splitlines() if "100k × 128, budget 1,000" in line and "CoreSet" in line)
    assert round(float(re.search(r"\*\*([\d.]+)\*\*", row)[1])) == int(ratio)


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_links_lead_somewhere(link):
    assert (ROOT / link).exists()


def test_the_first_screen_says_how_to_start():
    lines = README.splitlines()
    assert len(lines) <= 120
    first = "\n".join(lines[:30])
    for needed in ("make demo", "make test", "pip install .", "demo/curves.png"):
        assert needed in first
