"""The rows in results/ that networks made can be added to: they are of the protocol that the code has now."""

from pathlib import Path

import pytest

from mheal.paper.rows import made_so, stored_rows

pytest.importorskip("torch")
from mheal.paper.image_tables import protocol
from mheal.paper.table1_deep import open_deep_rows

RESULTS = Path(__file__).parents[2] / "results"


@pytest.mark.parametrize("table", ["table3", "table4", "table5"])
def test_rows_of_the_image_tables_are_of_the_present_protocol(table):
    assert made_so(RESULTS / table, protocol(quick=False))


def test_deep_rows_of_table_1_are_of_the_present_protocol():
    folder = RESULTS / "table1" / "deep"
    assert len(open_deep_rows(folder, quick=False).rows) == len(stored_rows(folder))  # refuses another protocol
