"""Labels saved: how many labels the yardstick needs for what a strategy reaches with fewer."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

from .statistics import Floats

RESAMPLES = 1000


@dataclass(frozen=True)
class Savings:
    """For each budget of a strategy, the labels the yardstick needs for the same mean accuracy.

    needs : that number; where `bound` is ">" (or "<") the yardstick's curve ends below (or begins above) the
        accuracy, and needs is its last (or first) budget
    low, high : 95 % bootstrap interval of needs over the seeds, from 0 where the curve may begin above the accuracy,
        to infinity where it may end below
    """

    budgets: npt.NDArray[np.int64]
    needs: Floats
    bound: npt.NDArray[np.str_]
    low: Floats
    high: Floats

    @property
    def saved(self) -> Floats:
        """needs − budgets: negative where the strategy wastes labels; a bound where needs is one."""
        return self.needs - self.budgets

    def median(self) -> tuple[float, str]:
        """Labels saved at the middle budget, the lower of two, and its bound."""
        beyond = np.select([self.bound == ">", self.bound == "<"], [np.inf, -np.inf], 0.0)
        order = np.lexsort((self.saved, self.saved + beyond))
        middle = order[(len(order) - 1) // 2]
        return float(self.saved[middle]), str(self.bound[middle])


def labels_saved(budgets: npt.NDArray[np.int64], ours: Floats, yardstick: Floats, seed: int = 0) -> Savings:
    """Compare two sets of curves (seed × budget, the same seeds) at equal mean accuracy."""
    needs = _needs(budgets, yardstick.mean(axis=0), ours.mean(axis=0))
    bound = np.select([needs == np.inf, needs == 0], [">", "<"], "=")
    shown = np.select([needs == np.inf, needs == 0], [budgets[-1], budgets[0]], needs)
    low = high = np.full(len(budgets), np.nan)
    if len(ours) > 1:
        draws = np.random.default_rng(seed).integers(len(ours), size=(RESAMPLES, len(ours)))
        resampled = [_needs(budgets, yardstick[d].mean(axis=0), ours[d].mean(axis=0)) for d in draws]
        low = np.quantile(resampled, 0.025, axis=0, method="lower")  # no interpolation: some are infinite
        high = np.quantile(resampled, 0.975, axis=0, method="higher")
        low, high = np.minimum(low, budgets[-1]), np.maximum(high, budgets[0])  # beyond the ends nothing is known
    return Savings(budgets, shown, bound, low, high)


def _needs(budgets: npt.NDArray[np.int64], curve: Floats, targets: Floats) -> Floats:
    """Fewest labels with which the curve, made monotone, reaches each target; 0 or infinity beyond its ends.

    Between budgets the curve is linear in the logarithm of labels.
    """
    monotone, targets = isotonic_regression(curve).x.round(12), targets.round(12)  # equal but for rounding is equal
    at = np.searchsorted(monotone, targets)  # the first budget that reaches the target
    last = len(curve) - 1
    after = np.clip(at, min(1, last), last)
    before = np.maximum(after - 1, 0)
    rise = monotone[after] - monotone[before]
    share = np.divide(targets - monotone[before], rise, out=np.zeros_like(targets), where=rise > 0)
    inside = budgets[before] * (budgets[after] / budgets[before]) ** np.clip(share, 0, 1)
    return np.select([targets < monotone[0], at > last], [0, np.inf], inside)
