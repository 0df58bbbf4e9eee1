from pathlib import Path

import numpy as np
import pytest

from mheal_reproduction.experiments import load
from mheal_reproduction.paper.complexity import CLAIMS, METHODS, exponent, measure, verdict
from mheal_reproduction.report import Values
from mheal_reproduction.rows import stored_rows

RESULTS = Path(__file__).parents[2] / "results"


@pytest.fixture(scope="module")
def values():
    return Values(stored_rows(RESULTS / "complexity"))


def test_costs_without_clusters_hold_and_those_with_clusters_do_not(values):
    assert [verdict(values, claim).partition(":")[0] for claim in CLAIMS] == ["holds"] * 3 + ["refuted"] * 2
    clusters, remark = (verdict(values, claim) for claim in CLAIMS[3:])
    assert "k^-3.1, not k^-4" in clusters
    assert "m^1.0, not m^2" in remark
    assert "M^1.0, not M^0" in remark


def test_distances_are_those_of_a_count_by_hand():
    claim = CLAIMS[1]
    found = measure(claim, "M", METHODS[0], quick=True)["distances"]
    n = claim.base["N"] // 4
    assert found == {str(m): m * n * (n - 1) // 2 for m in (1000, 2000, 4000)}


def test_an_exponent_is_a_slope_in_the_logarithms():
    row = {"dataset": "sphere", "method": "as printed", "setting": "§3.3, Eq. 4, M", "seed": 0}
    found = Values([row | {"distances": {"10": 7, "20": 14, "40": 56}}])
    assert exponent(found, CLAIMS[0], "M", METHODS[0], "distances") == 2
    assert np.isnan(exponent(found, CLAIMS[0], "M", METHODS[1], "seconds"))


def test_a_quick_run_writes_rows_page_and_picture(tmp_path):
    text = load("complexity").run(tmp_path, None, None, True, lambda *_: None)
    assert text.startswith("# Complexity")
    assert (tmp_path / "complexity.png").stat().st_size > 10_000
    assert len(stored_rows(tmp_path)) == sum(len(claim.base) * (1 + (claim.ours is not None)) for claim in CLAIMS)
