import re
from pathlib import Path

import numpy as np
import pytest

from mheal_reproduction.paper.images.measured import Measured
from mheal_reproduction.paper.images.page import page
from mheal_reproduction.paper.images.picture import PANELS, _panels, figure_number
from mheal_reproduction.paper.images.published import BUDGETS, accuracies
from mheal_reproduction.paper.images.rank import as_random
from mheal_reproduction.paper.images.titles import COUNTERPARTS, titles
from mheal_reproduction.paper.images.words import above, against, verdict
from mheal_reproduction.report import tally
from mheal_reproduction.rows import stored_rows

RESULTS = Path(__file__).parents[2] / "results"


def cells(text, heading, line):
    """The cells of a line of the first table after a heading that has it."""
    return rows_after(text, heading, f"{line} |")[0]


def rows_after(text, heading, start=""):
    """The cells of all lines of tables after a heading, those that begin so."""
    after = text[text.index(heading) :]
    return [row.strip("| ").split(" | ") for row in after.splitlines() if row.startswith(f"| {start}")]


def section(text, heading):
    return text[text.index(heading) :].split("\n## ")[0]


def subsection(text, heading):
    return text[text.index(heading) :].split("\n#")[0].strip()


def sentences(text, *names):
    """The lines outside tables that name all of these."""
    return [line for line in text.splitlines() if not line.startswith("|") and all(name in line for name in names)]


def numbers(line):
    """The numbers in a line, but for those that are parts of names."""
    return [float(number.replace(",", "")) for number in re.findall(r"(?<![\w-])\d[\d,]*(?:\.\d+)?", line)]


def missing(text):
    """What a page lists as missing, each as words: what stands just before the first table of accuracies."""
    line = text[: text.index("## Accuracy")].strip().splitlines()[-1]
    return [set(re.findall(r"[\w-]+", gap)) for gap in line.partition(": ")[2].split("; ") if gap]


def test_pictures_have_the_papers_numbers():
    assert [figure_number(kind, name) for kind in ("clean", "repeated", "noisy") for name in BUDGETS] == [
        *range(13, 22)
    ]


def test_as_printed_is_within_a_point_or_a_narrow_interval_of_the_mean():
    assert against(np.array([0.51]), 0.5) == "≈"
    assert against(np.array([0.512]), 0.5) == "+1.2"
    assert against(np.array([0.488]), 0.5) == "−1.2"
    assert against(np.array([0.508, 0.515, 0.522]), 0.5) == "≈"  # 1.5 points off, interval ±1.7
    assert against(np.array([0.514, 0.515, 0.516]), 0.5) == "+1.5"  # interval ±0.2


def test_no_cell_counts_as_printed_for_being_noisy():
    vaal = np.array([0.70, 0.72, 0.78, 0.84, 0.86])  # interval ±8.7
    assert against(vaal, vaal.mean() + 0.07) == "−7.0"
    assert against(vaal, vaal.mean() + 0.009) == "≈"


def test_randoms_own_numbers_are_marked_and_not_counted(rows_of):
    same = [0.5, 0.6, 0.7, 0.8]
    rows = [row for title in ("Random", "BALD", "MHEAL (paper)") for row in rows_of(title, same, "cifar10")]
    text = page("clean", rows, COUNTERPARTS, quick=False)
    assert cells(text, "### cifar10", "BALD")[3] == "**50.0 ± 1.0**, = Random"
    count = subsection(text, "### cifar10").splitlines()[-1]
    assert numbers(count)[0] == 7  # four of MHEAL (paper), three of BALD
    table = section(text, "## Is MHEAL the best")
    row = ["cifar10", "2,000", "BALD", tally(["no difference"]), "none", "no difference"]
    places = [cells for cells in rows_after(table, "## Is", "cifar10 |") if len(cells) == len(row)]
    assert places[0] == row
    assert [cells[1] for cells in places] == ["2,000", "5,000", "10,000"]  # not 1,000


@pytest.mark.parametrize("table", ["table3", "table4", "table5"])
def test_randoms_own_numbers_are_so_in_the_rows(table):
    found = Measured(stored_rows(RESULTS / table))
    marked = [
        (name, title, n)
        for name, budgets in BUDGETS.items()
        for title in titles(name)
        for n in budgets
        if as_random(name, title, n)
    ]
    assert len(marked) == 14
    for name, title, n in marked:
        assert not found.gain(name, title, "Random", n).any()


def test_differences_are_judged_by_intervals_and_a_single_one_by_its_sign():
    assert [above(np.array(one)) for one in ([0.1], [-0.1], [0.0])] == ["yes", "no", "no difference"]
    assert above(np.array([0.1, 0.11, 0.12])) == "yes"
    assert above(np.array([-0.1, -0.11, -0.12])) == "no"
    assert above(np.array([0.1, 0.9])) == "no difference"


def test_verdicts():
    assert verdict(["yes", "yes"], 3) == "reproduced"
    assert verdict(["no", "no"], 3) == "refuted"
    assert verdict(["yes", "no"], 3) == verdict(["no difference"], 2) == "not reproduced"
    assert verdict(["no"], 1) == "not reproduced (one seed)"
    assert verdict(["yes"], 1) == "reproduced (one seed)"
    assert verdict([], 0) == "not judged"


def test_accuracies_stand_beside_the_papers(clean, shown):
    text = page("clean", clean, shown, quick=False)
    assert numbers(text.splitlines()[0])[:2] == [3, 13]  # Table 3 and the first of its figures
    assert text != page("clean", clean, shown, quick=True)  # which says that it is a quick run
    heading = "## Accuracy"
    assert cells(text, heading, "method")[:4] == ["method", "seeds", "100: paper", "ours"]
    assert cells(text, heading, "MHEAL (paper)")[:4] == ["MHEAL (paper)", "3", "86.5", "86.5 ± 1.0, ≈"]
    assert cells(text, heading, "BALD")[2:6] == ["76.0", "**98.0 ± 1.0**, +22.0", "88.6", "**98.0 ± 1.0**, +9.4"]
    assert cells(text, heading, "MHEAL")[2:] == ["–", "95.0 ± 1.0", "–", "**98.0 ± 1.0**", "–", "**99.0 ± 1.0**", "–", "**98.5 ± 1.0**"]  # fmt: skip  # noqa: E501
    count = subsection(text, "### mnist").splitlines()[-1]
    assert numbers(count) == [12, 8, 4, 0]  # cells, as printed, higher, lower
    (runs,) = sentences(text, "- mnist", "NVIDIA H200")
    assert numbers(runs) == [6, 3, 9.0]  # methods, seeds, minutes
    assert "SimCLR |" not in text  # MNIST has no such methods
    assert "\n## How much is lost" not in text


def test_what_is_missing_is_listed(clean, rows_of, shown):
    rows = [row for row in clean if row["method"] != "TypiClust"]
    rows += rows_of("K-means", [0.3, 0.4], "cifar10", seeds=1)
    text = page("clean", rows, shown, quick=True)
    dataset, methods, others, *labels = missing(text)
    assert dataset == {"cifar100"}
    assert {"mnist", "TypiClust"} <= methods
    assert {"cifar10", "Random", "BALD"} <= others
    assert all("cifar10" in one for one in labels)
    assert ["5" in labels[0], "10" in labels[1], len(labels)] == [True, True, 2]  # at 5,000 and 10,000 labels
    assert cells(text, "### mnist", "TypiClust") == ["TypiClust", "0", *["–"] * 8]
    assert cells(text, "### cifar10", "K-means")[1:6] == ["1", "32.5", "**30.0**, −2.5", "38.9", "**40.0**, +1.1"]
    name, places, decided = rows_after(text, "## Is MHEAL the best", "cifar10 |")[0]
    assert (name, numbers(places), decided) == ("cifar10", [0, 0, 0], "not judged")
    whole = [row for name in BUDGETS for title in shown for row in rows_of(title, [0.5] * 4, name)]
    assert missing(page("clean", whole, shown, quick=False)) == []


def test_mheal_is_refuted_where_a_method_is_above_it_everywhere(clean, shown):
    text = section(page("clean", clean, shown, quick=False), "## Is MHEAL the best")
    (name, places, decided), first = rows_after(text, "## Is", "mnist |")[:2]
    assert (name, numbers(places), decided) == ("mnist", [0, 4, 4], "refuted")  # above all, of so many, below some
    assert first == ["mnist", "100", "MHEAL", tally(["yes", "no"]), "BALD", "yes"]
    assert not sentences(text, "mnist")  # of which one seed would be mentioned


def test_mheal_is_reproduced_where_it_is_above_all(rows_of, shown):
    low, high = rows_of("K-means", [0.5] * 4), rows_of("MHEAL (paper)", [0.6] * 4)
    text = section(page("clean", low + high, shown, quick=False), "## Is MHEAL the best")
    (name, places, decided), *_, last = rows_after(text, "## Is", "mnist |")
    assert (name, numbers(places), decided) == ("mnist", [4, 4, 0], "reproduced")
    assert last == ["mnist", "500", "MHEAL", tally(["yes"]), "none", "–"]
    alone = section(page("clean", low[:1] + high[:1], shown, quick=False), "## Is MHEAL the best")
    assert rows_after(alone, "## Is", "mnist |")[0][-1] == "reproduced (one seed)"
    assert len(sentences(alone, "mnist")) == 1


def test_one_seed_does_not_refute_beside_methods_with_more(rows_of, shown):
    rows = [
        *rows_of("K-means", [0.6] * 4),
        *rows_of("BALD", [0.9] * 4, seeds=1),
        *rows_of("MHEAL (paper)", [0.6] * 4),
    ]
    text = section(page("clean", rows, shown, quick=False), "## Is MHEAL the best")
    (name, places, decided), first = rows_after(text, "## Is", "mnist |")[:2]
    assert (name, numbers(places), decided) == ("mnist", [0, 4, 0], "not reproduced")
    assert len(sentences(text, "BALD", "mnist")) == 1
    assert first[3:5] == [tally(["no difference", "no"]), "BALD"]


def test_losses_are_paired_with_the_clean_rows(clean, rows_of, shown):
    here = [
        *rows_of("K-means", [v - 0.01 for v in accuracies("clean", "mnist")["K-means"].values()], setting="repeated"),
        *rows_of("BALD", [0.95] * 4, setting="repeated"),
        *rows_of("MHEAL (paper)", [v - 0.005 for v in accuracies("clean", "mnist")["MHEAL"].values()]),
        *rows_of("MHEAL", [0.95, 0.98, 0.99, 0.985]),
    ]
    here += rows_of("VAAL", [0.5] * 4, seeds=1)  # one seed is left out where others have more
    clean += rows_of("VAAL", [0.9] * 4, seeds=1)
    lost = section(page("repeated", here, shown | {"VAAL": "VAAL"}, False, clean), "## How much is lost")
    assert cells(lost, "### mnist", "MHEAL (paper)")[1:3] == ["−0.5", "−0.5 ± 0.0"]
    assert cells(lost, "### mnist", "BALD")[-2:] == ["−0.8", "−3.0 ± 0.0"]
    assert cells(lost, "### mnist", "MHEAL loses little") == ["MHEAL loses little", "−0.6", "−0.5 ± 0.0", "reproduced"]
    assert rows_after(lost, "### mnist", "unsupervised")[0][2:] == ["+2.3 ± 0.0", "reproduced"]
    assert cells(lost, "### mnist", "loses least") == ["loses least", "Core-set, −0.4", "MHEAL, +0.0", "–"]
    assert cells(lost, "### mnist", "Random")[2] == "–"


def test_a_loss_a_point_beyond_the_papers_refutes(clean, rows_of, shown):
    mheal = accuracies("clean", "mnist")["MHEAL"].values()
    far = rows_of("MHEAL (paper)", [v - 0.05 for v in mheal])
    lost = page("noisy", far + rows_of("BALD", [0.98] * 4), shown, False, clean)
    assert cells(lost, "### mnist", "MHEAL loses little")[2:] == ["−5.0 ± 0.0", "refuted"]
    assert rows_after(lost, "### mnist", "unsupervised")[0][3] == "refuted"
    alone = page("noisy", far[1:2], shown, False, clean)
    assert cells(alone, "### mnist", "MHEAL loses little")[2:] == ["−5.0, one seed", "not reproduced (one seed)"]
    assert not rows_after(alone, "## How much is lost", "unsupervised")


def test_without_clean_rows_no_loss_is_shown(clean, shown):
    lost = section(page("noisy", clean, shown, False), "## How much is lost")
    assert not rows_after(lost, "### mnist")
    assert "−" not in lost


@pytest.mark.parametrize(("kind", "share"), [("repeated", "10.0"), ("noisy", "20.0")])
def test_shares_of_labels_spent_on_copies(kind, share, rows_of, shown):
    rows = rows_of("Random", [0.5] * 4, shares=0.1) + rows_of("MHEAL", [0.6] * 4, shares=0.025)
    text = section(page(kind, rows, shown, False), "## Labels spent")
    assert cells(text, "###", "Random") == ["Random", *[share] * 4]
    assert cells(text, "###", "BALD") == ["BALD", *["–"] * 4]
    (ends,) = [line for line in sentences(text, "MHEAL", "Random") if numbers(line)]
    assert numbers(ends) == [500, float(share) / 4, float(share)]
    assert ends.index("MHEAL") < ends.index("Random")  # the least, then the most


def test_the_default_is_compared_with_the_best_of_its_family(clean, rows_of, shown):
    sim = rows_of("MHEAL, SimCLR", [0.7] * 4, "cifar10") + rows_of("K-means, SimCLR", [0.6] * 4, "cifar10", seeds=1)
    rows = [*clean, *sim, *rows_of("MHEAL", [0.5] * 4, "cifar10"), *rows_of("Random", [0.5, 0.75], "cifar10")]
    whole = page("clean", rows, shown, False)
    text = section(whole, "## Is our default ahead?")
    table = rows_after(text, "## Is")[2:]
    assert table[0] == ["mnist", "MHEAL", "100", "BALD", "98.0 ± 1.0", "95.0 ± 1.0", "−3.0 ± 0.0", "behind"]
    assert [row[-1] for row in table if row[0] == "mnist"] == ["behind", "level", "ahead", "ahead"]
    assert [row[1:4] + row[6:] for row in table if row[0] == "cifar10"] == [
        ["MHEAL", "1,000", "Random", "+0.0 ± 0.0", "level"],
        ["MHEAL", "2,000", "Random", "−25.0 ± 0.0", "behind"],
        ["MHEAL, SimCLR", "1,000", "K-means, SimCLR", "+9.0, one seed", "ahead"],
        ["MHEAL, SimCLR", "2,000", "Random", "−5.0 ± 0.0", "behind"],
        ["MHEAL, SimCLR", "5,000", "K-means, SimCLR", "+9.0, one seed", "ahead"],
        ["MHEAL, SimCLR", "10,000", "K-means, SimCLR", "+9.0, one seed", "ahead"],
    ]
    *lists, alone = [line for line in text.splitlines() if line]  # each: not behind, of so many, ahead; the sum
    assert [numbers(line) for line in lists[-4:]] == [[3, 4, 2], [1, 2, 0], [3, 4, 3], [7, 10, 5]]
    assert numbers(alone) == [3, 10]  # comparisons that rest on one seed, and all
    assert cells(whole, "### cifar10", "MHEAL, SimCLR")[1] == "3"
    runs = [sentences(whole, f"- {name}", "NVIDIA H200")[0] for name in ("mnist", "cifar10")]
    assert [numbers(line) for line in runs] == [[6, 3, 9.0], [4, 1, 3, 5.0]]  # methods, seeds, minutes


def test_methods_that_query_the_model_are_compared_whatever_their_features(rows_of):
    rows = [
        *rows_of("MHEAL with model, SimCLR", [0.7] * 4, "cifar10"), *rows_of("MHEAL, SimCLR", [0.9] * 4, "cifar10"),
        *rows_of("BALD", [0.6, 0.8], "cifar10"), *rows_of("K-means", [0.95] * 4, "cifar10"),
        *rows_of("TypiClust, SimCLR", [0.65, 0.6], "cifar10"),
    ]  # fmt: skip
    text = section(page("clean", rows, COUNTERPARTS, False), "## Is our default ahead?")
    table = rows_after(text, "## Is")[2:]
    assert [row[1:4] + row[7:] for row in table] == [
        ["MHEAL, SimCLR", "1,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL, SimCLR", "2,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL with model, SimCLR", "1,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL with model, SimCLR", "2,000", "BALD", "behind"],
    ]
    panels = _panels(["Random", "BALD", "MHEAL", "MHEAL, SimCLR", "MHEAL with model, SimCLR"])
    assert panels[PANELS[1]] == ["MHEAL", "Random", "BALD", "MHEAL with model, SimCLR"]
    assert panels[PANELS[2]] == ["MHEAL", "Random", "MHEAL, SimCLR", "MHEAL with model, SimCLR"]


def test_columns_before_the_first_pick_are_left_out(clean, rows_of, shown):
    assert Measured(clean).columns("mnist") == [20, 100, 200, 300, 500]
    assert Measured(clean).after_start("mnist") == [100, 200, 300, 500]
    clean[0]["accuracy"]["20"] += 0.001
    assert Measured(clean).after_start("mnist") == [20, 100, 200, 300, 500]
    assert Measured(rows_of("BALD", [0.5] * 4)).after_start("mnist") == [20, 100, 200, 300, 500]  # none to be like
    alone = section(page("clean", rows_of("BALD", [0.5] * 4), shown, False), "## Is our default ahead?")
    assert len(rows_after(alone, "## Is")) == 2  # its header


def test_gains_and_changes_are_paired_by_seed(rows_of):
    three, two = rows_of("MHEAL", [0.5]), rows_of("Random", [0.4])[1:]
    found = Measured([*reversed(three), *two])
    np.testing.assert_allclose(found.gain("mnist", "MHEAL", "Random", 100), [0.1, 0.1])
    assert len(found.gain("mnist", "MHEAL", "BALD", 100)) == 0
    assert found.change(Measured(three[2:]), "mnist", "MHEAL", [20, 100]) == {2: [0, 0]}
    assert found.change(Measured(three), "mnist", "MHEAL", [20, 200]) == {}
