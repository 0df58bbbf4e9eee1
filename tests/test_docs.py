"""The pages of the docs: their Python runs, and they name only commands and options that exist."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import typer.main

from mheal.cli import app

PAGES = sorted((Path(__file__).parent.parent / "docs").glob("*.rst"))
BLOCK = r"\.\. code-block:: {}\n\n((?:   .*\n|\n)+)"


def blocks(page, language):
    return [textwrap.dedent(block) for block in re.findall(BLOCK.format(language), page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.stem)
def test_its_python_runs(page, tmp_path):
    code = "\n".join(blocks(page, "python"))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_and_options_exist(page):
    commands = typer.main.get_command(app).commands
    known = {option for command in commands.values() for param in command.params for option in param.opts}
    known |= {option for command in commands.values() for param in command.params for option in param.secondary_opts}
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\bmheal ([a-z]+)\b", "\n".join(blocks(page, "console")))) <= set(commands)
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) <= known | {"--debug", "--help"}
