"""Curves as tables for people: numbers already rounded, for the report and the terminal alike."""

from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from .curves import Curves


class Cells(NamedTuple):
    """A table of texts; the first column names the rows."""

    caption: str
    heads: list[str]
    rows: list[list[str]]


def summary(curves: "Curves", against: str) -> Cells:
    """Mean height, rank, labels saved and p of each strategy, the best first."""
    rows = []
    for row in curves.summary(against).to_dicts():
        saved = "–" if row["saved_median"] is None else _signed(row["saved_median"], row["saved_median_bound"])
        p = "–" if row["p_holm"] is None else f"{row['p_holm']:.2g}"
        rows.append([row["strategy"], _percent(row["aulc"], row["aulc_half"]), f"{row['rank']:.2f}", saved, p])
    heads = ["strategy", "mean height (AULC), %", "mean rank", "labels saved (median)", "p (Holm)"]
    return Cells(f"The best first; compared with {against}.", heads, rows)


def accuracies(curves: "Curves") -> Cells:
    """The mean of each strategy at each budget, with its interval."""
    cells: dict[str, list[str]] = {name: [] for name in curves.strategies}
    for row in curves.table().to_dicts():
        cells[row["strategy"]].append(_percent(row["mean"], row["high"] - row["mean"]))
    heads = ["labels", *map(str, curves.budgets)]
    caption = f"{curves.measure.replace('_', ' ').capitalize()} in %, mean ± half the 95 % interval."
    return Cells(caption, heads, [[name, *row] for name, row in cells.items()])


def savings(curves: "Curves", against: str) -> Cells:
    """The labels that each strategy saves at each budget, with their interval."""
    cells: dict[str, list[str]] = {name: [] for name in curves.others(against)}
    for row in curves.labels_saved(against).to_dicts():
        cells[row["strategy"]].append(_signed(row["saved"], row["bound"]) + _interval(row["low"], row["high"]))
    heads = ["labels", *map(str, curves.budgets)]
    caption = f"Labels that {against} needs more for the same accuracy; negative where it needs fewer."
    return Cells(caption, heads, [[name, *row] for name, row in cells.items()])


def _percent(mean: float, half: float) -> str:
    return f"{100 * mean:.1f}" + (f" ± {100 * half:.1f}" if isfinite(half) else "")


def _signed(number: float, bound: str = "=") -> str:
    text = f"{number:+.0f}".replace("-", "−") if round(number) else "0"
    return text if bound == "=" else f"{bound} {text}"


def _interval(low: float, high: float) -> str:
    if not isfinite(low):  # a single split
        return ""
    return f" ({_signed(low)} to {_signed(high)})" if isfinite(high) else f" ({_signed(low)} or more)"
