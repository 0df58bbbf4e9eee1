"""Estimate how many labels are needed, from the coverage radius of picks or from the accuracy to expect."""

from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from ..api import select
from ..estimators import estimator_name
from ..exceptions import UserError, how_many
from ..validation import as_array, as_budget, as_labeled
from .learning_curve import CHECKED, LEVEL, MIN_LABELS, CurveFit, Resampled, check_target, learning_curve
from .report import SKEW, Table
from .statistics import SKEWED, Floats

HORIZON = 1000  # further labels in a plan by default
MIN_GAIN = 0.005  # smallest rise of a metric for which another batch is recommended
ENOUGH = 64  # with fewer labels, a smaller rise is no reason to stop


@dataclass(frozen=True, eq=False)
class CoveragePlan:
    """The coverage radius of the pool against the number of picks; needs no labels.

    radius : (n,) after each pick, the largest distance of a row to its nearest pick, relative to the local spacing
    n_labeled : number of rows that already had labels
    target : accuracy to reach, or None
    """

    radius: Floats
    n_labeled: int
    target: float | None = None

    @cached_property
    def knee(self) -> int | None:
        """The number of picks at which the radius stops falling steeply, as in Kneedle; None if there is none.

        It is the point farthest below the line through the first and the last point, on ties the first.
        """
        y = self.radius
        if len(y) < 3 or not np.isfinite(y).all() or y[-1] >= y[0]:
            return None
        below = (y[0] - y) / (y[0] - y[-1]) - np.linspace(0, 1, len(y))  # measured along y: √2 times the distance
        farthest = int(np.argmax(below.round(12)))  # the first of those that are equal up to rounding
        return farthest + 1 if below[farthest] > 1e-9 else None

    @property
    def table(self) -> Table:
        """The radius at round numbers of labels."""
        beside = f", besides {how_many(self.n_labeled, 'labelled row')}" if self.n_labeled else ""
        rows = [[f"{n:,}", f"{self.radius[n - 1]:.2f}"] for n in steps(len(self.radius))]
        return Table(f"Coverage by mheal{beside}", ["labels", "coverage radius"], rows)

    @property
    def sentences(self) -> list[str]:
        """What the table means."""
        text = ["Coverage radius: the largest distance of a row to its nearest pick, relative to the local spacing."]
        if self.knee is None:
            text.append(f"The radius has no knee within {len(self.radius):,} labels.")
        else:
            text.append(f"The radius falls steeply up to about {self.knee:,} labels and slowly from there.")
            text.append("This is a hint for the size of a first batch. It does not show accuracy.")
        if self.target is not None:
            text.append(f"Without labels, the plan cannot tell whether {self.target:.1%} can be reached.")
        return [*text, f"With {MIN_LABELS} labels or more, the plan can estimate the accuracy to expect."]

    def picture(self) -> bytes:
        """The radius against the number of labels, as a PNG file."""
        from .plots import coverage_picture

        return coverage_picture(self.radius, self.knee)


@dataclass(frozen=True, eq=False)
class AccuracyPlan:
    """The accuracy to expect from more labels, extrapolated from the present labels.

    curves : the measured learning curve of accuracy, and of balanced accuracy if one class has over 60 % of the labels
    ahead, batch : further labels that the plan covers, and labels of one batch
    target : accuracy to reach, as a share, or None
    """

    curves: dict[str, Resampled]
    estimator: str
    now: int
    ahead: int
    batch: int
    target: float | None

    @cached_property
    def fits(self) -> dict[str, CurveFit]:
        """The power laws through the curves."""
        return {metric: curve.fit() for metric, curve in self.curves.items()}

    @property
    def gains(self) -> dict[str, float]:
        """Expected rise of each metric from the next batch."""
        now, then = self.now, self.now + self.batch
        return {metric: fit.predict(then).value - fit.predict(now).value for metric, fit in self.fits.items()}

    @property
    def reached(self) -> bool:
        """Whether the target is expected to be reached already."""
        return self.target is not None and self.fits["accuracy"].predict(self.now).value >= self.target

    @property
    def go_on(self) -> bool:
        """Whether to label the next batch: the target is not reached, and it adds 0.5 points or labels are few."""
        return not self.reached and (self.now < ENOUGH or max(self.gains.values()) >= MIN_GAIN)

    @property
    def table(self) -> Table:
        """Expected accuracy and its interval at round numbers of further labels."""
        rows = []
        for n in sorted({0, self.batch, *(n for n in steps(self.ahead) if n > self.batch)}):
            expected = [fit.predict(self.now + n) for fit in self.fits.values()]
            shown = [(f"{100 * e.value:.1f}", f"{100 * e.low:.1f} to {100 * e.high:.1f}") for e in expected]
            rows.append([f"{self.now + n:,}", *chain(*shown)])
        heads = chain(*((metric, f"{LEVEL:.0%} interval") for metric in self.fits))
        return Table(f"Accuracy of {self.estimator} in %, estimated from {self.now:,} labels", ["labels", *heads], rows)

    @property
    def sentences(self) -> list[str]:
        """Whether to label the next batch, whether the target can be reached, and how reliable the intervals are."""
        points = " and ".join(f"{100 * gain:.1f} points of {metric}" for metric, gain in self.gains.items())
        adds = f"next {self.batch} labels are expected to add {points}"
        if max(self.gains.values()) < MIN_GAIN:
            unsure = f", but {self.now} labels are too few to be sure" if self.now < ENOUGH else ""
            adds += f", less than the threshold of {100 * MIN_GAIN:.1f}{unsure}"
        text = [f"{'Go on' if self.go_on else 'Stop'}: the {adds}."]
        if self.target is not None:
            about = about_target(self.fits["accuracy"], self.target)
            text = [f"Stop. {about}", f"The {adds}."] if self.reached else [*text, about]
        if len(self.curves) > 1:
            text.append(SKEW.format(self.curves["accuracy"].largest_class, "classes that have labels"))
        upto = f"{CHECKED} times the labels, here {CHECKED * self.now:,}"
        return [*text, f"Such intervals were checked on other data up to {upto}."]

    def picture(self) -> bytes:
        """The measured accuracies and the fitted curves, as a PNG file."""
        from .plots import accuracy_picture

        return accuracy_picture(self.curves, self.now + self.ahead, self.target)


def coverage_plan(
    X: Any, n: int | None = None, *, labeled: Any = None, target: float | None = None, random_state: int = 0
) -> CoveragePlan:
    """The coverage radius of X, (rows, columns), after 1, …, n picks of `mheal`; default: `horizon(n_rows, n_labeled)`.

    A target only adds a sentence, since accuracy is unknown without labels. Other parameters: see `mheal.select`.
    """
    check_target(target)
    X = as_array(X)
    rows = as_labeled(labeled, len(X))
    picks = select(X, horizon(len(X), len(rows), n), labeled=rows, random_state=random_state)
    return CoveragePlan(picks.radius, len(rows), target)


def accuracy_plan(
    X: Any, y: Any, *, labeled: Any = None, estimator: Any = "logistic", ahead: int = HORIZON, batch: int = 50,
    target: float | None = None, random_state: int = 0,
) -> AccuracyPlan:  # fmt: skip
    """The accuracy to expect in the pool X, (rows, columns), from more labels, see `AccuracyPlan`.

    y, labeled, estimator : as for `learning_curve`, with at least 20 labels; random_state is the seed of the folds
    """
    check_target(target)
    if ahead < 1 or batch < 1:
        raise UserError(f"ahead and batch must be at least 1 label, got {ahead} and {batch}")
    curves = {"accuracy": learning_curve(X, y, estimator, labeled=labeled, seed=random_state)}
    if curves["accuracy"].largest_class > SKEWED:
        curves["balanced accuracy"] = curves["accuracy"].balanced
    now = len(curves["accuracy"].y)
    return AccuracyPlan(curves, estimator_name(estimator), now, ahead, min(batch, ahead), target)


def about_target(fit: CurveFit, target: float) -> str:
    """A sentence: how many labels the target takes, with the interval."""
    now, needed = fit.predict(fit.now), fit.labels_to_reach(target)
    if now.value >= target:
        unsure = "" if now.low >= target else f", but the interval begins at {now.low:.1%}"
        return f"The target of {target:.1%} is expected to be reached already{unsure}."
    low, about, high = (
        f"{float(f'{n:.2g}'):,.0f}" if n < np.inf else "" for n in (needed.low, needed.value, needed.high)
    )
    interval = f"interval: {low or 'over a million'} {f'to {high}' if high else 'or more'}"
    if about:
        return f"{target:.1%} should take about {about} labels ({interval})."
    return f"{target:.1%} is not expected with more labels alone ({interval}): try better features or another model."


def horizon(n_rows: int, n_labeled: int = 0, n: int | None = None) -> int:
    """The number of further labels in a plan: n if it is given, else 1000, at most half the pool."""
    left = n_rows - n_labeled
    return as_budget(max(1, min(HORIZON, n_rows // 2, left)) if n is None else n, left)


def steps(last: int) -> list[int]:
    """10, 20, 50, 100, … and `last`; from 1 on if `last` is below 20."""
    numbers = [digit * 10**power for power in range(9) for digit in (1, 2, 5)]
    return [n for n in numbers if n < last and (n >= 10 or last < 20)] + [last]
