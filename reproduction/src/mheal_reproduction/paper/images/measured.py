"""The measurements of Tables 3, 4 and 5, looked up by dataset, method and number of labels."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from ...report import Floats
from ...rows import Row
from .published import BUDGETS


class Measured:
    """The rows, looked up by dataset, method and number of labels."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows = list(rows)
        self._found: dict[tuple[str, str, str, int], dict[int, float]] = defaultdict(dict)
        for row in self.rows:
            for measure in ("accuracy", "copies", "wrong"):
                for n, value in row.get(measure, {}).items():
                    self._found[row["dataset"], row["method"], measure, int(n)][row["seed"]] = value
        self.datasets = [name for name in BUDGETS if any(row["dataset"] == name for row in self.rows)]

    def by_seed(self, name: str, title: str, n: int, measure: str = "accuracy") -> dict[int, float]:
        """The measurements with n labels, by seed; {} if there are none."""
        return self._found.get((name, title, measure, n), {})

    def values(self, name: str, title: str, n: int, measure: str = "accuracy") -> Floats:
        """The same as an array."""
        return np.array(list(self.by_seed(name, title, n, measure).values()))

    def gain(self, name: str, one: str, other: str, n: int) -> Floats:
        """Accuracy of one method minus that of another, for each seed that both have."""
        mine, theirs = self.by_seed(name, one, n), self.by_seed(name, other, n)
        return np.array([mine[seed] - theirs[seed] for seed in sorted(mine.keys() & theirs.keys())])

    def change(self, before: "Measured", name: str, title: str, places: Sequence[int]) -> dict[int, list[float]]:
        """Accuracy of a method minus what it was before, at these places, by seed; for seeds that have them all."""
        pairs = [(self.by_seed(name, title, n), before.by_seed(name, title, n)) for n in places]
        seeds = set[int].intersection(*(now.keys() & then.keys() for now, then in pairs))
        return {seed: [now[seed] - then[seed] for now, then in pairs] for seed in sorted(seeds)}

    def seeds(self, name: str, title: str) -> int:
        """The number of seeds of a method."""
        return sum((row["dataset"], row["method"]) == (name, title) for row in self.rows)

    def columns(self, name: str) -> list[int]:
        """The numbers of labels at which accuracy was measured."""
        return sorted({key[3] for key in self._found if (key[0], key[2]) == (name, "accuracy")})

    def after_start(self, name: str) -> list[int]:
        """The same without those at which all methods of a seed have the same labels, because none has picked yet."""
        return [n for n in self.columns(name) if not self._alike(name, n)]

    def _alike(self, name: str, n: int) -> bool:
        methods = [
            found
            for (dataset, _, measure, at), found in self._found.items()
            if (dataset, measure, at) == (name, "accuracy", n)
        ]
        seen: dict[int, set[float]] = defaultdict(set)
        for seed, value in (pair for found in methods for pair in found.items()):
            seen[seed].add(value)
        return len(methods) > 1 and all(len(values) == 1 for values in seen.values())
