"""An entry of the summary, the rows that entries are made from, and phrases that several entries use."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..report import Values
from ..rows import Row, stored_rows


class Entry(NamedTuple):
    """A claim or a question, the folder of its page and its title there, a verdict or an answer, and why."""

    folder: str
    title: str
    claim: str
    verdict: str
    why: str = ""


class Results:
    """The rows of every folder of results, read when they are needed."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self._rows: dict[str, list[Row]] = {}

    def rows(self, folder: str) -> list[Row]:
        """The rows of a folder; none where there are none."""
        if folder not in self._rows:
            self._rows[folder] = stored_rows(self.home / folder)
        return self._rows[folder]

    def stopped(self, folder: str) -> list[Row]:
        """Rows of runs that were stopped early, which the pages do not show."""
        text = (self.home / folder / "stopped_rows.jsonl").read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines()]

    def values(self, folder: str) -> Values:
        """The rows of a folder as `Values`."""
        return Values(self.rows(folder))


def judged(answers: Sequence[str]) -> str:
    """A verdict on a claim about all of them: "yes", "no" or "no difference"."""
    found = set(answers)
    return "reproduced" if found == {"yes"} else "refuted" if found == {"no"} else "not reproduced"


def by_name(verdicts: dict[str, str]) -> str:
    """Verdicts on several datasets: one where they agree."""
    if len(set(verdicts.values())) == 1:
        return next(iter(verdicts.values()))
    return ", ".join(f"{verdict} on {name}" for name, verdict in verdicts.items())


def span(values: Sequence[float], digits: int = 1) -> str:
    """The smallest and the largest."""
    low, high = (f"{end(values):.{digits}f}" for end in (min, max))
    return low if low == high else f"{low} to {high}"


def dataset(name: str) -> str:
    """The name of a dataset as text has it."""
    written = {"mnist": "MNIST", "fashion_mnist": "Fashion-MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}
    return written.get(name, name.capitalize())
