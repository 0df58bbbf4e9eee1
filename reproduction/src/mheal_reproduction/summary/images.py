"""The summary of Figure 11 and of Tables 3 to 5 with their figures: networks that learn from few images."""

from collections.abc import Iterator

import numpy as np

from ..paper.figure11.experiment import size_of
from ..paper.figure11.page import verdicts
from ..paper.images.lost import mheal_loss
from ..paper.images.measured import Measured
from ..paper.images.methods import CLASSES
from ..paper.images.picture import PAPER, RANDOM, figure_number
from ..paper.images.pools import KINDS
from ..paper.images.published import BUDGETS, accuracies
from ..paper.images.rank import Place, best_verdict, most_seeds, places_of
from ..paper.images.titles import COUNTERPARTS
from ..paper.images.words import points_of, signed
from ..report import percent
from .entries import Entry, Results, dataset, span

BEST = {
    "clean": "MHEAL is the best of all methods",
    "repeated": "MHEAL is the best where images repeat",
    "noisy": "MHEAL is the best where copies have wrong labels",
}
LITTLE = {"repeated": "it loses little to copies", "noisy": "it loses little to wrong labels"}


def entries(results: Results) -> Iterator[Entry]:
    """The entries of Figure 11, then of each table and dataset."""
    yield _version_space(results)
    clean = Measured(results.rows("table3"))
    for number, kind in enumerate(KINDS, start=3):
        folder = f"table{number}"
        found = Measured(results.rows(folder))
        for name in found.datasets:
            title = f"Table {number}, Figure {figure_number(kind, name)}"
            yield best(found, kind, name, folder, title)
            if kind in LITTLE:
                yield _loss(found, clean, kind, name, folder, title)


def stopped(results: Results) -> str:
    """The means of Table 3 that change if seeds count whose only run was stopped early."""
    found, words = Measured(results.rows("table3")), []
    early = Measured(results.stopped("table3"))
    for title in COUNTERPARTS:
        cells = []
        for n in BUDGETS["cifar10"]:
            finished, begun = (some.by_seed("cifar10", title, n) for some in (found, early))
            if set(begun) - set(finished):
                values = begun | finished
                cells.append(f"{percent(list(values.values()))} at {n:,} ({len(values)} seeds)")
        words += [f"{title} {' and '.join(cells)}"] if cells else []
    return f"""Some seeds of Table 3 on CIFAR-10 were stopped early (`table3/stopped_rows.jsonl`) and are not in the
tables. With them, means in % are: {"; ".join(words)}."""


def _version_space(results: Results) -> Entry:
    judged = list(verdicts(results.values("figure11"), size_of(quick=False).budgets))
    claims = [(setting, words, verdict) for setting, claim, words, verdict in judged if claim.startswith("in above")]
    found = {verdict: [setting for setting, _, other in claims if other == verdict] for _, _, verdict in claims}
    draws = len({row["seed"] for row in results.rows("figure11")})
    words = "; ".join(f"{setting}: {said.partition(': ')[2].partition(';')[0]}" for setting, said, _ in claims)
    return Entry(
        "figure11",
        "Figure 11",
        "in-version-space samples are superior",
        ", ".join(f"{verdict} ({'; '.join(settings)})" for verdict, settings in found.items()),
        f"in minus out, mean over the numbers of labels and {draws} draws: {words}",
    )


def best(found: Measured, kind: str, name: str, folder: str, title: str) -> Entry:
    """Whether MHEAL is the best of the paper's methods at every number of labels."""
    places = places_of(found, name, COUNTERPARTS)
    most = most_seeds(places)
    answers = [place.answer(most) for place in places]
    above = f"above all others at {answers.count('yes')} of {len(places)} numbers of labels"
    ours = f"with {CLASSES[name]} clusters of DEC's codes {_against_random(found, name, places)}"
    why = f"{ours}; {above}, below some at {answers.count('no')}; {_seeds(found, name)}"
    return Entry(folder, title, f"{BEST[kind]}, on {dataset(name)}", best_verdict(places), why)


def _against_random(found: Measured, name: str, places: list[Place]) -> str:
    """The first number of labels, and the range of the differences."""
    first = BUDGETS[name][0]
    ours, random = (percent(found.values(name, title, first)) for title in (PAPER, RANDOM))
    gains = [place.random.mean() for place in places]
    return (
        f"{ours} % at {first:,} labels, Random {random}; {signed(min(gains))} to {signed(max(gains))} points against it"
    )


def _seeds(found: Measured, name: str) -> str:
    counts = sorted({n for title in COUNTERPARTS if (n := found.seeds(name, title))})
    whole = f"{counts[0]} to {counts[-1]} seeds" if len(counts) > 1 else f"{counts[0]} seeds"
    return "one seed" if counts == [1] else whole


def _loss(found: Measured, clean: Measured, kind: str, name: str, folder: str, title: str) -> Entry:
    ours, verdict = mheal_loss(kind, name, found, clean)
    here, there = accuracies(kind, name)["MHEAL"], accuracies("clean", name)["MHEAL"]
    printed = float(np.mean([here[n] - there[n] for n in BUDGETS[name]]))
    why = f"on average {points_of(ours)} (paper {signed(printed)})"
    if kind == "noisy":
        mine, theirs = (
            [100 * found.values(name, who, n, "wrong").mean() for n in BUDGETS[name]] for who in (PAPER, RANDOM)
        )
        why += f"; {span(mine, 0)} % of its labels are wrong, of Random's {span(theirs, 0)}"
    return Entry(folder, title, f"{LITTLE[kind]}, on {dataset(name)}", verdict, why)
