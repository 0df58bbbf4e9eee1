"""Table 1's numbers: the paper's, ours, and whether a claim holds in them."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mheal.evaluate.statistics import t_interval

from ...report import Floats, compare, percent
from ...rows import Row
from .names import METHODS, full

VERDICTS = {"yes": "reproduced", "no": "refuted", "no difference": "not reproduced"}


class Line(NamedTuple):
    """A line of Table 1: the best of six sizes, and mean and standard deviation over them."""

    at: int
    optimum: float
    mean: float
    std: float

    @classmethod
    def over(cls, sizes: Sequence[int], accuracy: Floats) -> "Line":
        """That of accuracies at these sizes."""
        best = int(accuracy.argmax())
        return cls(sizes[best], float(accuracy[best]), float(accuracy.mean()), float(accuracy.std()))


PAPER = {
    ("mnist", "K-means"): Line(40_000, 0.53961, 0.5298, 0.0095),
    ("mnist", "GMM"): Line(30_000, 0.41239, 0.3695, 0.0420),
    ("mnist", "SphericalKMeans"): Line(60_000, 0.55188, 0.5490, 0.0025),
    ("mnist", "K-means+Auto+DEC"): Line(60_000, 0.96221, 0.9257, 0.0490),
    ("mnist", "GMM+Auto+DEC"): Line(60_000, 0.96256, 0.8615, 0.0536),
    ("mnist", "SphericalKMeans+Auto+DEC"): Line(60_000, 0.96864, 0.9362, 0.0172),
    ("fashion_mnist", "K-means"): Line(40_000, 0.55031, 0.5083, 0.0372),
    ("fashion_mnist", "GMM"): Line(50_000, 0.52611, 0.4566, 0.0391),
    ("fashion_mnist", "SphericalKMeans"): Line(10_000, 0.53125, 0.5262, 0.0050),
    ("fashion_mnist", "K-means+Auto+DEC"): Line(60_000, 0.62419, 0.5821, 0.0309),
    ("fashion_mnist", "GMM+Auto+DEC"): Line(60_000, 0.61319, 0.5743, 0.0307),
    ("fashion_mnist", "SphericalKMeans+Auto+DEC"): Line(60_000, 0.63448, 0.6133, 0.0230),
}


class Claim(NamedTuple):
    """That one method leads the others in a column of the table; `sign` is −1 where less is more."""

    words: str
    column: str
    leader: str
    others: tuple[str, ...]
    sign: int = 1

    def lead(self, lines: dict[str, Line]) -> float:
        """By how much the claim holds; negative if it does not."""
        value = {method: self.sign * getattr(line, self.column) for method, line in lines.items()}
        return float(value[self.leader] - max(value[other] for other in self.others))


BEST_OPTIMUM = Claim("SphericalKMeans has the best optimum", "optimum", "SphericalKMeans", ("K-means", "GMM"))
LEAST_STD = Claim("SphericalKMeans varies least with n", "std", "SphericalKMeans", ("K-means", "GMM"), -1)
GMM_LAST = Claim(
    "GMM is the least accurate, mean over n (in the table, not in the text)",
    "mean",
    "GMM",
    ("K-means", "SphericalKMeans"),
    -1,
)


class Accuracies:
    """The rows, looked up by dataset, method (without +Auto+DEC), variant, size and seed.

    Statistics are over the sizes `table`; there may be others, and some may be missing.
    """

    def __init__(self, rows: Iterable[Row], table: Sequence[int]) -> None:
        self.table = list(table)
        self._found: dict[tuple[str, str, str, int], dict[int, Row]] = {}
        for row in rows:
            method, _, deep = row["method"].partition("+")
            size, _, starts = row["setting"].removeprefix("n=").partition(" ")
            cell = self._found.setdefault((row["dataset"], method, deep or starts, int(size)), {})
            cell[row["seed"]] = row

    def sizes(self, name: str, method: str, variant: str) -> list[int]:
        """The numbers of images that were clustered."""
        return sorted(key[3] for key in self._found if key[:3] == (name, method, variant))

    def rows(self, variants: Sequence[str]) -> list[Row]:
        """All rows of some variants."""
        return [row for key, cell in self._found.items() if key[2] in variants for row in cell.values()]

    def seeds(self, variants: Sequence[str]) -> int:
        """How many seeds some variants have."""
        return len({row["seed"] for row in self.rows(variants)})

    def column(self, name: str, method: str, variant: str, n: int, what: str = "accuracy") -> Floats:
        """One value a seed."""
        cell = self._found.get((name, method, variant, n), {})
        return np.array([cell[seed][what] for seed in sorted(cell)])

    def common(self, name: str, lines: Sequence[tuple[str, str]]) -> tuple[list[int], list[Floats]]:
        """The table's sizes that all these (method, variant) have, and a grid for each, (seeds, sizes).

        Seeds are those that all have at all of these sizes, so grids are paired; without any there are no grids.
        """
        sizes = [n for n in self.table if all((name, *line, n) in self._found for line in lines)]
        cells = [[self._found[name, *line, n] for n in sizes] for line in lines]
        seeds = sorted(set.intersection(*(set(cell) for row in cells for cell in row))) if sizes else []
        grids = [np.array([[cell[seed]["accuracy"] for cell in row] for seed in seeds]) for row in cells]
        return (sizes, grids) if seeds else ([], [])

    def grids(self, name: str, variant: str) -> tuple[list[int], dict[str, Floats]]:
        """The same for all methods of a variant, by method."""
        sizes, grids = self.common(name, [(method, variant) for method in METHODS])
        return sizes, dict(zip(METHODS, grids, strict=True)) if sizes else {}

    def judge(self, claim: Claim, name: str, variant: str) -> str:
        """By how much a claim holds among the methods of a variant, and a verdict."""
        leads, sizes = self._leads(claim, name, variant)
        return self.described(leads, sizes, _least(claim))

    def verdict(self, claim: Claim, name: str, variant: str) -> str:
        """The verdict alone."""
        leads, sizes = self._leads(claim, name, variant)
        return _verdict(leads) if self._enough(leads, sizes, _least(claim)) else "not judged"

    def described(self, leads: npt.ArrayLike, sizes: Sequence[int], least: int = 1) -> str:
        """Leads, one for each seed: the mean, and a verdict if there are enough seeds and sizes."""
        leads = np.asarray(leads)
        if not self._enough(leads, sizes, least):
            return "too few runs" if len(leads) else "no rows"
        return f"{interval(leads)}: {_verdict(leads)}{self.partly(sizes)}"

    def _leads(self, claim: Claim, name: str, variant: str) -> tuple[Floats, list[int]]:
        sizes, grids = self.grids(name, variant)
        runs = zip(*grids.values(), strict=True)
        leads = [claim.lead({m: Line.over(sizes, row) for m, row in zip(METHODS, run, strict=True)}) for run in runs]
        return np.array(leads), sizes

    def _enough(self, leads: Floats, sizes: Sequence[int], least: int) -> bool:
        return len(leads) >= 2 and len(sizes) >= least

    def partly(self, sizes: Sequence[int]) -> str:
        """A note for where some of the table's sizes are missing."""
        return "" if len(sizes) == len(self.table) else f" ({len(sizes)} of {len(self.table)} sizes)"


def _verdict(leads: Floats) -> str:
    return VERDICTS[compare(np.zeros(len(leads)), leads)]


def _least(claim: Claim) -> int:
    """Sizes that a claim needs."""
    return 2 if claim.column == "std" else 1


def paper_lines(name: str, variant: str) -> dict[str, Line]:
    """The paper's lines of a dataset, by method, on pixels or with DEC."""
    return {method: PAPER[name, full(method, variant)] for method in METHODS}


def interval(differences: npt.ArrayLike) -> str:
    """Mean and 95 % interval of differences, in points."""
    mean, half = t_interval(differences)
    return f"{100 * mean:+.1f}" + (f" ± {100 * half:.1f}" if np.isfinite(half) else "")


def mean_sd(values: Floats) -> str:
    """Mean and standard deviation, in per cent."""
    return percent(values) + (f" ± {100 * values.std(ddof=1):.1f}" if len(values) > 1 else "")
