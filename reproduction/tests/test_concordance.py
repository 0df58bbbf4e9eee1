"""CONCORDANCE.md names every part of the paper, and everything that it names exists."""

import re
from importlib import import_module
from pathlib import Path

import pytest

HOME = Path(__file__).parents[1]
TEXT = (HOME / "CONCORDANCE.md").read_text()
ROWS = [line.strip("| ").split(" | ") for line in TEXT.splitlines() if line.startswith("| ") and "---" not in line]
PARTS = [row[0] for row in ROWS if row[0] != "paper"]
QUOTED = re.findall(r"`([^`]+)`", TEXT)
NAMES = sorted({word for word in QUOTED if re.fullmatch(r"mheal\w*(\.\w+)+", word)})
PATHS = sorted({word for word in QUOTED if "/" in word})
LINKS = sorted(set(re.findall(r"\]\(([^)]+)\)", TEXT)))


def numbers(kind):
    """The numbers of equations, figures, tables or algorithms that have a row."""
    found = set()
    for part in ", ".join(PARTS).split(", "):
        match = re.fullmatch(rf"{kind}s? (\d+)(?:–(\d+))?", part)
        if match:
            first, last = int(match[1]), int(match[2] or match[1])
            found |= set(range(first, last + 1))
    return found


@pytest.mark.parametrize(
    ("kind", "last"),
    [("Eq\\.", 21), ("Figure", 21), ("Table", 5), ("Algorithm", 2), ("Lemma", 3), ("Proposition", 3), ("Theorem", 1)],
)
def test_every_numbered_part_has_a_row(kind, last):
    assert numbers(kind) == set(range(1, last + 1))


def test_every_section_has_a_row():
    subsections = {3: 4, 4: 3, 5: 2, 6: 2, 7: 7}
    wanted = {f"§{one}.{two}" for one, count in subsections.items() for two in range(1, count + 1)}
    assert {part for part in PARTS if part.startswith("§")} == wanted | {f"§{n}" for n in (1, 2, 8, 9)}


@pytest.mark.parametrize("name", NAMES)
def test_every_named_function_exists(name):
    module, _, attribute = name.rpartition(".")
    try:
        import_module(name)
    except ModuleNotFoundError:
        assert hasattr(import_module(module), attribute)


@pytest.mark.parametrize("path", PATHS)
def test_every_named_file_exists(path):
    assert (HOME.parent / path).is_file()


@pytest.mark.parametrize("link", LINKS)
def test_every_page_exists(link):
    assert (HOME / link).is_file()


def test_every_page_of_results_has_a_row():
    pages = {path.parent.name for path in HOME.glob("results/*/rows.jsonl")} - {"dec", "recipes"}  # our own studies
    assert pages == {link.split("/")[1] for link in LINKS if link.count("/") == 2}


def test_quotes_are_names_or_files():
    known = {"mheal_reproduction"}
    assert set(QUOTED) <= set(NAMES) | set(PATHS) | known
    assert len(NAMES) > 30
