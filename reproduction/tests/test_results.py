"""The results in results/: their rows are of the protocol of the code, and their pages are made from the rows alone."""

import re
import shutil
from pathlib import Path

import pytest

import mheal
from mheal_reproduction.experiments import EXPERIMENTS, load
from mheal_reproduction.paper.figure11.experiment import size_of
from mheal_reproduction.paper.images.collect import protocol
from mheal_reproduction.paper.images.size import FULL
from mheal_reproduction.paper.table1 import deep
from mheal_reproduction.report import version_note, write_page
from mheal_reproduction.rows import VERSION, made_so, stored_rows

RESULTS = Path(__file__).parents[1] / "results"
BESIDE = {
    "table4": "table3",
    "table5": "table3",
    "readings": "table3",
    "table1_variants": "table1",
}  # whose rows a page has
FOLDERS = sorted({one.folder for one in EXPERIMENTS.values()})
PROTOCOLS = {
    "table1/deep": deep.protocol(quick=False),
    "figure11": size_of(quick=False).protocol,
    **{f"table{n}": protocol(FULL) for n in (3, 4, 5)},
}


@pytest.mark.parametrize("folder", PROTOCOLS)
def test_rows_can_be_added_to(folder):
    assert stored_rows(RESULTS / folder)
    assert made_so(RESULTS / folder, PROTOCOLS[folder])


@pytest.mark.parametrize("folder", FOLDERS)
def test_rows_name_the_version_that_made_them_and_protocols_no_default_of_mheal(folder):
    rows = stored_rows(RESULTS / folder)
    assert all(row[VERSION][:1].isdigit() for row in rows)
    text = (RESULTS / folder / "protocol.json").read_text()
    assert not any(name in text for name in mheal.MHEAL().get_params() if name != "n_clusters")


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_page_is_made_from_its_rows_byte_for_byte(folder, tmp_path):
    name = next(name for name, one in EXPERIMENTS.items() if one.folder == folder)
    for source in {folder, BESIDE.get(folder, folder)}:
        shutil.copytree(RESULTS / source, tmp_path / source)
    before = (tmp_path / folder / "README.md").read_text()
    after = load(name).write(tmp_path / folder, None, False)
    assert without_note(after) == without_note(before)


def without_note(page):
    """The page without the line about versions: a new version alone does not require new pages."""
    start = version_note([{VERSION: "1"}], "2").partition("1")[0]
    return re.sub(rf"^{start}.*\n\n", "", page, count=1, flags=re.MULTILINE)


def test_a_page_names_the_version_that_made_its_rows_if_it_is_not_the_present_one(tmp_path):
    text = "# A page\n**Verdict:** reproduced.\n\nThe rest.\n"
    rows = stored_rows(RESULTS / "theorem1")
    made = rows[0][VERSION]
    same = write_page(tmp_path, text, rows, made)
    other = write_page(tmp_path, text, rows, "9.8.7")
    added = set(other.splitlines()) - set(same.splitlines())
    assert len(added) == 1
    assert made in min(added)
    assert "9.8.7" in min(added)
    assert len(other.splitlines()) == len(same.splitlines()) + 2
