"""The readings that are compared, and the order in which they are measured: the most informative first."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...rows import Key, Row

PAPER, CONTROL, RANDOM = "MHEAL (paper)", "random row per cluster", "Random"
METHODS = (PAPER, CONTROL)
BUDGETS = (100, 200, 300, 500)
CLUSTERS: tuple[int | None, ...] = (10, 20, 50, 100, 200, None)  # None: as many as labels
STARTS = ("cold", "warm")
RANDOM_SEEDS = 20  # of Random with a support vector machine, which takes a second
PIXELS = ("unit pixels", "pixels")
LEARNT = ("DEC codes", "moved codes")  # features of autoencoders, which take hours to train without a GPU
PENULTIMATE = "penultimate features"  # features of the network that is trained on the labels so far
SPACES = ("codes", *PIXELS, *LEARNT, PENULTIMATE)
NETWORK, SVM, LOGISTIC = "network", "SVM", "logistic regression"
EQUAL, BY_SIZE = "equal", "by size"  # quotas: rows of each cluster
FIRST_CLUSTERS: tuple[int | None, ...] = (10, 100, None, 50, 200, 20)  # in the order of measuring


class Reading(NamedTuple):
    """One choice for everything that the paper leaves open, and the classifier that is trained on the labels.

    space : features that the algorithm picks from
    clusters : number of clusters; None: as many as labels
    start : "warm": 20 random labels come first and count, "cold": all labels are picked
    quota : picks of each cluster: "equal", or "by size", in proportion to its rows
    """

    learner: str
    space: str
    clusters: int | None
    start: str
    quota: str = EQUAL

    @property
    def setting(self) -> str:
        """The text by which rows name this reading."""
        return f"{self.learner}, {self.space}, k = {k_text(self.clusters)}, {self.start}{self._other_quota}"

    @property
    def features(self) -> str:
        """The text by which pages name the features, and the quota if it is not the usual one."""
        return self.space + self._other_quota

    @property
    def _other_quota(self) -> str:
        return "" if self.quota == EQUAL else f", quota {self.quota}"

    @property
    def columns(self) -> Row:
        """The reading as columns of a row."""
        values = (self.learner, self.space, k_text(self.clusters), self.start, self.quota)
        return dict(zip(self._fields, values, strict=True))


class Stage(NamedTuple):
    """Readings that are measured together."""

    space: str
    quota: str = EQUAL
    learners: tuple[str, ...] = (NETWORK, SVM)
    starts: tuple[str, ...] = STARTS[::-1]


STAGES = (
    *(Stage(space) for space in SPACES if space != PENULTIMATE),
    Stage("codes", BY_SIZE),
    Stage(PENULTIMATE, learners=(NETWORK,), starts=("warm",)),  # a network needs labels to have features
)


def k_text(clusters: int | None) -> str:
    """The number of clusters as rows and pages name it."""
    return "labels" if clusters is None else str(clusters)


def random_setting(learner: str) -> str:
    """The setting of Random in the rows, which has no clusters and a cold start."""
    return f"{learner}, all rows"


def by_setting() -> dict[str, Reading]:
    """Readings by the setting in which rows name them, in the order of pages."""
    found = [
        Reading(learner, stage.space, clusters, start, stage.quota)
        for learner in (NETWORK, SVM)
        for stage in STAGES
        if learner in stage.learners
        for start in STARTS
        if start in stage.starts
        for clusters in CLUSTERS
    ]
    found += [Reading(LOGISTIC, PIXELS[0], clusters, STARTS[0]) for clusters in CLUSTERS]  # of the digits
    return {one.setting: one for one in found}


def ordered_groups(seeds: int, spaces: Sequence[str]) -> Iterator[list[list[Key]]]:
    """Groups of rows that share clusters; in a group, rows that are measured together.

    A key is (dataset, method, setting, seed).
    """
    yield [[("mnist", RANDOM, random_setting(SVM), seed)] for seed in range(RANDOM_SEEDS)]
    yield [[("mnist", RANDOM, random_setting(NETWORK), seed) for seed in range(seeds)]]
    for stage in (one for one in STAGES if one.space in spaces):
        for seed in range(seeds):
            for clusters in FIRST_CLUSTERS:
                some = [
                    Reading(learner, stage.space, clusters, start, stage.quota)
                    for start in stage.starts
                    for learner in stage.learners
                ]
                yield [[("mnist", method, one.setting, seed) for method in METHODS] for one in some]


def ordered_units(seeds: int, spaces: Sequence[str] = SPACES) -> list[Key]:
    """The key of every row, in the order of measuring."""
    return [unit for group in ordered_groups(seeds, spaces) for part in group for unit in part]
