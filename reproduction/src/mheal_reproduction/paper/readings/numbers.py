"""The rows of the readings, by what they are about, and what is compared."""

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ...report import Floats
from ...rows import Row
from ..images.published import accuracies
from ..images.words import above
from .grid import CONTROL, PAPER, RANDOM, Reading, by_setting, random_setting

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
        return np.array([by_seed[seed] for seed in sorted(by_seed)]).reshape(-1, len(self.budgets))

    def gain(self, one: tuple[str, str], other: tuple[str, str]) -> Floats:
        """Accuracy of one (method, setting) minus that of another, for each seed that both have."""
        mine, theirs = self._found.get(one, {}), self._found.get(other, {})
        both = sorted(mine.keys() & theirs.keys())
        return np.array([mine[seed] - theirs[seed] for seed in both]).reshape(-1, len(self.budgets))

    def standing(self, reading: Reading) -> "Standing":
        """A reading beside Random, the control and the paper's numbers."""
        ours = (PAPER, reading.setting)
        random = self.gain(ours, (RANDOM, random_setting(reading.learner))).mean(axis=1)
        control = self.gain(ours, (CONTROL, reading.setting)).mean(axis=1)
        printed = [accuracies("clean", "mnist")["MHEAL"].get(n, np.nan) for n in self.budgets]
        off = float(np.abs(self.curves(*ours).mean(axis=0) - printed).mean())
        return Standing(reading, random, control, off)


class Standing(NamedTuple):
    """A reading against Random and against random rows of its clusters, mean over the numbers of labels, by seed.

    off : mean distance of its mean accuracies from the paper's numbers
    """

    reading: Reading
    random: Floats
    control: Floats
    off: float

    @property
    def place(self) -> str:
        """Above, level with or below Random; – where nothing was compared."""
        return PLACES[above(self.random)] if len(self.random) else "–"

    @property
    def energy(self) -> str:
        """Whether the energy adds to the clusters: above, level with or below the control."""
        return PLACES[above(self.control)] if len(self.control) else "–"
