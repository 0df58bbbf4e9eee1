"""The summary of our own questions: mheal's defaults with networks and with an SVM, the start of DEC, the recipes."""

from collections.abc import Iterator
from itertools import groupby

import numpy as np

from ..paper.figure12.page import BASELINES, DATASETS, PENALTIES, TITLES
from ..paper.images.measured import Measured
from ..paper.images.page import PLACES, Standing, standings
from ..paper.images.titles import COUNTERPARTS
from ..paper.images.words import signed
from ..report import percent
from .entries import Entry, Results, dataset
from .svm import ALL, OURS, curves_of

POOLS = {"table3": "", "table4": ", where images occur twice", "table5": ", where copies have wrong labels"}
STARTS = ("spherical, centred, means", "spherical, as in Table 1")  # of DEC: ours, the paper's


def entries(results: Results) -> Iterator[Entry]:
    """A question and its answer; a default on a dataset has a row of its own."""
    for folder, pool in POOLS.items():
        compared = standings(Measured(results.rows(folder)), COUNTERPARTS)
        for (name, ours), some in groupby(compared, key=lambda one: (one.name, one.ours)):
            yield Entry(
                folder, f"Table {folder[-1]}", f"is {ours} ahead on {dataset(name)}{pool}?", _standing(list(some))
            )
    yield _svm(results)
    yield _dec(results)
    yield _recipes(results)


def _standing(some: list[Standing]) -> str:
    """How often it is ahead, level or behind, and by how much."""
    places = [one.place for one in some]
    counts = ", ".join(f"{place} at {places.count(place)}" for place in PLACES.values() if place in places)
    gains = [float(one.gain.mean()) for one in some]
    seeds = {len(one.gain) for one in some}
    note = "; one seed" if seeds == {1} else "; some have one seed" if 1 in seeds else ""
    return f"{counts} of {len(some)} numbers of labels, by {signed(min(gains))} to {signed(max(gains))} points{note}"


def _svm(results: Results) -> Entry:
    curves = curves_of(results)
    words = []
    for setting in PENALTIES:
        above = sum(curves.above(name, setting, OURS, "random", "aulc") == "yes" for name in DATASETS)
        below = sorted(
            f"{TITLES[other]} on {dataset(name)}"
            for name in DATASETS
            for other in BASELINES
            if curves.above(name, setting, OURS, other, "aulc") == "no"
        )
        words.append(f"with {setting} above Random on {above} of {ALL}, below {' and '.join(below) or 'none'}")
    question = "is our default above the others, with an SVM?"
    return Entry("figure12", "Figure 12", question, f"over the whole curve, {'; '.join(words)}")


def _dec(results: Results) -> Entry:
    words = []
    for name in ("mnist", "fashion_mnist"):
        mine, first = (
            np.array(
                [
                    r["accuracy"]
                    for r in results.rows("dec")
                    if (r["dataset"], r["variant"], r["start"]) == (name, "dec", start)
                ]
            )
            for start in STARTS
        )
        words.append(f"{percent(mine)} instead of {percent(first)} on {dataset(name)}")
    answer = f"by directions from the codes' mean, not from their origin: {', '.join(words)}"
    return Entry("dec", "dec", "from which clusters should DEC start?", answer)


def _recipes(results: Results) -> Entry:
    rows = results.rows("recipes")
    most = max(row["labels"] for row in rows)
    whole = percent([row["accuracy"] for row in rows if row["labels"] == most])
    return Entry("recipes", "recipes", "are the networks trained well?", f"ResNet20 has {whole} % on all of CIFAR-10")
