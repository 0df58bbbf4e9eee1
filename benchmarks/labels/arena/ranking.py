"""Comparisons over the rows of the arena: ranks, tests over datasets, labels saved, the worst case."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from halves import halves
from scipy import stats

from mheal.evaluate.statistics import holm, labels_saved

SHARES = (20, 50, 100)  # budgets at which labels saved are reported
RANDOM = "random"


def framed(rows: list[dict[str, str]]) -> pl.DataFrame:
    """The rows, with the half of each dataset."""
    half = pl.DataFrame(list(halves().items()), schema=["dataset", "half"], orient="row")
    numbers = {"seed": pl.Int64, "labels": pl.Int64, "accuracy": pl.Float64, "balanced_accuracy": pl.Float64}
    return pl.DataFrame(rows).cast(numbers).join(half, on="dataset")


@dataclass(frozen=True)
class Arena:
    """Accuracies of some methods on the same splits, in %.

    values : (methods, units); a unit is a dataset, a seed, a learner and a number of labels
    units : the columns of the units
    """

    methods: tuple[str, ...]
    units: pl.DataFrame
    values: Any

    @classmethod
    def of(cls, rows: pl.DataFrame, methods: Sequence[str], metric: str = "accuracy") -> "Arena":
        """Of these methods, on units that all have."""
        unit = ["dataset", "seed", "learner", "labels"]
        wide = rows.filter(pl.col("method").is_in(methods)).pivot("method", index=unit, values=metric)
        wide = wide.drop_nulls().sort(unit)
        return cls(tuple(methods), wide.select(unit), 100 * wide.select(methods).to_numpy().T)

    def of_half(self, half: str) -> "Arena":
        """The units of one half of the datasets."""
        mine = [name for name, of in halves().items() if of == half]
        return self.where(self.units["dataset"].is_in(mine).to_numpy())

    def where(self, keep: Any) -> "Arena":
        """Some of the units."""
        return Arena(self.methods, self.units.filter(keep), self.values[:, keep])

    def at(self, labels: int) -> "Arena":
        """The units of one number of labels."""
        return self.where((self.units["labels"] == labels).to_numpy())

    def means(self, *by: str) -> Any:
        """Mean over the units of each value of these columns: (methods, values), in the order of the values."""
        group = self.units.select(pl.struct(by).rank("dense") - 1).to_series().to_numpy()
        count = np.bincount(group)
        return np.array([np.bincount(group, row) / count for row in self.values])

    def by_dataset(self) -> Any:
        """Mean accuracy on each dataset: (methods, datasets). All budgets and learners count the same."""
        return self.means("dataset")

    def ranks(self) -> Any:
        """Rank of each method on each dataset, 1 the best."""
        return stats.rankdata(-self.by_dataset(), axis=0)

    def friedman(self) -> float:
        """p of Friedman's test that all methods are equal."""
        return float(stats.friedmanchisquare(*self.by_dataset()).pvalue)

    def critical_difference(self) -> float:
        """Nemenyi's critical difference of mean ranks, 5 %."""
        k, n = self.ranks().shape
        return float(stats.studentized_range.ppf(0.95, k, np.inf) / 2**0.5 * (k * (k + 1) / (6 * n)) ** 0.5)

    def wilcoxon(self, ours: str) -> dict[str, tuple[float, float]]:
        """For each other method: mean difference in favour of ours, and Wilcoxon's p over datasets after Holm."""
        scores = self.by_dataset()
        mine = scores[self.methods.index(ours)]
        others = [name for name in self.methods if name != ours]
        gaps = [mine - scores[self.methods.index(name)] for name in others]
        p = holm([float(stats.wilcoxon(gap).pvalue) if gap.any() else 1.0 for gap in gaps])
        return {name: (float(gap.mean()), float(q)) for name, gap, q in zip(others, gaps, p, strict=True)}

    def saved(self, method: str) -> dict[int, float]:
        """Labels that random needs for the same accuracy, per label: the median over datasets and learners."""
        found: dict[int, list[float]] = {n: [] for n in SHARES}
        both = [self.methods.index(name) for name in (method, RANDOM)]
        means, by = self.means("dataset", "learner", "labels")[both], ["dataset", "learner"]
        cases = self.units.select(*by, "labels").unique().sort(*by, "labels").with_row_index()
        for group in cases.partition_by(by, maintain_order=True):
            budgets, (ours, theirs) = group["labels"].to_numpy(), means[:, group["index"].to_numpy()]
            savings = labels_saved(budgets, ours[None], theirs[None])
            for n, needs in zip(budgets.tolist(), savings["needs"].to_list(), strict=True):
                if n in found:
                    found[n].append(needs / n)
        return {n: float(np.median(ratios)) for n, ratios in found.items() if ratios}

    def against_random(self, method: str, least: int = 20) -> tuple[float, str, int, int]:
        """The worst mean gap to random over datasets and budgets, where it is, and the cells surely below and above.

        A cell is a dataset and a budget; a t test over seeds, after Holm, at 5 %.
        """
        arena = self.where((self.units["labels"] >= least).to_numpy())
        gap = arena.values[arena.methods.index(method)] - arena.values[arena.methods.index(RANDOM)]
        cells = arena.units.with_columns(gap=pl.Series(gap)).group_by("dataset", "labels", "seed").agg(pl.mean("gap"))
        groups = cells.group_by("dataset", "labels", maintain_order=True).agg(pl.col("gap"))
        worst = min(groups.iter_rows(), key=lambda row: np.mean(row[2]))
        tests = [(np.mean(g), stats.ttest_1samp(g, 0).pvalue if np.ptp(g) > 0 else 1.0) for *_, g in groups.iter_rows()]
        sure = holm([p for _, p in tests]) < 0.05
        signs = [np.sign(mean) for (mean, _), certain in zip(tests, sure, strict=True) if certain]
        return float(np.mean(worst[2])), f"{worst[0]}, {worst[1]}", signs.count(-1), signs.count(1)
