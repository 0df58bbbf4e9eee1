"""Numbers, differences and verdicts as the page of Tables 3, 4 and 5 prints them."""

from collections.abc import Sequence

import numpy as np

from mheal.evaluate.statistics import t_interval

from ...report import Floats, compare, percent
from .titles import Counterparts, titles

CLOSE = 0.01  # largest difference at which a number counts as the paper's
NARROW = 0.02  # largest half width of an interval that counts if it has the paper's number


def expected(name: str, counterparts: Counterparts) -> list[str]:
    """The methods that are run on a dataset."""
    return [title for title in counterparts if title in titles(name)]


def above(differences: Floats) -> str:
    """Whether differences are above 0: "yes", "no" or "no difference", by a 95 % t interval; one alone by its sign."""
    if len(differences) == 1:
        return "yes" if differences[0] > 0 else "no" if differences[0] < 0 else "no difference"
    return compare(np.zeros(len(differences)), differences)


def against(values: Floats, printed: float) -> str:
    """≈ if within a point of the paper's, or if a narrow 95 % interval has it; otherwise the difference in points."""
    off = values.mean() - printed
    half = t_interval(values)[1]
    close = max(CLOSE, half) if half <= NARROW else CLOSE  # NaN for one seed
    return "≈" if abs(off) <= close + 1e-9 else signed(off)


def verdict(answers: Sequence[str], seeds: int) -> str:
    """The verdict on a claim from all answers; `seeds` is the largest number of seeds, and one seed refutes nothing."""
    found = set(answers)
    if not found:
        return "not judged"
    if seeds == 1:
        return f"{'reproduced' if found == {'yes'} else 'not reproduced'} (one seed)"
    return "reproduced" if found == {"yes"} else "refuted" if found == {"no"} else "not reproduced"


def mean_and_spread(values: Floats) -> str:
    """Mean ± standard deviation, in per cent."""
    return percent(values) + (f" ± {percent(values.std(ddof=1))}" if len(values) > 1 else "")


def points(differences: Floats) -> str:
    """Mean and 95 % interval, in points."""
    if not len(differences):
        return "–"
    mean, half = t_interval(differences)
    return f"{signed(mean)} ± {percent(half)}" if np.isfinite(half) else f"{signed(mean)}, one seed"


def points_of(differences: Floats) -> str:
    """The same with its unit."""
    text, _, seeds = points(differences).partition(", ")
    return f"{text} points{', ' * bool(seeds)}{seeds}"


def signed(difference: float) -> str:
    """In points, with a sign; +0.0 for what rounds to nothing."""
    return f"{round(100 * difference, 1) + 0.0:+.1f}".replace("-", "−")
