"""The statistics of curves: intervals, areas, paired tests and their correction."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

Floats = npt.NDArray[np.float64]


def t_interval(values: npt.ArrayLike, level: float = 0.95) -> tuple[Any, Any]:
    """Mean over the first axis, and half the width of its t interval: NaN for a single value."""
    values = np.asarray(values, np.float64)
    n = len(values)
    if n < 2:
        return values.mean(axis=0), np.full(values.shape[1:], np.nan)[()]
    spread = values.std(axis=0, ddof=1) / np.sqrt(n)
    return values.mean(axis=0), stats.t.ppf((1 + level) / 2, n - 1) * spread


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
    raised = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(raised, 1.0)
    return corrected


def paired_tests(differences: npt.ArrayLike) -> tuple[float, float]:
    """Two-sided p values of the t test and of Wilcoxon's signed-rank test that differences centre on 0.

    Wilcoxon's is exact for small samples (SciPy's choice). Nothing but zeros, or a single difference, gives 1.
    Differences that are all the same tell the t test nothing about chance: it then gets Wilcoxon's p.
    """
    d = np.asarray(differences, np.float64)
    if len(d) < 2 or not d.any():
        return 1.0, 1.0
    wilcoxon = float(stats.wilcoxon(d).pvalue)
    if np.ptp(d) <= 1e-12 * np.abs(d).max():  # equal but for rounding
        return wilcoxon, wilcoxon
    return float(stats.ttest_1samp(d, 0.0).pvalue), wilcoxon
