"""The pictures of Table 1 and Figure 9."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from .images import DATASETS
from .names import DEC, DEEP, METHODS, MOVED, RAW, full
from .numbers import PAPER, Accuracies

COLOURS = dict(zip(METHODS, ("#555555", "#D55E00", "#0072B2"), strict=True))
DOTS = {"marker": "o", "markersize": 3, "linewidth": 1.6}
STYLES: dict[str, dict[str, Any]] = {
    RAW[0]: {"label": "pixels", **DOTS},
    DEC: {"label": DEC, "linestyle": "--", **DOTS},
    MOVED: {"label": f"{MOVED} (not in the paper)", "linestyle": "none", "marker": "*", "markersize": 11},
}


def draw_table(path: Path, found: Accuracies) -> None:
    """The lines on pixels: a row for ten starts and one for a single one; dotted lines are the paper's means."""
    figure = Figure(figsize=(8.4, 2.5 * len(RAW) + 0.9), layout="constrained")
    axes = figure.subplots(len(RAW), len(DATASETS), squeeze=False, sharex="col")
    for row, variant in zip(axes, RAW, strict=True):
        row[0].set_ylabel(f"{variant}\naccuracy, %")
        for ax, name in zip(row, DATASETS, strict=True):
            for method, colour in COLOURS.items():
                _line(ax, found, (name, method, variant), found.table, label=method, **DOTS)
                ax.axhline(100 * PAPER[name, method].mean, color=colour, linestyle=":", linewidth=1)
            _bare(ax)
    for ax, name in zip(axes[0], DATASETS, strict=True):
        ax.set_title(name, fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("images n")
    handles, names = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    seeds = found.seeds(RAW)
    title = f"Clustering accuracy: mean and 95 % interval, {seeds} seeds; dotted: the paper's mean over n"
    _save(path, figure, title)


def draw_figure(path: Path, found: Accuracies) -> None:
    """A panel a dataset with all lines there are; crosses are the paper's optima."""
    figure = Figure(figsize=(9.6, 4.9), layout="constrained")
    for ax, name in zip(figure.subplots(1, len(DATASETS)), DATASETS, strict=True):
        for method, colour in COLOURS.items():
            for variant, look in STYLES.items():
                _line(ax, found, (name, method, variant), found.sizes(name, method, variant), **look)
            for variant in (RAW[0], DEC):
                paper = PAPER[name, full(method, variant)]
                if paper.at in found.table:
                    ax.plot(paper.at, 100 * paper.optimum, "x", color=colour, markersize=7, markeredgewidth=1.5)
        _bare(ax)
        ax.set_title(name, fontsize=10)
        ax.set_xlabel("images n")
        ax.set_ylabel("accuracy, %")
        ax.xaxis.set_major_formatter("{x:,.0f}")
    figure.legend(handles=_legend(found), loc="outside lower center", ncols=len(METHODS), frameon=False)
    seeds = f"{found.seeds(RAW[:1])} seeds on pixels"
    if deep := found.seeds(DEEP):
        seeds += f", {deep} on codes"
    _save(path, figure, f"Figure 9, clustering accuracy: mean and 95 % interval, {seeds}; crosses: the paper's optima")


def _line(ax: Any, found: Accuracies, line: tuple[str, str, str], sizes: list[int], **look: Any) -> None:
    """Mean and interval of a dataset, method and variant."""
    colour = COLOURS[line[1]]
    sizes = [n for n in sizes if len(found.column(*line, n))]
    mean, half = np.array([t_interval(100 * found.column(*line, n)) for n in sizes]).reshape(-1, 2).T
    ax.fill_between(sizes, (mean - half).clip(0), (mean + half).clip(max=100), color=colour, alpha=0.13, linewidth=0)
    ax.plot(sizes, mean, color=colour, **look)


def _legend(found: Accuracies) -> list[Line2D]:
    """Colours, then the styles that the picture has."""
    colours = [Line2D([], [], color=colour, linewidth=1.6, label=method) for method, colour in COLOURS.items()]
    styles = [Line2D([], [], color="black", **look) for variant, look in STYLES.items() if found.rows([variant])]
    return [handle for pair in zip(colours, styles, strict=False) for handle in pair] + colours[len(styles) :]


def _bare(ax: Any) -> None:
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _save(path: Path, figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})
