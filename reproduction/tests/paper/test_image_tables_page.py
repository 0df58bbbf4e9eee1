from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread

from mheal_reproduction.experiments import Part
from mheal_reproduction.paper.images import experiment as image_tables
from mheal_reproduction.paper.images.measured import Measured
from mheal_reproduction.paper.images.methods import answers
from mheal_reproduction.paper.images.page import page
from mheal_reproduction.paper.images.picture import PANELS, _figure, _panels, draw, figure_number
from mheal_reproduction.paper.images.published import BUDGETS, accuracies
from mheal_reproduction.paper.images.words import above, against, verdict

ANSWERS = {
    "Random": None, "K-means": "K-means", "BALD": "BALD", "MHEAL (paper)": "MHEAL", "TypiClust": None, "MHEAL": None,
    "MHEAL, SimCLR": None, "K-means, SimCLR": None,
}  # fmt: skip
START = {0: 0.4, 1: 0.5, 2: 0.45}  # accuracy before anything is bought, by seed


def rows_of(method, accuracy, dataset="mnist", setting="clean", seeds=3, shares=0.0):
    """Rows whose mean accuracy at the dataset's numbers of labels is `accuracy`, a point apart, and a start."""
    return [
        {
            "dataset": dataset, "method": method, "setting": setting, "seed": seed,
            "accuracy": {"20": START[seed]} | {
                str(n): round(at + 0.01 * (seed - (seeds - 1) / 2), 6)
                for n, at in zip(BUDGETS[dataset], accuracy, strict=False)
            },
            "copies": {str(n): shares for n in BUDGETS[dataset]},
            "wrong": {str(n): 2 * shares for n in BUDGETS[dataset]},
            "seconds": 30.0, "device": "NVIDIA H200",
        }
        for seed in range(seeds)
    ]  # fmt: skip


def cells(text, heading, line):
    """The cells of a line of the first table after a heading that has it."""
    after = text[text.index(heading) :]
    return next(row for row in after.splitlines() if row.startswith(f"| {line} |")).strip("| ").split(" | ")


def section(text, heading):
    return text[text.index(heading) :].split("\n## ")[0]


@pytest.fixture
def clean():
    """Ours exactly as printed but for BALD, which is always best."""
    printed = accuracies("clean", "mnist")
    return [
        *rows_of("Random", [0.85, 0.9, 0.92, 0.95]),
        *rows_of("K-means", printed["K-means"].values()),
        *rows_of("BALD", [0.98] * 4),
        *rows_of("MHEAL (paper)", printed["MHEAL"].values()),
        *rows_of("TypiClust", [0.9] * 4),
        *rows_of("MHEAL", [0.95, 0.98, 0.99, 0.985]),
    ]


def test_pictures_have_the_papers_numbers():
    assert [figure_number(kind, name) for kind in ("clean", "repeated", "noisy") for name in BUDGETS] == [
        *range(13, 22)
    ]


def test_as_printed_is_within_a_point_or_two_standard_deviations():
    assert against(np.array([0.51]), 0.5) == "≈"
    assert against(np.array([0.512]), 0.5) == "+1.2"
    assert against(np.array([0.488]), 0.5) == "−1.2"
    assert against(np.array([0.51, 0.55]), 0.5) == "≈"  # 3 points off, sd 2.8
    assert against(np.array([0.529, 0.531]), 0.5) == "+3.0"  # 3 points off, sd .14


def test_differences_are_judged_by_intervals_and_a_single_one_by_its_sign():
    assert [above(np.array(one)) for one in ([0.1], [-0.1], [0.0])] == ["yes", "no", "no difference"]
    assert above(np.array([0.1, 0.11, 0.12])) == "yes"
    assert above(np.array([-0.1, -0.11, -0.12])) == "no"
    assert above(np.array([0.1, 0.9])) == "no difference"


def test_verdicts():
    assert verdict(["yes", "yes"], 3) == "reproduced"
    assert verdict(["no", "no"], 3) == "refuted"
    assert verdict(["yes", "no"], 3) == verdict(["no difference"], 2) == "not reproduced"
    assert verdict(["no"], 1) == "refuted (one seed)"
    assert verdict([], 0) == "not judged"


def test_accuracies_stand_beside_the_papers(clean):
    text = page("clean", clean, ANSWERS, quick=False)
    assert text.startswith("# Table 3 and Figures 13–15")
    assert "Quick run" not in text
    heading = "## Accuracy"
    assert cells(text, heading, "line")[:4] == ["line", "seeds", "100: paper", "ours"]
    assert cells(text, heading, "MHEAL (paper)")[:4] == ["MHEAL (paper)", "3", "86.5", "86.5 ± 1.0, ≈"]
    assert cells(text, heading, "BALD")[2:6] == ["76.0", "**98.0 ± 1.0**, +22.0", "88.6", "**98.0 ± 1.0**, +9.4"]
    assert cells(text, heading, "MHEAL")[2:] == ["–", "95.0 ± 1.0", "–", "**98.0 ± 1.0**", "–", "**99.0 ± 1.0**", "–", "**98.5 ± 1.0**"]  # fmt: skip  # noqa: E501
    assert "Of 12 cells 9 are as printed, 3 higher, 0 lower." in text
    assert "- mnist: 6 lines, seeds a line: 3; 9.0 minutes on NVIDIA H200" in text
    assert "SimCLR |" not in text  # MNIST has no such lines
    assert "lost against" not in text


def test_what_is_missing_is_said_and_shown(clean):
    rows = [row for row in clean if row["method"] != "TypiClust"]
    rows += rows_of("K-means", [0.3, 0.4], "cifar10", seeds=1)
    text = page("clean", rows, ANSWERS, quick=True)
    assert "Quick run" in text
    missing = next(line for line in text.splitlines() if line.startswith("Missing: "))
    assert missing.startswith("Missing: cifar100; on mnist TypiClust; on cifar10 Random and BALD and")
    assert missing.endswith("on cifar10 every line at 5,000 labels; on cifar10 every line at 10,000 labels.")
    assert cells(text, "### mnist", "TypiClust") == ["TypiClust", "0", *["–"] * 8]
    assert cells(text, "### cifar10", "K-means")[1:6] == ["1", "32.5", "**30.0**, −2.5", "38.9", "**40.0**, +1.1"]
    assert "| cifar10 | above all at 0 of 0 numbers of labels, below some at 0 | not judged |" in text
    whole = [row for name in BUDGETS for title in ANSWERS for row in rows_of(title, [0.5] * 4, name)]
    assert "No line is missing." in page("clean", whole, ANSWERS, quick=False)


def test_mheal_is_refuted_where_a_line_is_above_it_everywhere(clean):
    text = section(page("clean", clean, ANSWERS, quick=False), "## Is MHEAL best")
    assert "| mnist | above all at 0 of 4 numbers of labels, below some at 4 | refuted |" in text
    assert "| mnist | 100 | MHEAL | yes on 1, no on 1 of 2 | BALD | yes |" in text
    assert "One seed" not in text


def test_mheal_is_reproduced_where_it_is_above_all():
    low, high = rows_of("K-means", [0.5] * 4), rows_of("MHEAL (paper)", [0.6] * 4)
    text = section(page("clean", low + high, ANSWERS, quick=False), "## Is MHEAL best")
    assert "| mnist | above all at 4 of 4 numbers of labels, below some at 0 | reproduced |" in text
    assert "| mnist | 500 | MHEAL | yes on 1 of 1 | none | – |" in text
    alone = section(page("clean", low[:1] + high[:1], ANSWERS, quick=False), "## Is MHEAL best")
    assert "| reproduced (one seed) |" in alone
    assert "every line on mnist." in alone


def test_one_seed_does_not_refute_beside_lines_with_more():
    rows = [
        *rows_of("K-means", [0.6] * 4),
        *rows_of("BALD", [0.9] * 4, seeds=1),
        *rows_of("MHEAL (paper)", [0.6] * 4),
    ]
    text = section(page("clean", rows, ANSWERS, quick=False), "## Is MHEAL best")
    assert "| mnist | above all at 0 of 4 numbers of labels, below some at 0 | not reproduced |" in text
    assert "BALD on mnist." in text
    assert "no difference on 1, no on 1 of 2 | BALD |" in text


def test_losses_are_paired_with_the_clean_rows(clean):
    here = [
        *rows_of("K-means", [v - 0.01 for v in accuracies("clean", "mnist")["K-means"].values()], setting="repeated"),
        *rows_of("BALD", [0.95] * 4, setting="repeated"),
        *rows_of("MHEAL (paper)", [v - 0.005 for v in accuracies("clean", "mnist")["MHEAL"].values()]),
        *rows_of("MHEAL", [0.95, 0.98, 0.99, 0.985]),
    ]
    here += rows_of("VAAL", [0.5] * 4, seeds=1)  # one seed is left out where others have more
    clean += rows_of("VAAL", [0.9] * 4, seeds=1)
    lost = section(page("repeated", here, ANSWERS | {"VAAL": "VAAL"}, False, clean), "## Is little lost")
    assert cells(lost, "### mnist", "MHEAL (paper)")[1:3] == ["−0.5", "−0.5 ± 0.0"]
    assert cells(lost, "### mnist", "BALD")[-2:] == ["−0.8", "−3.0 ± 0.0"]
    assert cells(lost, "### mnist", "MHEAL loses little") == ["MHEAL loses little", "−0.6", "−0.5 ± 0.0", "reproduced"]
    groups = "unsupervised lines lose less: mean of theirs minus mean of the others'"
    assert cells(lost, "### mnist", groups)[2:] == ["+2.3 ± 0.0", "reproduced"]
    assert cells(lost, "### mnist", "loses least") == ["loses least", "Core-set, −0.4", "MHEAL, +0.0", "–"]
    assert cells(lost, "### mnist", "Random")[2] == "–"


def test_a_loss_a_point_beyond_the_papers_refutes(clean):
    mheal = accuracies("clean", "mnist")["MHEAL"].values()
    far = rows_of("MHEAL (paper)", [v - 0.05 for v in mheal])
    lost = page("noisy", far + rows_of("BALD", [0.98] * 4), ANSWERS, False, clean)
    assert cells(lost, "### mnist", "MHEAL loses little")[2:] == ["−5.0 ± 0.0", "refuted"]
    assert (
        cells(lost, "### mnist", "unsupervised lines lose less: mean of theirs minus mean of the others'")[3]
        == "refuted"
    )
    alone = page("noisy", far[1:2], ANSWERS, False, clean)
    assert cells(alone, "### mnist", "MHEAL loses little")[2:] == ["−5.0, one seed", "refuted (one seed)"]
    assert "unsupervised lines lose less" not in alone


def test_without_clean_rows_no_loss_is_shown(clean):
    lost = section(page("noisy", clean, ANSWERS, False), "## Is little lost")
    assert "There is no clean run to compare with." in lost
    assert "−" not in lost


@pytest.mark.parametrize(("kind", "share"), [("repeated", "10.0"), ("noisy", "20.0")])
def test_shares_of_labels_spent_in_vain(kind, share):
    rows = rows_of("Random", [0.5] * 4, shares=0.1) + rows_of("MHEAL", [0.6] * 4, shares=0.025)
    text = section(page(kind, rows, ANSWERS, False), "## Labels spent")
    assert cells(text, "###", "Random") == ["Random", *[share] * 4]
    assert cells(text, "###", "BALD") == ["BALD", *["–"] * 4]
    assert f"Least and most at 500 labels: MHEAL ({float(share) / 4:.1f}) and Random ({share})." in text


def test_the_default_is_compared_with_the_best_of_its_family(clean):
    sim = rows_of("MHEAL, SimCLR", [0.7] * 4, "cifar10") + rows_of("K-means, SimCLR", [0.6] * 4, "cifar10", seeds=1)
    rows = [*clean, *sim, *rows_of("MHEAL", [0.5] * 4, "cifar10"), *rows_of("Random", [0.5, 0.75], "cifar10")]
    whole = page("clean", rows, ANSWERS, False)
    text = section(whole, "## Is our default ahead?")
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
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
    assert "- MHEAL on mnist: ahead or level in 3 of 4 (ahead in 2)" in text
    assert "- In all: ahead or level in 7 of 10 (ahead in 5)" in text
    assert "Rest on one seed, where the sign decides: 3 of 10." in text
    assert cells(whole, "### cifar10", "MHEAL, SimCLR")[1] == "3"
    assert "- mnist: 6 lines, seeds a line: 3; 9.0 minutes on NVIDIA H200\n" in whole
    assert "- cifar10: 4 lines, seeds a line: 1 to 3; 5.0 minutes on NVIDIA H200\n" in whole


def test_what_asks_is_compared_with_what_asks_whatever_it_looks_at():
    rows = [
        *rows_of("MHEAL, asking, SimCLR", [0.7] * 4, "cifar10"), *rows_of("MHEAL, SimCLR", [0.9] * 4, "cifar10"),
        *rows_of("BALD", [0.6, 0.8], "cifar10"), *rows_of("K-means", [0.95] * 4, "cifar10"),
        *rows_of("TypiClust, SimCLR", [0.65, 0.6], "cifar10"),
    ]  # fmt: skip
    text = section(page("clean", rows, answers(), False), "## Is our default ahead?")
    table = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")][2:]
    assert [row[1:4] + row[7:] for row in table] == [
        ["MHEAL, SimCLR", "1,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL, SimCLR", "2,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL, asking, SimCLR", "1,000", "TypiClust, SimCLR", "ahead"],
        ["MHEAL, asking, SimCLR", "2,000", "BALD", "behind"],
    ]
    panels = _panels(["Random", "BALD", "MHEAL", "MHEAL, SimCLR", "MHEAL, asking, SimCLR"])
    assert panels[PANELS[1]] == ["MHEAL", "Random", "BALD", "MHEAL, asking, SimCLR"]
    assert panels[PANELS[2]] == ["MHEAL", "Random", "MHEAL, SimCLR", "MHEAL, asking, SimCLR"]


def test_columns_before_anything_is_bought_count_for_nothing(clean):
    assert Measured(clean).columns("mnist") == [20, 100, 200, 300, 500]
    assert Measured(clean).bought("mnist") == [100, 200, 300, 500]
    clean[0]["accuracy"]["20"] += 0.001
    assert Measured(clean).bought("mnist") == [20, 100, 200, 300, 500]
    assert Measured(rows_of("BALD", [0.5] * 4)).bought("mnist") == [20, 100, 200, 300, 500]  # none to be like
    assert "There is nothing to compare." in page("clean", rows_of("BALD", [0.5] * 4), ANSWERS, False)


def test_gains_and_changes_are_paired_by_seed():
    three, two = rows_of("MHEAL", [0.5]), rows_of("Random", [0.4])[1:]
    found = Measured([*reversed(three), *two])
    np.testing.assert_allclose(found.gain("mnist", "MHEAL", "Random", 100), [0.1, 0.1])
    assert len(found.gain("mnist", "MHEAL", "BALD", 100)) == 0
    assert found.change(Measured(three[2:]), "mnist", "MHEAL", [20, 100]) == {2: [0, 0]}
    assert found.change(Measured(three), "mnist", "MHEAL", [20, 200]) == {}


def test_pictures_of_the_datasets_that_have_rows(clean, tmp_path):
    sim = rows_of("MHEAL, SimCLR", [0.7] * 4, "cifar100") + rows_of("Random", [0.6] * 4, "cifar100", seeds=1)
    draw(tmp_path, "repeated", [*clean, *sim], ANSWERS)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure16.png", "figure18.png"]
    assert imread(tmp_path / "figure16.png").std() > 0.05
    text = page("repeated", [*clean, *sim], ANSWERS, False)
    for path in tmp_path.iterdir():
        assert f"]({path.name})" in text
    assert text.count("](figure") == 2


def test_panels_show_every_line_with_random_and_the_default(clean):
    titles = [title for title in ANSWERS if not title.endswith("SimCLR")]
    axes = _figure("clean", "mnist", Measured(clean), titles).axes
    names = [[text.get_text() for text in ax.texts] for ax in axes]
    assert [ax.get_title(loc="left") for ax in axes[:2]] == list(PANELS[:2])
    assert names[0] == ["MHEAL", "MHEAL (paper)", "Random", "K-means", "TypiClust"]  # by accuracy at the end
    assert names[1] == ["MHEAL", "BALD", "Random"]
    assert [set(lower) for lower in names[2:]] == [set(upper) for upper in names[:2]]
    crosses = next(line for line in axes[0].get_lines() if line.get_marker() == "x")
    assert crosses.get_ydata().tolist() == list(accuracies("clean", "mnist")["MHEAL"].values())
    below = next(line for line in axes[2].get_lines() if line.get_marker() == "x")
    np.testing.assert_allclose(below.get_ydata()[0], 0.8648 - 0.85)
    heights = [text.get_position()[1] for text in axes[0].texts]
    assert np.diff(heights).max() < -0.001  # names do not lie on each other


def test_without_random_the_picture_has_one_row_and_with_few_seeds_no_bands():
    found = Measured(rows_of("BALD", [0.5] * 4, seeds=1) + rows_of("MHEAL", [0.6] * 4, seeds=1))
    figure = _figure("noisy", "mnist", found, ["BALD", "MHEAL"])
    assert len(figure.axes) == 1
    assert not figure.axes[0].collections
    assert "one seed" in figure.get_suptitle()
    two = Measured(rows_of("BALD", [0.5] * 4, seeds=2) + rows_of("MHEAL", [0.6] * 4, seeds=2))
    figure = _figure("noisy", "mnist", two, ["BALD", "MHEAL"])
    assert not figure.axes[0].collections  # an interval of two seeds would cover everything
    assert "mean of up to 2 seeds" in figure.get_suptitle()
    many = Measured(rows_of("BALD", [0.5] * 4) + rows_of("MHEAL", [0.6] * 4))
    assert len(_figure("noisy", "mnist", many, ["BALD", "MHEAL"]).axes[0].collections) == 2


def test_runs_that_have_bought_nothing_yet_can_be_shown(tmp_path):
    rows = rows_of("Random", []) + rows_of("BALD", [])
    draw(tmp_path, "clean", rows, ANSWERS)
    assert [path.name for path in tmp_path.iterdir()] == ["figure13.png"]
    assert "There is nothing to compare." in page("clean", rows, ANSWERS, quick=True)


@pytest.mark.parametrize(("name", "kind"), [("table3", "clean"), ("table4", "repeated"), ("table5", "noisy")])
def test_commands_run_their_kind(name, kind, monkeypatch):
    monkeypatch.setattr(image_tables, "run", lambda *said: said, raising=False)
    run = import_module(f"mheal_reproduction.paper.{name}").run
    part = Part(("mnist",))
    assert run(Path("out"), None, 2, True, print, part) == (kind, Path("out"), None, 2, True, print, part)
