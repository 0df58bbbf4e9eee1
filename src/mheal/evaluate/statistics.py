"""The statistics of curves: intervals, areas, paired tests and their correction, labels saved."""

from typing import Any

import numpy as np
import numpy.typing as npt
import polars
from scipy import stats
from scipy.optimize import isotonic_regression

Floats = npt.NDArray[np.float64]
RESAMPLES = 1000
FEWEST = 3  # splits that show an interval; of two, Student's factor is 13
SKEWED = 0.6  # if the largest class has a larger share, accuracy depends little on the other classes


def t_interval(values: npt.ArrayLike, fewest: int = 2) -> tuple[Any, Any]:
    """Mean over the first axis, and half the width of its 95 % t interval: NaN for less than `fewest` values."""
    values = np.asarray(values, np.float64)
    n = len(values)
    if n < fewest:
        return values.mean(axis=0), np.full(values.shape[1:], np.nan)[()]
    return values.mean(axis=0), stats.t.ppf(0.975, n - 1) * stats.sem(values, axis=0)


def area(labels: npt.ArrayLike, accuracy: npt.ArrayLike) -> Any:
    """Area under learning curves (the last axis) divided by the range of labels: the mean height."""
    labels, accuracy = np.asarray(labels, np.float64), np.asarray(accuracy, np.float64)
    if len(labels) == 1:
        return accuracy[..., 0]
    return np.trapezoid(accuracy, labels, axis=-1) / (labels[-1] - labels[0])


def holm(p: npt.ArrayLike) -> Floats:
    """Holm's step-down correction: p values that stay valid for the whole family together."""
    p = np.asarray(p, np.float64)
    order = p.argsort(kind="stable")
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected


def paired_tests(differences: npt.ArrayLike) -> tuple[float, float]:
    """Two-sided p values of the t test and Wilcoxon's signed-rank test that the differences are centred on 0.

    Both are 1 for a single difference or only zeros. If all differences are equal, the t test gets Wilcoxon's p value.
    """
    d = np.asarray(differences, np.float64)
    if len(d) < 2 or not d.any():
        return 1.0, 1.0
    wilcoxon = float(stats.wilcoxon(d).pvalue)
    if np.ptp(d) <= 1e-12 * np.abs(d).max():  # equal up to rounding
        return wilcoxon, wilcoxon
    return float(stats.ttest_1samp(d, 0.0).pvalue), wilcoxon


def labels_saved(budgets: npt.NDArray[np.int64], ours: Floats, baseline: Floats) -> polars.DataFrame:
    """How many labels the baseline needs for the mean value that a strategy reaches at each budget.

    ours, baseline : curves of shape (seeds, budgets), for the same seeds

    Columns: `labels`, the budget; `needs`, the baseline's number of labels; `bound`: "=", or ">" or "<" if the value is
    beyond the baseline's last or first budget, which is then in `needs`; `saved`, needs − labels; `low` and `high`, its
    95 % bootstrap interval over the seeds: `high` is infinite if the baseline's curve may end below the value.
    """
    needs = _needs(budgets, baseline.mean(axis=0), ours.mean(axis=0))
    beyond = [needs == np.inf, needs == 0]
    bound, needs = np.select(beyond, [">", "<"], "="), np.select(beyond, [budgets[-1], budgets[0]], needs)
    low = high = np.full(len(budgets), np.nan)
    if len(ours) >= FEWEST:
        draws = np.random.default_rng(0).integers(len(ours), size=(RESAMPLES, len(ours)))
        resampled = [_needs(budgets, baseline[d].mean(axis=0), ours[d].mean(axis=0)) for d in draws]
        low = np.quantile(resampled, 0.025, axis=0, method="lower")  # no interpolation: some are infinite
        high = np.quantile(resampled, 0.975, axis=0, method="higher")
        low, high = np.minimum(low, budgets[-1]), np.maximum(high, budgets[0])  # the curve is unknown beyond its ends
    saved = dict(saved=needs - budgets, low=low - budgets, high=high - budgets)
    return polars.DataFrame(dict(labels=budgets, needs=needs, bound=bound) | saved)


def median_saved(savings: polars.DataFrame) -> tuple[float, str]:
    """The median (the lower of two) of one strategy's labels saved over its budgets, and its bound."""
    beyond = polars.col("bound").replace_strict({"<": -np.inf, "=": 0.0, ">": np.inf})
    order = savings.sort(polars.col("saved") + beyond, "saved")
    return order.select("saved", "bound").row((len(order) - 1) // 2)


def _needs(budgets: npt.NDArray[np.int64], curve: Floats, targets: Floats) -> Floats:
    """Fewest labels at which the curve, made monotone, reaches each target; 0 or infinity beyond its ends.

    Between budgets the curve is linear in the logarithm of labels.
    """
    monotone, targets = isotonic_regression(curve).x.round(12), targets.round(12)  # ignore rounding errors
    at = np.searchsorted(monotone, targets)  # the first budget that reaches the target
    last = len(curve) - 1
    after = np.clip(at, min(1, last), last)
    before = np.maximum(after - 1, 0)
    rise = monotone[after] - monotone[before]
    share = np.divide(targets - monotone[before], rise, out=np.zeros_like(targets), where=rise > 0)
    inside = budgets[before] * (budgets[after] / budgets[before]) ** np.clip(share, 0, 1)
    return np.select([targets < monotone[0], at > last], [0, np.inf], inside)
