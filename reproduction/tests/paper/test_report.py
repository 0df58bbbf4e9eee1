import numpy as np

import mheal
from mheal_reproduction.report import Values, compare, median, percent, table, tally, verdict, version_note, write_page


def test_values_are_paired_by_seed():
    about = dict(dataset="wine", setting="m", method="IWAL")
    values = Values([
        {**about, "seed": 10, "alive": {"2": 0.5, "1e+06": 2}},
        {**about, "seed": 9, "alive": {"2": None, "1e+06": 1}},
    ])  # fmt: skip
    np.testing.assert_array_equal(values("wine", "m", "IWAL", "alive", 2), [np.nan, 0.5])  # seed 9 before seed 10
    assert values.places("wine", "m", "IWAL", "alive") == [2, 1_000_000]
    assert values.grid("wine", "m", "IWAL", "alive", [1_000_000, 2])[1].tolist() == [2, 0.5]
    assert len(values("wine", "m", "MHEAL", "alive", 2)) == 0


def test_compare_needs_more_than_noise():
    rng = np.random.default_rng(0)
    a = rng.normal(size=20)
    assert compare(a, a + 1) == "yes"
    assert compare(a + 1 + 0.1 * rng.normal(size=20), a) == "no"
    assert compare(a, a + 0.1 * rng.normal(size=20)) == "no difference"
    assert compare(a, a) == "no difference"
    assert compare([1.0], [2.0]) == "no difference"  # one seed decides nothing


def test_words():
    assert tally(["yes", "no", "yes"]) == "yes on 2, no on 1 of 3"
    assert verdict(["yes", "yes"]) == "reproduced"
    assert verdict(["yes", "no"]) == "reproduced on some only"
    assert verdict(["no", "no difference"]) == "not reproduced"
    assert percent([0.5, 0.25]) == "37.5"
    assert table(["a", "b"], [["1", "2"]]) == "| a | b |\n| --- | --- |\n| 1 | 2 |"


def test_a_median_of_an_even_number_is_between_the_two_in_the_middle():
    assert median(np.array([1.0, 4, 2, 100])) == "3"
    assert median(np.array([5.0, 1, np.nan])) == "5"  # NaN: never
    assert median(np.array([5.0, 1, np.nan, np.nan])) == "–"


def test_a_page_has_heading_verdict_and_a_note_of_other_versions(tmp_path):
    assert version_note([{"mheal": "1.0"}], "1.0") == version_note([], "1.0") == ""
    note = version_note([{"mheal": "0.9"}, {"mheal": "1.0"}], "1.0")
    assert "0.9" in note
    assert "\n" not in note
    text = "# Title\n**Verdict:** one\ntwo.\n\nThe rest.\n"
    assert write_page(tmp_path, text, [{"mheal": mheal.__version__}]) == text.replace("one\ntwo", "one two")
    other = write_page(tmp_path / "other", text, [{"mheal": "0.0.1"}]).splitlines()
    assert other[0] == "# Title"
    assert other[-1] == "The rest."
    assert "0.0.1" in other[3]
