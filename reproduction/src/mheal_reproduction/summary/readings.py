"""Readings: does the published algorithm beat random labels on MNIST under any reading that the paper leaves open?"""

from collections.abc import Iterator, Sequence

from ..paper.images.words import signed
from ..paper.readings.grid import NETWORK, SVM, Reading, k_text
from ..paper.readings.numbers import Found, Standing, with_random
from .entries import Entry, Results

LEARNERS = {NETWORK: "the network of Table 3", SVM: "a support vector machine"}


def first_line(results: Results) -> str:
    """What a reader of the paper wants to know first."""
    words = []
    for learner, title in LEARNERS.items():
        standings = _standings(results, learner)
        above = [one for one in standings if one.random.place == "above"]
        if standings:
            note = " (one seed)" if _seeds(standings) == 1 else ""
            words.append(f"with {title} in {len(above)} of {len(standings)} readings{note}")
    return f"On MNIST the published algorithm is better than random labels {' and '.join(words)}." if words else ""


def entries(results: Results) -> Iterator[Entry]:
    """Against Random and what the energy adds, with each learner."""
    for learner, title in LEARNERS.items():
        standings = _standings(results, learner)
        if standings:
            places = [one.random.place for one in standings]
            best = max(standings, key=lambda one: one.random.mean)
            why = f"above it in {places.count('above')} of {len(places)} readings, below in {places.count('below')}"
            why += f"; best with {_name(best.reading)}: {best.random.words} points"
            claim = f"MHEAL is better than random labels on MNIST, with {title}, under some reading"
            yield Entry("readings", "readings", claim, _some(places, _seeds(standings)), why)
        controlled = [one for one in standings if len(one.control)]
        if controlled:
            energy = [one.energy for one in controlled]
            means = [float(one.control.mean()) for one in controlled]
            why = f"against a random row of the same cluster {signed(min(means))} to {signed(max(means))} points; "
            why += f"above in {energy.count('above')} of {len(energy)} readings, below in {energy.count('below')}"
            claim = f"the energy adds to the clusters, with {title}, under some reading"
            yield Entry("readings", "readings", claim, _some(energy, _seeds(controlled)), why)


def _standings(results: Results, learner: str) -> list[Standing]:
    """Those that can be compared with Random; where some have several seeds, these alone."""
    found = Found(with_random(results.rows("readings"), results.rows("table3")))
    standings = [found.standing(one) for one in found.readings if one.learner == learner]
    most = max((one.random.seeds for one in standings), default=0)
    return [one for one in standings if one.random.seeds >= min(most, 2) > 0]


def _some(places: Sequence[str], seeds: int) -> str:
    """A claim that one reading suffices for; refuted where all are below."""
    if seeds == 1:
        return "not reproduced (one seed)"
    return "reproduced" if "above" in places else "refuted" if set(places) == {"below"} else "not reproduced"


def _seeds(standings: Sequence[Standing]) -> int:
    return max(one.random.seeds for one in standings)


def _name(reading: Reading) -> str:
    return f"k = {k_text(reading.clusters)}, {reading.space}, {reading.start} start"
