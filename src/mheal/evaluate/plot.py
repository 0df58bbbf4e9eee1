"""The picture of learning curves."""

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter

from .statistics import Floats, t_interval

if TYPE_CHECKING:
    from .curves import Curves

# Okabe and Ito's palette, told apart by every kind of colour vision; markers differ for print and repeats.
OTHERS = ("#D55E00", "#009E73", "#CC79A7", "#E69F00")
MARKERS = "^Dv<>pP*Xhd8H"
FEW = 4  # up to so many strategies, all get strong lines and bands


def picture(curves: "Curves", dark: bool = False) -> bytes:
    """A PNG of the mean against labels, bands for 95 % t intervals, each line named at its end.

    mheal and random stand out; the rest are thinner, and without bands where there are many.
    """
    ink, paper = ("#dddddd", "#16181c") if dark else ("#222222", "#ffffff")
    strong = {"mheal": ("#56B4E9" if dark else "#0072B2", "o"), "random": ("#aaaaaa" if dark else "#555555", "s")}
    others = (*OTHERS, "#F0E442" if dark else "#56B4E9")  # yellow shows on dark paper alone
    rest = [name for name in curves.strategies if name not in strong]
    looks = strong | {name: (others[i % len(others)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(rest)}
    prominent = [name for name in curves.strategies if name in strong or len(curves.strategies) <= FEW]

    height = max(4.5, 1.0 + 0.19 * len(looks))
    figure = Figure(figsize=(7.5, height), layout="constrained", facecolor=paper)
    ax = figure.subplots()
    for name in curves.strategies:
        _draw(ax, curves.budgets, curves.values(name), *looks[name], name in prominent)
    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top)
    last = np.array([curves.values(name)[:, -1].mean() for name in curves.strategies])
    gap = (top - bottom) * 0.19 / (height - 1)
    for name, end, beside in zip(curves.strategies, last, _apart(last, gap, top), strict=True):
        ax.annotate(
            name,
            (curves.budgets[-1], end),
            xytext=(1.02, beside),
            textcoords=ax.get_yaxis_transform(),
            color=looks[name][0],
            va="center",
            fontsize=10 if name in prominent else 8.5,
            weight="bold" if name == "mheal" else "normal",
            annotation_clip=False,
            parse_math=False,  # a name with two dollar signs is still a name
        )
    _dress(ax, curves, ink, paper)
    out = BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()


def _draw(ax: Any, budgets: Any, values: Floats, colour: str, marker: str, prominent: bool) -> None:
    mean, half = t_interval(values)
    if prominent and np.isfinite(half).all():
        low, high = np.maximum(mean - half, 0), np.minimum(mean + half, 1)
        ax.fill_between(budgets, low, high, color=colour, alpha=0.13, linewidth=0)
    width, opacity = (2.0, 1.0) if prominent else (1.0, 0.7)
    style = dict(color=colour, marker=marker, markersize=2.5 * width, linewidth=width, alpha=opacity, zorder=2 + width)
    ax.plot(budgets, mean, **style)


def _dress(ax: Any, curves: "Curves", ink: str, paper: str) -> None:
    """Axes, their names, and the colours of both."""
    ax.set_facecolor(paper)
    if curves.budgets[-1] >= 10 * curves.budgets[0]:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    if len(curves.budgets) <= 10:
        ax.set_xticks(curves.budgets, [f"{b:,}" for b in curves.budgets])
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlabel("labels bought", color=ink)
    ax.set_ylabel(f"test {curves.measure.replace('_', ' ')}", color=ink)
    splits = max(len(curves.seeds(name)) for name in curves.strategies)
    interval = ", mean and 95 % interval" if splits > 1 else ""
    ax.set_title(f"{curves.model}: {splits} split{'s' * (splits > 1)}{interval}", loc="left", fontsize=11, color=ink)
    ax.tick_params(colors=ink)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(ink)


def _apart(heights: Floats, gap: float, top: float) -> Floats:
    """Move labels at these heights at least `gap` apart and below `top`, keeping their order."""
    order = heights.argsort(kind="stable")
    steps = gap * np.arange(len(heights))
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    centred = raised - (raised - heights[order]).mean()
    placed = np.empty_like(heights)
    placed[order] = np.minimum(centred, top - steps[::-1])
    return placed
