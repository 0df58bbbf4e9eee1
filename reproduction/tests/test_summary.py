"""The summary of all results is made from the rows, and agrees with the pages."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from mheal_reproduction import command
from mheal_reproduction.command import main
from mheal_reproduction.paper.images.measured import Measured
from mheal_reproduction.paper.readings.grid import NETWORK, Reading
from mheal_reproduction.paper.readings.numbers import Found, with_random
from mheal_reproduction.summary.entries import Results, by_name, judged, span
from mheal_reproduction.summary.images import best, stopped
from mheal_reproduction.summary.page import claims, counts, kind, page

RESULTS = Path(__file__).parents[1] / "results"


@pytest.fixture(scope="module")
def results():
    return Results(RESULTS)


@pytest.fixture(scope="module")
def found(results):
    return claims(results)


def verdict_of(folder):
    """The verdict paragraph of a page."""
    text = (RESULTS / folder / "README.md").read_text()
    return " ".join(text.split("**Verdict:**")[1].split("\n\n")[0].split())


def test_the_page_is_made_from_the_rows_byte_for_byte(results):
    assert (RESULTS / "README.md").read_text() == page(results)


@pytest.mark.parametrize("table", ["table3", "table4", "table5"])
def test_summary_and_table_page_agree_on_every_verdict(table, found):
    best = [entry for entry in found if entry.folder == table and entry.claim.startswith("MHEAL is the best")]
    names = ("mnist", "cifar10", "cifar100")
    words = ", ".join(f"{entry.verdict} on {name}" for entry, name in zip(best, names, strict=True))
    assert words in verdict_of(table)
    text = (RESULTS / table / "README.md").read_text()
    little = re.findall(r"\| MHEAL loses little \| .* \| (.*) \|", text)
    assert little == [entry.verdict for entry in found if entry.folder == table and "loses little" in entry.claim]


def test_summary_and_other_pages_agree(found):
    by_folder = {entry.folder: entry for entry in reversed(found)}  # the first of each
    assert verdict_of("theorem1").startswith(by_folder["theorem1"].verdict)
    assert by_folder["figure12"].verdict.replace(", ", " and ") in verdict_of("figure12")
    assert re.search(r"faster than IWAL on 6 of 6 .* slower on 6", verdict_of("figure6"))
    assert by_folder["figure6"].verdict.startswith("reproduced by its smaller constant, refuted")
    for part in verdict_of("table2").partition(" is ")[2].split("; "):
        verdict, _, measures = part.partition(" under ")
        for measure in re.findall("ℓ_KL|ℓ_MMD|MMD_μ", measures):
            assert re.search(rf"{verdict} under [^,]*{measure}", by_folder["table2"].verdict)


def test_readings_are_as_the_page_of_table_3_says(results):
    found = Found(with_random(results.rows("readings"), results.rows("table3")))
    places = [
        found.standing(one).random.place for one in found.readings if (one.learner, one.clusters) == (NETWORK, None)
    ]
    assert places.count("above") > len(places) / 2
    usual = Reading(NETWORK, "DEC codes", 10, "warm")
    others = [found.standing(one).random.mean for one in found.readings if one.learner == NETWORK]
    assert found.standing(usual).random.mean < np.quantile(others, 0.1)


def test_a_changed_row_changes_the_summary():
    rows = [json.loads(line) for line in (RESULTS / "table3" / "rows.jsonl").read_text().splitlines()]
    assert best(Measured(rows), "clean", "mnist", "table3", "Table 3").verdict == "refuted"
    for row in rows:
        if (row["dataset"], row["method"]) == ("mnist", "MHEAL (paper)"):
            row["accuracy"] = dict.fromkeys(row["accuracy"], 0.99 + row["seed"] / 10000)
    entry = best(Measured(rows), "clean", "mnist", "table3", "Table 3")
    assert entry.verdict == "reproduced"
    assert "99.0 % at 100 labels" in entry.why


def test_runs_that_were_stopped_early_count_where_a_seed_has_no_other(results):
    text = stopped(results)
    rows = [row for row in results.rows("table3") + results.stopped("table3") if row["dataset"] == "cifar10"]
    kmeans = [row["accuracy"]["2000"] for row in rows if row["method"] == "K-means, SimCLR"]
    assert len(kmeans) == 3
    assert f"{100 * sum(kmeans) / 3:.1f} at 2,000 (3 seeds)" in text
    assert "TypiClust" not in text  # its runs were finished later


def test_verdicts_are_counted_by_kind(found):
    assert kind("refuted on MNIST") == "refuted"
    assert kind("not reproduced (one seed)") == "not reproduced"
    assert kind("reproduced on MNIST, not reproduced on Fashion-MNIST") == "mixed"
    assert kind("like those of random subsets") == "other"
    assert sum(counts(found).values()) == len(found)


def test_words_of_several_entries():
    assert [judged(one) for one in (["yes"], ["no", "no"], ["yes", "no"])] == [
        "reproduced",
        "refuted",
        "not reproduced",
    ]
    assert by_name({"A": "refuted", "B": "refuted"}) == "refuted"
    assert by_name({"A": "refuted", "B": "reproduced"}) == "refuted on A, reproduced on B"
    assert (span([2.04, 1.0]), span([3, 3], 0)) == ("1.0 to 2.0", "3")


def test_the_command_writes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(command, "write_summary", lambda home: f"of {home.name}")
    assert main(["--summary", "--out", str(tmp_path / "results")]) == 0
    assert capsys.readouterr().out == "of results\n"
