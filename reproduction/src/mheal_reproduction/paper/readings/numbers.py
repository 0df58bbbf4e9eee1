"""The rows of the readings, looked up by method, setting and seed, and their comparisons."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy import stats

from ...report import Floats, percent
from ...rows import Row
from ..images.published import accuracies
from ..images.words import above, signed
from .grid import CONTROL, NETWORK, PAPER, RANDOM, Reading, by_setting, random_setting

PLACES = {"yes": "above", "no difference": "level", "no": "below"}


class Found:
    """Accuracies by method, setting, seed and number of labels."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._found: dict[tuple[str, str], dict[int, Floats]] = defaultdict(dict)
        self.budgets: tuple[int, ...] = ()
        for row in self.rows:
            self.budgets = tuple(map(int, row["accuracy"]))
            self._found[row["method"], row["setting"]][row["seed"]] = np.array(list(row["accuracy"].values()))
        known = by_setting()
        self.readings = [one for one in known.values() if (PAPER, one.setting) in self._found]

    def curves(self, method: str, setting: str) -> Floats:
        """(seeds, numbers of labels)."""
        by_seed = self._found.get((method, setting), {})
        return np.array([by_seed[seed] for seed in sorted(by_seed)]).reshape(len(by_seed), len(self.budgets))

    def gain(self, one: tuple[str, str], other: tuple[str, str]) -> Floats:
        """Accuracy of one (method, setting) minus that of another, for each seed that both have."""
        mine, theirs = self._found.get(one, {}), self._found.get(other, {})
        both = sorted(mine.keys() & theirs.keys())
        return np.array([mine[seed] - theirs[seed] for seed in both]).reshape(len(both), len(self.budgets))

    def standing(self, reading: Reading) -> "Standing":
        """The comparison of a reading with Random, the control and the paper's numbers."""
        ours = (PAPER, reading.setting)
        means = (self.curves(*who).mean(axis=1) for who in (ours, (RANDOM, random_setting(reading.learner))))
        random = Difference.of(*means)
        control = self.gain(ours, (CONTROL, reading.setting)).mean(axis=1)
        printed = [accuracies("clean", "mnist")["MHEAL"].get(n, np.nan) for n in self.budgets]
        off = float(np.abs(self.curves(*ours).mean(axis=0) - printed).mean())
        return Standing(reading, random, control, off)


def compared(found: Found, learner: str) -> list["Standing"]:
    """Readings that can be compared with Random; if some have several seeds, only these."""
    standings = [found.standing(one) for one in found.readings if one.learner == learner]
    most = max((one.random.seeds for one in standings), default=0)
    return [one for one in standings if one.random.seeds >= min(most, 2) > 0]


class Difference(NamedTuple):
    """Mean of some values minus that of others, and half of the 95 % interval by Welch: the two are not paired."""

    mean: float
    half: float  # NaN for a single value of ours
    seeds: int  # of ours

    @classmethod
    def of(cls, ours: Floats, others: Floats) -> "Difference":
        """Of two samples; without others there is no difference."""
        if not len(ours) or not len(others):
            return cls(float("nan"), float("nan"), 0)
        mean = float(ours.mean() - others.mean())
        if min(len(ours), len(others)) < 2:
            return cls(mean, float("nan"), len(ours))
        a, b = (one.var(ddof=1) / len(one) for one in (ours, others))
        freedom = (a + b) ** 2 / (a**2 / (len(ours) - 1) + b**2 / (len(others) - 1)) if a + b else 1.0
        return cls(mean, float(stats.t.ppf(0.975, freedom) * np.sqrt(a + b)), len(ours))

    @property
    def place(self) -> str:
        """Above, level or below; one seed by its sign, – without a comparison."""
        if not self.seeds:
            return "–"
        half = self.half if np.isfinite(self.half) else 0.0
        return "above" if self.mean > half else "below" if self.mean < -half else "level"

    @property
    def words(self) -> str:
        """In points."""
        if not self.seeds:
            return "–"
        return (
            f"{signed(self.mean)} ± {percent(self.half)}"
            if np.isfinite(self.half)
            else f"{signed(self.mean)}, one seed"
        )


class Standing(NamedTuple):
    """A reading against Random and against random rows of its clusters, mean over the numbers of labels.

    control : paired by seed, because both use the same clusters
    off : mean distance of its mean accuracies from the paper's numbers
    """

    reading: Reading
    random: Difference
    control: Floats
    off: float

    @property
    def energy(self) -> str:
        """Whether the energy adds to the clusters: above, level with or below the control."""
        return PLACES[above(self.control)] if len(self.control) else "–"


def with_random(rows: Sequence[Row], table3: Iterable[Row]) -> list[Row]:
    """The rows, and the rows of Random in Table 3 at the same numbers of labels, with other seeds."""
    if not rows:
        return []
    budgets, setting = list(rows[0]["accuracy"]), random_setting(NETWORK)
    free = 1 + max(row["seed"] for row in rows)
    more = [row for row in table3 if (row["dataset"], row["method"]) == ("mnist", RANDOM)]
    return [*rows] + [
        row | {"setting": setting, "seed": free + row["seed"], "learner": NETWORK, "borrowed": True}
        | {"accuracy": {n: row["accuracy"][n] for n in budgets}}
        for row in more
        if set(budgets) <= set(row["accuracy"])
    ]  # fmt: skip
