import numpy as np
import pytest

from mheal_reproduction.paper import theorem1
from mheal_reproduction.paper.theorem1 import CLUSTERS, HYPOTHESES, ROUNDS, THEOREM, WEIGHTED, bounds, run, tighter
from mheal_reproduction.report import Values
from mheal_reproduction.theory import bound_ratio, iwal_label_bound, mheal_label_bound


def silent(done, total, what):
    pass


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    out = tmp_path_factory.mktemp("theorem1")
    return out, run(out, None, None, False, silent)


@pytest.fixture(scope="module")
def ratio():
    values = Values(bounds())
    return lambda method, setting, measure="error": theorem1._ratio(values, method, setting, measure)


def test_it_writes_rows_page_and_picture_and_a_second_run_the_same(finished):
    out, page = finished
    assert sorted(p.name for p in out.iterdir()) == ["README.md", "protocol.json", "rows.jsonl", "theorem1.png"]
    before = {p.name: p.read_bytes() for p in out.iterdir()}
    assert run(out, None, 3, True, silent) == page == (out / "README.md").read_text()
    assert {p.name: p.read_bytes() for p in out.iterdir()} == before
    assert "nan" not in page


def test_a_run_that_stopped_goes_on(finished, tmp_path):
    for path in finished[0].iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:3]))
    assert run(tmp_path, None, None, False, silent) == finished[1]
    assert rows.read_bytes() == (finished[0] / "rows.jsonl").read_bytes()


def test_there_is_one_row_for_each_method_and_setting():
    keys = [(row["dataset"], row["method"], row["setting"], row["seed"]) for row in bounds()]
    assert len(set(keys)) == len(keys)
    assert {key[0] for key in keys} == {"none"}


def test_ratios_are_the_golden_ones(ratio):
    for k in CLUSTERS:
        for size in (HYPOTHESES, 1):
            expected = [bound_ratio(T, k, HYPOTHESES, regional=size) for T in ROUNDS]
            np.testing.assert_allclose(ratio(THEOREM, f"k = {k}, |H_i| = {size}"), expected)
    assert ratio(THEOREM, "k = 3, |H_i| = 10000")[[0, -1]].round(1).tolist() == [6.8, 5.3]
    assert ratio(THEOREM, "k = 10, |H_i| = 10000")[[0, -1]].round().tolist() == [58, 34]
    assert ratio(THEOREM, "k = 3, |H_i| = 1")[[0, -1]].round(1).tolist() == [4.7, 4.2]
    assert ratio(THEOREM, "k = 10, |H_i| = 1")[[0, -1]].round().tolist() == [38, 26]


@pytest.mark.parametrize("k", CLUSTERS)
def test_an_average_over_the_clusters_comes_near_the_root_of_k_as_rounds_grow(ratio, k):
    found = ratio(WEIGHTED, f"k = {k}, |H_i| = {HYPOTHESES}")
    assert np.diff(found).max() < 0
    assert found[-1] == pytest.approx(np.sqrt(k), rel=0.1)


def test_label_bounds_follow_their_readings(ratio):
    T, own = ROUNDS[-1], iwal_label_bound(ROUNDS[-1], 10, 0.1, HYPOTHESES)
    same = mheal_label_bound(T, 10, 10, [0.1], [1.0], HYPOTHESES)
    assert ratio(THEOREM, "k = 10, θ, one region", "labels")[-1] == pytest.approx(same / own)
    scaled = mheal_label_bound(T, 10, 1, [0.1], [1.0], HYPOTHESES)
    assert ratio(THEOREM, "k = 10, θ/k, one region", "labels")[-1] == pytest.approx(scaled / own)
    summed = mheal_label_bound(T, 3, 10 / 3, [0.1], np.full(T // 3, 3 / T), HYPOTHESES)
    assert ratio(THEOREM, "k = 3, θ/k, every sample", "labels")[-1] == pytest.approx(summed / own)


def test_the_verdict_follows_from_the_ratios():
    assert tighter(np.array([0.5, 0.99])) == "reproduced"
    assert tighter(np.array([1.0, 2.0])) == "refuted"
    assert tighter(np.array([2.0, 0.9, 0.8])) == "not reproduced: smaller at 2 of 3 T"


def test_the_page_shows_the_numbers_and_what_would_change_its_verdict(finished, monkeypatch, tmp_path):
    lines = finished[1].splitlines()
    assert any(line.startswith("| 3 | 10,000 | 6.8 → 5.3 |") and line.endswith("refuted |") for line in lines)
    assert "4.2 to 58 times" in finished[1]
    monkeypatch.setattr(theorem1, "mheal_bound", lambda T, k, size, delta: 1e-9)
    other = run(tmp_path, None, None, False, silent)
    assert "reproduced |" in other
    assert "even if every cluster" not in other
