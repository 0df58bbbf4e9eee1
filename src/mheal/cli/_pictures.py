"""The two pictures of `mheal demo`."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from ..runtime.files import replacing
from ._digits import Floats, Runs

# Okabe and Ito's palette, told apart by every kind of colour vision; markers differ for print.
STYLES = (("#0072B2", "o"), ("#555555", "s"), ("#D55E00", "^"), ("#CC79A7", "D"))


def curves(runs: Runs, path: Path) -> None:
    """Draw accuracy against labels, mean and standard deviation, each line named at its end."""
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    ax = figure.subplots()
    ends = _apart(runs.mean[:, -1], gap=0.05 * float(np.ptp(runs.mean)))
    for name, mean, sd, end, (colour, marker) in zip(runs.strategies, runs.mean, runs.sd, ends, STYLES, strict=True):
        ax.fill_between(runs.budgets, mean - sd, mean + sd, color=colour, alpha=0.13, linewidth=0)
        ax.plot(runs.budgets, mean, color=colour, marker=marker, markersize=5, linewidth=2)
        ax.annotate(
            name,
            (runs.budgets[-1], mean[-1]),
            xytext=(1.02, end),
            textcoords=ax.get_yaxis_transform(),
            color=colour,
            va="center",
            weight="bold" if name == "MHEAL" else "normal",
            annotation_clip=False,
        )
    ax.set_xlim(runs.budgets[0] - 2, runs.budgets[-1] + 2)
    ax.set_xticks(runs.budgets)
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlabel("labels bought")
    ax.set_ylabel("test accuracy")
    title = f"scikit-learn's digits, logistic regression: mean ± sd of {len(runs.seeds)} splits"
    ax.set_title(title, loc="left", fontsize=11)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)


def picks(images: Floats, path: Path) -> None:
    """Draw the picked images in pick order, ten to a line, each under its rank."""
    lines = -(-len(images) // 10)
    figure = Figure(figsize=(6.5, 0.72 * lines + 0.5), layout="constrained")
    figure.suptitle(f"The {len(images)} digits MHEAL asks to have labelled, in its order", fontsize=11)
    for rank, ax in enumerate(figure.subplots(lines, 10, squeeze=False).flat, start=1):
        ax.set_axis_off()
        if rank <= len(images):
            ax.imshow(images[rank - 1], cmap="gray_r")
            ax.set_title(str(rank), fontsize=7, color="#555555", pad=2)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)


def _apart(heights: Floats, gap: float) -> Floats:
    """Move labels at these heights at least `gap` apart, keeping their order and their middle."""
    order = heights.argsort()
    steps = gap * np.arange(len(heights))
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    placed = np.empty_like(heights)
    placed[order] = raised - (raised - heights[order]).mean()
    return placed
