"""The readings that are compared, and the order in which they are measured: what tells most comes first."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...rows import Key, Row

PAPER, CONTROL, RANDOM = "MHEAL (paper)", "random row per cluster", "Random"
METHODS = (PAPER, CONTROL)
BUDGETS = (100, 200, 300, 500)
CLUSTERS: tuple[int | None, ...] = (10, 20, 50, 100, 200, None)  # None: as many as labels
STARTS = ("cold", "warm")
RANDOM_SEEDS = 20  # of Random with a support vector machine, which takes a second
SPACES = ("codes", "unit pixels", "pixels")
LEARNT_SPACES = ("moved codes", "DEC codes")  # by autoencoders that are trained for hours without a GPU
NETWORK, SVM, LOGISTIC = "network", "SVM", "logistic regression"
FIRST_SPACES, FIRST_CLUSTERS, CONTROLLED = SPACES[:2], (100, 10, None, 50, 200), (100,)


class Reading(NamedTuple):
    """What the paper leaves open, and the classifier that learns from the labels.

    space : what the algorithm picks from
    clusters : how many; None: as many as labels
    start : "warm": 20 random labels come first and count, "cold": all labels are picked
    """

    learner: str
    space: str
    clusters: int | None
    start: str

    @property
    def setting(self) -> str:
        """As the rows name it."""
        return f"{self.learner}, {self.space}, k = {k_text(self.clusters)}, {self.start}"

    @property
    def columns(self) -> Row:
        """As columns of a row."""
        return dict(zip(self._fields, (self.learner, self.space, k_text(self.clusters), self.start), strict=True))


def k_text(clusters: int | None) -> str:
    """The number of clusters as rows and pages name it."""
    return "labels" if clusters is None else str(clusters)


def random_setting(learner: str) -> str:
    """Random uses no clusters, and picks at random from the start."""
    return f"{learner}, all rows"


def readings(learner: str, spaces: Sequence[str] = SPACES, starts: Sequence[str] = STARTS) -> Iterator[Reading]:
    """All of a learner."""
    for space in spaces:
        for start in starts:
            for clusters in CLUSTERS:
                yield Reading(learner, space, clusters, start)


def by_setting(spaces: Sequence[str] = SPACES + LEARNT_SPACES) -> dict[str, Reading]:
    """Readings by the setting in which rows name them."""
    return {one.setting: one for learner in (NETWORK, SVM, LOGISTIC) for one in readings(learner, spaces)}


def ordered_units(seeds: int, spaces: Sequence[str]) -> list[Key]:
    """(dataset, method, setting, seed) of every row, those that tell most for their time first."""
    every = range(seeds)
    units: list[Key] = [("mnist", RANDOM, random_setting(SVM), seed) for seed in range(RANDOM_SEEDS)]
    units += [unit for seed in every for unit in _machines(seed, FIRST_SPACES[:1])]
    units += [unit for seed in every for unit in _networks(seed, FIRST_SPACES[:1], FIRST_CLUSTERS[:3])]
    units += [unit for seed in every for unit in _machines(seed, FIRST_SPACES)]
    units += [unit for seed in every for unit in _networks(seed, FIRST_SPACES, FIRST_CLUSTERS)]
    units += [unit for seed in every for unit in _machines(seed, spaces)]
    for seed in every:
        units.append(("mnist", RANDOM, random_setting(NETWORK), seed))
        for one in readings(NETWORK, spaces, STARTS[::-1]):
            units += [("mnist", method, one.setting, seed) for method in METHODS]
    return list(dict.fromkeys(units))


def _machines(seed: int, spaces: Sequence[str]) -> Iterator[Key]:
    """Support vector machines, for all readings."""
    for one in readings(SVM, spaces):
        for method in METHODS:
            yield "mnist", method, one.setting, seed


def _networks(seed: int, spaces: Sequence[str], numbers: Sequence[int | None]) -> Iterator[Key]:
    """Networks, from a warm start; where all numbers of clusters are wanted, a control too."""
    for space in spaces:
        for clusters in numbers:
            setting = Reading(NETWORK, space, clusters, "warm").setting
            yield "mnist", PAPER, setting, seed
            if clusters in CONTROLLED and len(numbers) == len(FIRST_CLUSTERS):
                yield "mnist", CONTROL, setting, seed
