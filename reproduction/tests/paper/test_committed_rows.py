"""Rows of networks in results/ can be added to: they are of the protocol that the code has now."""

from pathlib import Path

import pytest

from mheal_reproduction.rows import made_so, stored_rows

pytest.importorskip("torch")
from mheal_reproduction.paper.figure11 import experiment as figure11
from mheal_reproduction.paper.images import experiment as image_tables
from mheal_reproduction.paper.table1 import deep as table1_deep

RESULTS = Path(__file__).parents[2] / "results"
PROTOCOLS = {
    "table1/deep": table1_deep.protocol(quick=False),
    "figure11": figure11.size_of(quick=False).protocol,
    **{f"table{n}": image_tables.protocol(quick=False) for n in (3, 4, 5)},
}


@pytest.mark.skipif(not RESULTS.is_dir(), reason="no results here")
@pytest.mark.parametrize("folder", PROTOCOLS)
def test_committed_rows_are_of_the_present_protocol(folder):
    assert stored_rows(RESULTS / folder)
    assert made_so(RESULTS / folder, PROTOCOLS[folder])
