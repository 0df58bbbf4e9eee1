"""The pages of the docs: their Python runs, and they name only commands and options that exist."""

import ast
import re
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest
import typer.main

from mheal.cli import app

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.rst"))
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
BLOCK = r"\.\. code-block:: {}\n\n((?:   .*\n|\n)+)"


def blocks(page, language):
    return [textwrap.dedent(block) for block in re.findall(BLOCK.format(language), page.read_text(encoding="utf-8"))]


def libraries(code):
    """The other libraries that a block imports."""
    imports = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in imports if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names} & {*OTHERS}


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem)
def test_its_python_runs(page, tmp_path):
    """`make test-extras` has all libraries; elsewhere, blocks that need one that is missing are left out."""
    code = "\n".join(block for block in blocks(page, "python") if all(map(find_spec, libraries(block))))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_and_options_exist(page):
    commands = typer.main.get_command(app).commands
    known = {option for command in commands.values() for param in command.params for option in param.opts}
    known |= {option for command in commands.values() for param in command.params for option in param.secondary_opts}
    text = re.sub(r".*\$ embedding-atlas .*", "", page.read_text(encoding="utf-8"))  # not one of our commands
    assert set(re.findall(r"\bmheal ([a-z]+)\b", "\n".join(blocks(page, "console")))) <= set(commands)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | {"--debug", "--help"}
