"""How many labels are needed: how well picks cover the pool, and the accuracy to expect from more labels."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..api import select
from ..estimators import estimator_name
from ..exceptions import UserError
from ..runtime.files import replacing
from ..selector import MHEAL
from ..validation import as_array, as_budget, as_labeled
from .learning_curve import MIN_LABELS, Advice, CurveFit, Resampled, fit_curve, learning_curve, stop_advice
from .report import Table
from .statistics import Floats

HORIZON = 1000  # further labels that a plan looks at by default


@dataclass(frozen=True, eq=False)
class CoveragePlan:
    """How well picks cover the pool, against their number; needs no labels.

    radius : coverage radius after 1, 2, …, n picks: the largest distance of any row to its nearest pick, relative to
        the local spacing
    energy : mean of −log distance over pairs of picks and labelled rows; NaN for one row alone
    n_labeled : rows that were labelled before
    target : accuracy to reach, or None
    """

    radius: Floats
    energy: Floats
    n_labeled: int
    target: float | None = None

    @property
    def labels(self) -> npt.NDArray[np.int64]:
        """Numbers of picks, 1 to n."""
        return np.arange(1, len(self.radius) + 1)

    @cached_property
    def knee(self) -> float | None:
        """Picks at which the radius turns from falling steeply to falling slowly; None without such a point."""
        return knee(self.labels, self.radius)

    @property
    def table(self) -> Table:
        """Radius and energy at round numbers of labels."""
        beside = f", besides the {self.n_labeled:,} labelled rows" if self.n_labeled else ""
        rows = []
        for n in steps(len(self.radius)):
            energy = f"{self.energy[n - 1]:.3f}".replace("-", "−").replace("nan", "–")
            rows.append([f"{n:,}", f"{self.radius[n - 1]:.2f}", energy])
        return Table(f"Coverage by mheal{beside}", ["labels", "coverage radius", "energy"], rows)

    @property
    def sentences(self) -> list[str]:
        """What the table means."""
        text = [
            "Coverage radius: the distance from the worst-covered row to its nearest pick, relative to the local "
            "spacing. Energy: the mean of −log distance over pairs of picks; it levels off as the picks fill the pool."
        ]
        if self.knee is None:
            text.append(f"The radius has no knee within {len(self.radius):,} labels: it falls steadily.")
        else:
            text.append(
                f"The radius falls steeply up to about {self.knee:,.0f} labels and slowly from there. Take this knee "
                "as a hint for the size of a first batch: it depends on how many labels the plan looks at, and it "
                "says nothing about accuracy."
            )
        if self.target is not None:
            text.append(f"Whether {self.target:.1%} can be reached is unknown without labels.")
        return [*text, f"With {MIN_LABELS} labels or more, the plan can estimate the accuracy to expect."]

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw radius and energy as a PNG file."""
        from .plots import coverage_picture

        with replacing(Path(path)) as part:
            part.write_bytes(coverage_picture(self.labels, self.radius, self.energy, self.knee))


@dataclass(frozen=True, eq=False)
class AccuracyPlan:
    """The accuracy to expect from more labels, extrapolated from the labels there are.

    curve, fit, advice : the measured learning curve, the power law through it, whether to label the next batch
    estimator, n_labeled : name of the classifier, labels there are
    ahead, batch : further labels that the plan looks at, and that come at a time
    target : accuracy to reach, or None
    """

    curve: Resampled
    fit: CurveFit
    advice: Advice
    estimator: str
    n_labeled: int
    ahead: int
    batch: int
    target: float | None

    @property
    def table(self) -> Table:
        """Expected accuracy and its interval at round numbers of further labels."""
        rows = []
        for n in sorted({0, self.batch, *(n for n in steps(self.ahead) if n > self.batch)}):
            value, low, high = self.fit.predict(self.n_labeled + n)
            interval = f"{100 * max(low, 0):.1f} to {100 * min(high, 1):.1f}"
            rows.append([f"{self.n_labeled + n:,}", f"{100 * value:.1f}", interval])
        caption = f"Accuracy of {self.estimator} in %, estimated from {self.n_labeled:,} labels"
        return Table(caption, ["labels", "expected", f"{self.fit.level:.0%} interval"], rows)

    @property
    def sentences(self) -> list[str]:
        """The advice, and how far to trust it."""
        return [
            self.advice.sentence,
            f"Beyond about {2 * self.n_labeled:,} labels the curve is an extrapolation that may be far off.",
            "If the labelled rows were picked to be spread out, as mheal picks them, they are harder than the pool: "
            "the accuracy on the whole pool is then higher than shown, and fewer labels suffice.",
        ]

    def plot(self, path: str | PathLike[str]) -> None:
        """Draw the measured accuracies and the fitted curve as a PNG file."""
        from .plots import accuracy_picture

        last = self.n_labeled + self.ahead
        with replacing(Path(path)) as part:
            part.write_bytes(accuracy_picture(self.curve, self.fit, self.n_labeled, last, self.target))


def coverage_plan(
    X: Any, n: int | None = None, *, labeled: Any = None, target: float | None = None, random_state: int = 0
) -> CoveragePlan:
    """How well 1, 2, …, n picks of `mheal` cover the pool.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
    n : number of picks; by default `horizon(n_rows, n_labeled)`
    labeled : row numbers, mask or Selection of rows that have labels
    target : accuracy to reach; it only adds a sentence that it takes labels to know
    random_state : as for `mheal.select`
    """
    check_target(target)
    X = as_array(X)
    rows = as_labeled(labeled, len(X))
    picks = select(X, horizon(len(X), len(rows), n), labeled=rows, random_state=random_state)
    energy = MHEAL(random_state=random_state).energy(X, np.concatenate([rows, picks.indices]))[len(rows) :]
    return CoveragePlan(picks.radius, energy, len(rows), target)


def accuracy_plan(
    X: Any, y: Any, *, estimator: Any = "logistic", ahead: int = HORIZON, batch: int = 50,
    target: float | None = None, random_state: int = 0,
) -> AccuracyPlan:  # fmt: skip
    """The accuracy to expect from more labels.

    Parameters
    ----------
    X, y : the labelled rows and their labels, at least 20
    estimator : a name, "package.module:attribute" or a classifier, see `mheal.estimators`
    ahead : further labels to look at
    batch : labels that are added at a time, at most `ahead`
    target : accuracy to reach, as a share
    random_state : seed of the folds and of the intervals
    """
    check_target(target)
    if ahead < 1 or batch < 1:
        raise UserError(f"ahead and batch must be at least 1 label, got {ahead} and {batch}")
    curve = learning_curve(X, y, estimator, seed=random_state)
    fit = fit_curve(curve.labels, curve.right, seed=random_state)
    now, batch = len(curve.right), min(batch, ahead)
    advice = stop_advice(fit, now, batch, target=target)
    return AccuracyPlan(curve, fit, advice, estimator_name(estimator), now, ahead, batch, target)


def horizon(n_rows: int, n_labeled: int = 0, n: int | None = None) -> int:
    """Further labels that a plan looks at: n if it is given, else 1000, at most half the pool."""
    left = n_rows - n_labeled
    return as_budget(max(1, min(HORIZON, n_rows // 2, left)) if n is None else n, left)


def check_target(target: float | None, name: str = "the target accuracy") -> None:
    """Refuse an accuracy that is no share, such as one in percent."""
    if target is not None and not 0 < target < 1:
        hint = f": write {target / 100:g} for {target:g} %" if 1 < target < 100 else ""
        raise UserError(f"{name} is a share between 0 and 1, got {target:g}{hint}")


def steps(last: int) -> list[int]:
    """10, 20, 50, 100, … and the last; from 1 where the last is below 20."""
    numbers = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    return [n for n in numbers if n < last and (n >= 10 or last < 20)] + [last]


def knee(x: npt.ArrayLike, y: npt.ArrayLike) -> float | None:
    """The x at which a decreasing convex curve turns from steep to flat, as in Kneedle.

    Both axes are scaled to [0, 1]; the knee is the point farthest below the chord from the first point to the last,
    the first of several such. It depends on where the curve is cut off. None where no point lies below the chord: the
    curve is straight, bulges upwards or does not fall.

    >>> knee([10, 20, 30, 40, 50], [9.0, 5.0, 1.0, 0.5, 0.0])
    30.0
    """
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"x and y must be lists of the same length, got shapes {x.shape} and {y.shape}")
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ValueError("x and y must be finite: leave out the budgets at which the curve is infinite")
    if (np.diff(x) <= 0).any():
        raise ValueError("x must increase: sort the points by x")
    if len(x) < 3 or y[-1] >= y[0]:
        return None
    below = (y[0] - y) / (y[0] - y[-1]) - (x - x[0]) / (x[-1] - x[0])  # along y, √2 times the distance
    farthest = int(np.argmax(np.round(below, 12)))  # rounding apart, the first
    return float(x[farthest]) if below[farthest] > 1e-9 else None
