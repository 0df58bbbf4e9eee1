"""Figures 13–21: learning curves of the methods of Tables 3, 4 and 5."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter

from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from ...report import Floats
from ...rows import Row
from .measured import Measured
from .pools import KINDS
from .published import BUDGETS, accuracies
from .titles import Counterparts

PAPER, DEFAULT, QUERIES, RANDOM, SIMCLR = "MHEAL (paper)", "MHEAL", "MHEAL with model", "Random", ", SimCLR"
OURS = (DEFAULT, QUERIES, DEFAULT + SIMCLR, QUERIES + SIMCLR)
QUERYING = (  # methods that query the model, or train a network of their own
    "Max Entropy", "Variation Ratios", "Core-set", "BALD", "BatchBALD", "BADGE", "CDAL+CoreSet", "CDAL+RL", "VAAL",
    QUERIES, QUERIES + SIMCLR,
)  # fmt: skip
ROWS = ("test accuracy, %", "minus Random, points")
PANELS = ("methods that use no model", "methods that query the model", "methods on features of SimCLR")
# Okabe and Ito's palette without yellow, invisible on white; dashes and markers distinguish repeats.
STRONG = {
    DEFAULT: ("#0072B2", "o", "-"), DEFAULT + SIMCLR: ("#0072B2", "D", "--"), QUERIES: ("#000000", "*", "-"),
    QUERIES + SIMCLR: ("#000000", "*", "--"), PAPER: ("#D55E00", "o", "-"), RANDOM: ("#999999", "s", "-"),
}  # fmt: skip
COLOURS, DASHES, MARKERS = ("#009E73", "#CC79A7", "#E69F00", "#56B4E9"), ("-", "--", ":"), "^v<>pPXhd*8H"
BANDED = 3  # fewest seeds for a band; the interval of two seeds would fill the picture
HEIGHT, LABEL = 4.0, 0.18  # inches: of a panel, and of a method's name in it

Curve = dict[int, Floats]  # number of labels → a value a seed
Look = tuple[str, str, str]  # colour, marker, dashes


def figure_number(kind: str, name: str) -> int:
    """The paper's number of the figure: 13 to 15 are clean, 16 to 18 repeated, 19 to 21 noisy."""
    return 13 + len(BUDGETS) * KINDS.index(kind) + list(BUDGETS).index(name)


def draw(folder: Path, kind: str, rows: Iterable[Row], counterparts: Counterparts) -> None:
    """Write a picture for each dataset that has rows: the mean of every method, and its 95 % t interval."""
    found = Measured(rows)
    for name in found.datasets:
        titles = [title for title in counterparts if found.seeds(name, title)]
        with replacing(folder / f"figure{figure_number(kind, name)}.png") as part:
            _figure(kind, name, found, titles).savefig(part, format="png", dpi=120, metadata={"Software": None})


def _figure(kind: str, name: str, found: Measured, titles: Sequence[str]) -> Figure:
    """One column of panels for each group of methods: accuracies above, their lead over Random below."""
    panels, columns = _panels(titles), found.after_start(name) or found.columns(name)
    looks = _looks(panels.values())
    printed = accuracies(kind, name)["MHEAL"]
    curves = [{title: _curve(columns, partial(found.values, name, title)) for title in titles}]
    crosses = [printed]
    if RANDOM in titles:
        curves.append({title: _curve(columns, partial(found.gain, name, title, RANDOM)) for title in titles})
        blind = {n: found.values(name, RANDOM, n) for n in printed}
        crosses.append({n: value - float(blind[n].mean()) for n, value in printed.items() if len(blind[n])})
    figure = Figure(figsize=(5.6 * len(panels), HEIGHT * len(curves)), layout="constrained")
    axes = figure.subplots(len(curves), len(panels), squeeze=False, sharex=True, sharey="row")
    for row, lines, marks, what in zip(axes, curves, crosses, ROWS, strict=False):
        shown = [{title: lines[title] for title in panel if lines[title]} for panel in panels.values()]
        for ax, panel in zip(row, shown, strict=True):
            _panel(ax, panel, looks, marks)
            _dress(ax, sorted({*columns, *printed}))
        heights = np.concatenate([line.get_ydata() for ax in row for line in ax.get_lines()])
        room = 0.12 * float(np.ptp(heights)) or 0.01
        row[0].set_ylim(heights.min() - room, heights.max() + room)  # wide bands of few seeds may be cut
        for ax, panel in zip(row, shown, strict=True):
            _write_names(ax, panel, looks)
        row[0].set_ylabel(what)
        row[0].yaxis.set_major_formatter(PercentFormatter(1, symbol=""))
    for ax, about in zip(axes[0], panels, strict=True):
        ax.set_title(about, loc="left", fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("labels")
    most = max(found.seeds(name, title) for title in titles)
    intervals = " and 95 % interval" if most >= BANDED else ""
    shown_as = f"mean{intervals} of up to {most} seeds" if most > 1 else "one seed"
    title = f"{name}, {kind} pool: {shown_as}; × is MHEAL as the paper prints it"
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    return figure


def _curve(columns: Sequence[int], values: Callable[[int], Floats]) -> Curve:
    """Values of the seeds, by number of labels; without columns that have none."""
    found = {n: values(n) for n in columns}
    return {n: seeds for n, seeds in found.items() if len(seeds)}


def _panels(titles: Sequence[str]) -> dict[str, list[str]]:
    """The methods of each panel: Random and our default are in all of them, for comparison."""
    groups: dict[str, list[str]] = {about: [] for about in PANELS}
    for title in titles:
        if title not in (RANDOM, DEFAULT):
            if title in QUERYING or not title.endswith(SIMCLR):
                groups[PANELS[title in QUERYING]].append(title)
            if title.endswith(SIMCLR):
                groups[PANELS[2]].append(title)
    both = [title for title in (DEFAULT, RANDOM) if title in titles]
    return {about: both + group for about, group in groups.items() if group} or {PANELS[0]: both}


def _looks(panels: Iterable[Sequence[str]]) -> dict[str, Look]:
    """The look of each line, which is unique within a panel."""
    looks = {}
    for panel in panels:
        for i, title in enumerate(title for title in panel if title not in STRONG):
            looks[title] = (
                COLOURS[i % len(COLOURS)],
                MARKERS[i % len(MARKERS)],
                DASHES[i // len(COLOURS) % len(DASHES)],
            )
    return looks | STRONG


def _style(title: str, look: Look) -> dict[str, Any]:
    """The same as arguments of matplotlib."""
    colour, marker, dashes = look
    width = 2.2 if title in STRONG else 1.1
    return dict(color=colour, marker=marker, linestyle=dashes, linewidth=width, markersize=2 + width, zorder=2 + width)


def _panel(ax: Any, lines: Mapping[str, Curve], looks: Mapping[str, Look], crosses: Mapping[int, float]) -> None:
    for title, curve in lines.items():
        mean, half = np.transpose([t_interval(values) for values in curve.values()])
        if min(map(len, curve.values())) >= BANDED:
            opacity = 0.16 if title in STRONG else 0.07
            ax.fill_between(list(curve), mean - half, mean + half, color=looks[title][0], alpha=opacity, linewidth=0)
        ax.plot(list(curve), mean, **_style(title, looks[title]))
    ax.plot(list(crosses), list(crosses.values()), "kx", markersize=8, markeredgewidth=1.8, zorder=6)


def _dress(ax: Any, columns: Sequence[int]) -> None:
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(columns))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(labelsize=8)
    ax.tick_params("y", labelleft=True)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _write_names(ax: Any, lines: Mapping[str, Curve], looks: Mapping[str, Look]) -> None:
    """Name each line beside its end; names have the order of the ends and do not overlap."""
    bottom, top = ax.get_ylim()
    ends = {title: float(curve[max(curve)].mean()) for title, curve in lines.items()}
    order = sorted(ends, key=lambda title: -ends[title])
    steps = (top - bottom) * LABEL / (HEIGHT - 1) * np.arange(len(order))
    lowered = np.minimum.accumulate(np.array([ends[title] for title in order]) + steps) - steps
    centred = lowered + np.mean(list(ends.values())) - lowered.mean()
    beside = ax.get_yaxis_transform()  # x in widths of the panel, y in data
    for title, height in zip(order, np.minimum(centred, top - steps), strict=True):
        ax.plot([1.03, 1.1], [height] * 2, transform=beside, clip_on=False, **_style(title, looks[title]))
        weight = "bold" if title in STRONG else "normal"
        ax.text(1.12, height, title, transform=beside, va="center", fontsize=8, weight=weight, color=looks[title][0])
