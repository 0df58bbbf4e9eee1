"""Learning curves: a metric against the number of labels, for each strategy and seed, and their statistics."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars
from scipy import stats

from ..exceptions import UserError
from ..runtime.files import reading, replacing
from .statistics import FEWEST, SKEWED, Floats, area, holm, labels_saved, median_saved, paired_tests, t_interval

Row = dict[str, Any]
"""One measurement: strategy, seed, estimator, number of labels, the metrics by name (accuracy and balanced_accuracy
always), the share of the largest class, and the seconds spent picking so far. A ranked strategy picks once, so its
seconds are the same at all budgets."""

ALWAYS = ("accuracy", "balanced_accuracy")  # measured in addition to the metric
Curve = dict[int, float]  # the metric by number of labels
FIRST: dict[str, type] = dict(strategy=str, seed=int, estimator=str, labels=int)  # the columns before the metrics


@dataclass(frozen=True)
class Curves:
    """The measurements of a simulation with one estimator, in any order, and their statistics.

    Statistics are about `metric` (larger is better) at the budgets that all curves share. Strategies may have different
    seeds: comparisons are paired over the seeds that they share.
    """

    rows: Sequence[Row]
    metric: str = "accuracy"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", tuple(self.rows))
        if not self.rows:
            raise UserError("there are no rows: simulate at least one strategy")
        if missing := [name for name in (*FIRST, self.metric) if any(name not in row for row in self.rows)]:
            raise UserError(f"some rows have no {missing[0]!r}: measure it for all of them")
        if len(estimators := sorted({row["estimator"] for row in self.rows})) > 1:
            raise UserError(f"the rows are of estimators {' and '.join(estimators)}: make one Curves for each")
        if not len(self.budgets):
            raise UserError("the curves have no budget in common: simulate all strategies with the same budgets")

    def __repr__(self) -> str:
        what = f"{', '.join(self.strategies)}; {self.metric} with {', '.join(map(str, self.budgets))} labels"
        return f"Curves({what}; {len({row['seed'] for row in self.rows})} seeds)"

    @property
    def estimator(self) -> str:
        """Name of the classifier."""
        return self.rows[0]["estimator"]

    @property
    def metric_title(self) -> str:
        """The metric's name for use in a sentence."""
        words = self.metric.replace("_", " ")
        return f"{words.removeprefix('f1 ')} F1" if words.startswith("f1 ") else words

    @cached_property
    def beside(self) -> list["Curves"]:
        """The same curves by accuracy and balanced accuracy, if one class has over 60 % of the rows; else empty."""
        skewed = max(row.get("largest_class", 0) for row in self.rows) > SKEWED
        return [Curves(self.rows, metric) for metric in ALWAYS if skewed and metric != self.metric]

    @cached_property
    def is_share(self) -> bool:
        """Whether all values lie between 0 and 1; such metrics are shown in percent."""
        return all(0 <= row[self.metric] <= 1 for row in self.rows)

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies, in the order they first appear."""
        return tuple(self._by_unit)

    @cached_property
    def budgets(self) -> npt.NDArray[np.int64]:
        """Numbers of labels at which every curve was measured, ascending."""
        curves = [set(curve) for of_seed in self._by_unit.values() for curve in of_seed.values()]
        return np.array(sorted(set.intersection(*curves)), np.int64)

    def seeds(self, *strategies: str) -> list[int]:
        """The seeds that all these strategies share, ascending; without names, those that all strategies share."""
        return sorted(set.intersection(*(set(self._of(name)) for name in strategies or self.strategies)))

    def values(self, strategy: str, seeds: Iterable[int] | None = None) -> Floats:
        """The metric, of shape (seeds, budgets), for these seeds; by default all of the strategy's."""
        curves, budgets = self._of(strategy), self.budgets.tolist()
        chosen = sorted(curves) if seeds is None else seeds
        return np.array([[curves[seed][n] for n in budgets] for seed in chosen]).reshape(-1, len(budgets))

    def others(self, against: str) -> list[str]:
        """All strategies except `against`, with which they are compared."""
        self._of(against)
        return [name for name in self.strategies if name != against]

    def paired(self, strategy: str, against: str) -> tuple[Floats, Floats]:
        """The values of both for the seeds they share, of shape (seeds, budgets)."""
        if not (seeds := self.seeds(strategy, against)):
            raise UserError(f"{strategy} and {against} share no seed: simulate both with the same seeds")
        return self.values(strategy, seeds), self.values(against, seeds)

    @cached_property
    def _by_unit(self) -> dict[str, dict[int, Curve]]:
        table: dict[str, dict[int, Curve]] = {}
        for row in self.rows:
            curve = table.setdefault(row["strategy"], {}).setdefault(row["seed"], {})
            if row["labels"] in curve:
                where = f"{row['strategy']}, seed {row['seed']}, {row['labels']} labels"
                raise UserError(f"there are two rows for {where}: keep one")
            curve[row["labels"]] = row[self.metric]
        return table

    def _of(self, strategy: str) -> dict[int, Curve]:
        if strategy not in self._by_unit:
            raise UserError(f"there are no rows of {strategy!r}, only of {', '.join(self.strategies)}: simulate it too")
        return self._by_unit[strategy]

    def save_csv(self, path: str | PathLike[str]) -> None:
        """Write all rows at full precision. An interrupted call writes nothing."""
        metrics = dict.fromkeys(name for row in self.rows for name in row if name not in FIRST and name != "seconds")
        with replacing(Path(path)) as part, part.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, [*FIRST, *metrics, "seconds"])
            writer.writeheader()
            writer.writerows(self.rows)

    @classmethod
    def from_csv(cls, path: str | PathLike[str], metric: str = "accuracy") -> "Curves":
        """Read back what `save_csv` wrote."""
        path = Path(path)
        rows: list[Row] = []
        with reading(path), path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            columns = reader.fieldnames or ()
            if missing := [name for name in (*FIRST, metric, "seconds") if name not in columns]:
                raise UserError(f"{path.name} has no column {missing[0]!r}: is it a file saved by mheal?")
            for line in reader:
                try:
                    rows.append({name: FIRST.get(name, float)(line[name]) for name in columns if line[name] != ""})
                except (TypeError, ValueError) as error:
                    raise UserError(f"{path.name}, line {reader.line_num}: {error}: repair or delete it") from None
        if not rows:
            raise UserError(f"{path.name} has no rows: delete it and simulate again")
        return cls(rows, metric)

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the mean of the metric against labels with 95 % t intervals, as a PNG file."""
        from .plots import curves_picture

        with replacing(Path(path)) as part:
            part.write_bytes(curves_picture(self))

    def aulc(self, strategy: str) -> Floats:
        """(seeds,) areas under the curves over the range of labels: the mean height of each curve."""
        return np.asarray(area(self.budgets, self.values(strategy)))

    def ranks(self) -> dict[str, float]:
        """Mean rank of each strategy over shared seeds and all budgets: 1 is best, ties averaged; NaN without any."""
        if not (seeds := self.seeds()):
            return dict.fromkeys(self.strategies, np.nan)
        places = stats.rankdata([-self.values(name, seeds) for name in self.strategies], axis=0)
        return dict(zip(self.strategies, places.mean(axis=(1, 2)).tolist(), strict=True))

    def verdict(self, against: str = "random") -> str:
        """The result of the paired tests on the area under the curve, in sentences."""
        from .report import sentences

        return " ".join(sentences(self, against))

    def table(self) -> polars.DataFrame:
        """strategy, labels, mean, low, high (95 % t interval), sd and n (seeds): a row per strategy and budget.

        If one class has over 60 % of the rows, there are also columns of mean accuracy and balanced accuracy.
        """
        parts = []
        for name in self.strategies:
            values = self.values(name)
            mean, half = t_interval(values, FEWEST)
            sd = values.std(axis=0, ddof=1) if len(values) > 1 else half
            columns = dict(strategy=name, labels=self.budgets, mean=mean, low=mean - half, high=mean + half, sd=sd)
            beside = {other.metric: other.values(name).mean(axis=0) for other in self.beside}
            parts.append(polars.DataFrame({**columns, "n": len(values), **beside}))
        return polars.concat(parts)

    def labels_saved(self, against: str = "random") -> polars.DataFrame:
        """Labels saved by the other strategies, over shared seeds; see `mheal.evaluate.statistics.labels_saved`."""
        if against not in self._saved:  # cached: each takes 1,000 resamples, and a report needs them three times
            types = dict(strategy=str, labels=int, needs=float, bound=str, saved=float, low=float, high=float)
            found = {name: labels_saved(self.budgets, *self.paired(name, against)) for name in self.others(against)}
            rows = [(name, *row) for name, frame in found.items() for row in frame.rows()]
            self._saved[against] = polars.DataFrame(rows, types, orient="row")
        return self._saved[against]

    @cached_property
    def _saved(self) -> dict[str, polars.DataFrame]:
        return {}

    def significance(self, against: str = "random") -> polars.DataFrame:
        """Paired tests over shared seeds, on the area (metric "aulc") and at each budget.

        difference, low, high : mean difference to `against` and its 95 % t interval
        p_t, p_wilcoxon : two-sided. With `_holm`: corrected over all strategies and, for tests at budgets, all budgets
        """
        tests = []
        for name in self.others(against):
            ours, theirs = self.paired(name, against)
            gaps = {None: area(self.budgets, ours - theirs)}
            gaps |= dict(zip(self.budgets.tolist(), (ours - theirs).T, strict=True))
            for labels, gap in gaps.items():
                mean, half = t_interval(gap, FEWEST)
                metric = "aulc" if labels is None else self.metric
                tests.append((name, metric, labels, mean, mean - half, mean + half, len(gap), *paired_tests(gap)))
        types = dict(strategy=str, metric=str, labels=int, difference=float, low=float, high=float, n=int)
        frame = polars.DataFrame(tests, types | dict(p_t=float, p_wilcoxon=float), orient="row")
        return frame.with_columns(
            polars.col(p).map_batches(holm, polars.Float64).over("metric").alias(f"{p}_holm")
            for p in ("p_t", "p_wilcoxon")
        )

    def summary(self, against: str = "random") -> polars.DataFrame:
        """Summary of each strategy, best first. Columns that compare with `against` are null for `against` itself.

        aulc, aulc_half, rank : mean height of the curve, half its 95 % t interval, and mean rank
        saved, saved_bound : at the largest budget, see `labels_saved`. p_holm : for the area, see `significance`
        """
        ranks, savings = self.ranks(), self.labels_saved(against)
        tested = self.significance(against).filter(metric="aulc")
        p_holm = dict(zip(tested["strategy"], tested["p_t_holm"], strict=True))
        rows = []
        for name in self.strategies:
            mean, half = t_interval(self.aulc(name), FEWEST)
            own = savings.filter(strategy=name)
            saved = (None,) * 4 if own.is_empty() else (*own.select("saved", "bound").row(-1), *median_saved(own))
            rows.append((name, float(mean), float(half), ranks[name], *saved, p_holm.get(name)))
        types = dict(strategy=str, aulc=float, aulc_half=float, rank=float, saved=float, saved_bound=str)
        types |= dict(saved_median=float, saved_median_bound=str, p_holm=float)
        return polars.DataFrame(rows, types, orient="row").sort("aulc", descending=True, maintain_order=True)
