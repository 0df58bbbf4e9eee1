"""Readings: under which choices that the paper leaves open does the published algorithm beat random labels?"""

from collections.abc import Iterator, Sequence

from ..paper.images.words import points_of, signed
from ..paper.readings.curves import comparisons, counts, place_of
from ..paper.readings.grid import LOGISTIC, NETWORK, SVM, Reading, k_text
from ..paper.readings.numbers import Found, Standing, compared, with_random
from .entries import Entry, Results

LEARNERS = {NETWORK: "the network of Table 3", SVM: "a support vector machine"}


def first_line(results: Results) -> str:
    """Whether the published algorithm beats random labels, and whether its energy adds anything."""
    words, numbers = [], _above(_digits(results))
    digits = f"on digits with k = {numbers}" if numbers else "on digits with no k"
    for learner, title in LEARNERS.items():
        standings = _standings(results, learner)
        above = [one for one in standings if one.random.place == "above"]
        if standings:
            which = f" (k = {_above(standings)})" if above else ""
            note = ", one seed" if _seeds(standings) == 1 else ""
            words.append(f"with {title} in {len(above)} of {len(standings)} readings{which}{note}")
    mnist = f"on MNIST {' and '.join(words)}"
    every = [one.energy for found in (_digits(results), *_mnist(results)) for one in found if len(one.control)]
    every += [place_of(one.control) for one in comparisons(results.rows("clusters"))]
    energy = f"Picking by energy beats picking random rows of the same clusters in {every.count('above')} of "
    energy += f"{len(every)} readings, on these data and those of Figure 12"
    return (
        "The paper leaves open the number of clusters k, the start and the features of its algorithm, so it was run "
        f"under many readings (k = labels: as many clusters as labels). It beats random labels {digits}; {mnist}. "
        f"{energy}."
    )


def entries(results: Results) -> Iterator[Entry]:
    """Against Random and what the energy adds: on MNIST with each learner, and on digits."""
    for learner, title in LEARNERS.items():
        yield from _pair("readings", f"on MNIST, with {title}", _standings(results, learner))
    yield from _pair("digits", "on digits, with logistic regression", _digits(results))
    yield from _clusters(results)


def _clusters(results: Results) -> Iterator[Entry]:
    """Figure 12's machines, with other numbers of clusters."""
    compared = comparisons(results.rows("clusters"))
    for name in dict.fromkeys(one.name for one in compared):
        mine = [one for one in compared if one.name == name]
        seeds = min(len(one.random) for one in mine)
        for against, claim in (
            (
                [one.random for one in mine],
                f"MHEAL is better than random labels on {name}, with some number of clusters",
            ),
            ([one.control for one in mine], f"the energy adds to the clusters on {name}, with some number of them"),
        ):
            places = [place_of(values) for values in against]
            best = max(range(len(mine)), key=lambda at: float(against[at].mean()))
            why = f"{counts(places)} of {len(places)}; most with k = {k_text(mine[best].reading.clusters)}, "
            why += f"{mine[best].reading.learner}: {points_of(against[best])}"
            yield Entry("clusters", "Figure 12, clusters", claim, _some(places, seeds), why)


def _pair(folder: str, where: str, standings: list[Standing]) -> Iterator[Entry]:
    """Two claims about some readings."""
    if standings:
        places = [one.random.place for one in standings]
        best = max(standings, key=lambda one: one.random.mean)
        why = f"above them in {places.count('above')} of {len(places)} readings, below in {places.count('below')}; "
        why += f"best with {_name(best.reading)}: {best.random.words} points"
        claim = f"MHEAL is better than random labels {where}, under some reading"
        yield Entry(folder, folder, claim, _some(places, _seeds(standings)), why)
    controlled = [one for one in standings if len(one.control)]
    if controlled:
        energy = [one.energy for one in controlled]
        means = [float(one.control.mean()) for one in controlled]
        why = f"against random rows of the same clusters {signed(min(means))} to {signed(max(means))} points; above in "
        why += f"{energy.count('above')} of {len(energy)} readings, below in {energy.count('below')}"
        claim = f"the energy adds to the clusters {where}, under some reading"
        yield Entry(folder, folder, claim, _some(energy, _seeds(controlled)), why)


def _mnist(results: Results) -> Iterator[list[Standing]]:
    """The readings of MNIST, learner by learner."""
    return (_standings(results, learner) for learner in LEARNERS)


def _above(standings: Sequence[Standing]) -> str:
    """The numbers of clusters of readings above Random."""
    return ", ".join(dict.fromkeys(k_text(one.reading.clusters) for one in standings if one.random.place == "above"))


def _digits(results: Results) -> list[Standing]:
    return compared(Found(results.rows("digits")), LOGISTIC)


def _standings(results: Results, learner: str) -> list[Standing]:
    return compared(Found(with_random(results.rows("readings"), results.rows("table3"))), learner)


def _some(places: Sequence[str], seeds: int) -> str:
    """A claim that one reading suffices for; refuted where all are below."""
    if seeds == 1:
        return "not reproduced (one seed)"
    return "reproduced" if "above" in places else "refuted" if set(places) == {"below"} else "not reproduced"


def _seeds(standings: Sequence[Standing]) -> int:
    return max(one.random.seeds for one in standings)


def _name(reading: Reading) -> str:
    return f"k = {k_text(reading.clusters)}, {reading.features}, {reading.start} start"
