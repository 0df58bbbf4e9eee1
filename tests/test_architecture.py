"""Imports point one way."""

import ast
from pathlib import Path

import pytest

SRC = Path(__file__).parent.parent / "src" / "mheal"
# A room may import from its own floor and from those below it.
FLOORS = [
    {"kernels"},
    {"sphere", "pool", "selection", "datasets"},
    {"cluster"},
    {"solve", "deep"},
    {"spread"},
    {"algorithm"},
    {"scale"},
    {"strategies"},
    {"learn"},
    {"shortcut"},
    {"theory"},
    {"paper"},
    {"cli"},
]
FLOOR = {room: i for i, rooms in enumerate(FLOORS) for room in rooms}


def imported_rooms(path):
    """Rooms of mheal that this file imports from."""
    here = path.relative_to(SRC).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            full = [*here[: len(here) - node.level + 1], *(node.module or "").split(".")]
            names = [full[0]] if full[0] else [alias.name for alias in node.names]
            yield from (name for name in names if name in FLOOR)


@pytest.mark.parametrize("path", [p for p in SRC.rglob("*.py") if p.parent != SRC or p.stem in FLOOR], ids=str)
def test_no_file_imports_from_above(path):
    room = path.relative_to(SRC).parts[0].removesuffix(".py")
    above = [name for name in imported_rooms(path) if FLOOR[name] > FLOOR[room]]
    assert not above
