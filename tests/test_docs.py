"""The pages of the docs: they run as written, and name only commands, options and objects that exist."""

import ast
import os
import re
import shlex
import subprocess
import sys
import textwrap
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main

from mheal.cli import app

DOCS = Path(__file__).parent.parent / "docs"
MADE = {"_build", "auto_examples", "results"}  # by `make docs`
PAGES = [page for page in sorted(DOCS.rglob("*.rst")) if not MADE & {*page.relative_to(DOCS).parts}]
BLOCK = re.compile(r"\.\. code-block:: (python|console)\n\n((?:   .*\n|\n)+)")
WALKS = {"start", "table", "images", "texts", "label_studio", "torch"}  # pages that start from an empty folder
NOT_RUN = ("pip install ", "mheal label ")  # a walk needs them, and a test cannot
OTHERS = (
    "modAL",
    "skactiveml",
    "imblearn",
    "small_text",
    "baal",
    "torch",
    "datasets",
    "apricot",
    "faiss",
    "fiftyone",
)  # libraries
RUN = """
import subprocess, sys
def run(*words):
    done = subprocess.run([sys.executable, "-m", *words], capture_output=True, text=True)
    assert done.returncode == 0, (words, done.stderr)
"""


def blocks(page):
    """(language, code) of each block."""
    found = BLOCK.findall(page.read_text(encoding="utf-8"))
    return [(language, textwrap.dedent(code)) for language, code in found]


def commands(code):
    return [line.removeprefix("$ ") for line in code.splitlines() if line.startswith("$ ")]


def libraries(code):
    """The other libraries that a block imports."""
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} & {*OTHERS}


def script(page):
    """The page's Python, less blocks that need a library that is missing; and, of a walk, its commands, in order."""
    parts = [RUN]
    for language, code in blocks(page):
        if language == "python":
            if all(map(find_spec, libraries(code))):
                parts.append(code)
        elif page.stem in WALKS:
            lines = [line for line in commands(code) if not line.startswith(NOT_RUN)]
            parts += [f"run(*{shlex.split(line, comments=True)!r})" for line in lines]
    return "\n".join(parts)


def test_walks_are_pages():
    assert {page.stem for page in PAGES} >= WALKS


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=lambda page: page.stem)
def test_it_runs(page, tmp_path):
    one_thread = {**os.environ, "OMP_NUM_THREADS": "1"}  # threads of OpenMP that wait for a busy core take it too
    words = [sys.executable, "-W", "ignore", "-c", script(page)]
    done = subprocess.run(words, cwd=tmp_path, env=one_thread, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_and_options_exist(page):
    known_commands = typer.main.get_command(app).commands
    params = [param for command in known_commands.values() for param in command.params]
    known = {option for param in params for option in (*param.opts, *param.secondary_opts)}
    text = re.sub(r".*\$ embedding-atlas .*", "", page.read_text(encoding="utf-8"))  # not one of our commands
    lines = [line for language, code in blocks(page) if language == "console" for line in commands(code)]
    assert set(re.findall(r"\bmheal ([a-z]+)\b", "\n".join(lines))) <= set(known_commands)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | {"--debug", "--help"}


def test_figures_of_strategies_are_those_of_the_arena():
    arena = (DOCS.parent / "benchmarks" / "labels" / "arena" / "README.md").read_text(encoding="utf-8")
    table = re.search(r"(?:^\|.*\n)+", arena, flags=re.M)[0].splitlines()
    names, _, *lines = [[cell.strip(" *\\") for cell in line.strip("|").split("|")] for line in table]
    measured = {cells[0]: dict(zip(names, cells, strict=True)) for cells in lines}
    shown = (DOCS / "choose.rst").read_text(encoding="utf-8").split("What was measured")[1].split("\n\nMean place")[0]
    header, *rows = [row.split("\n     - ") for row in shown.split("\n   * - ")[1:]]
    assert len(rows) >= 8
    for cells in rows:
        assert cells == [measured[cells[0]][name] for name in header]


@pytest.mark.parametrize("module", ["mheal", "mheal.strategies", "mheal.evaluate", "mheal.embed", "mheal.io"])
def test_every_public_name_is_in_the_api(module):
    public = {name for name in import_module(module).__all__ if not name.startswith("_")}
    submodules = {"cluster", "datasets", "embed", "energy", "evaluate", "io", "strategies"}
    text = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.rst"))
    documented = set(re.findall(r"^\.\. (?:auto)?(?:class|function|data):: (?:[\w.]+\.)?(\w+)$", text, flags=re.M))
    assert public - submodules <= documented
