"""A picture of many small panels, with a row for each mode, a column for each dataset and a line for each learner."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from ...report import Floats

# Okabe and Ito's palette, as in the learning curves.
LOOKS = {
    "IWAL": ("#555555", "-"), "MHEAL": ("#0072B2", "-"),
    "MHEAL, pooled": ("#56B4E9", "--"), "every label": ("#D55E00", ":"),
}  # fmt: skip
Line = tuple[Sequence[float], Floats]  # places, values (seeds, places)


def panels(path: Path, lines: Mapping[tuple[str, str, str], Line], x: str, y: str, title: str) -> None:
    """Draw the mean and the 95 % t interval of lines[mode, dataset, learner] on a logarithmic x axis."""
    modes, names = list(dict.fromkeys(k[0] for k in lines)), list(dict.fromkeys(k[1] for k in lines))
    figure = Figure(figsize=(2.3 * len(names) + 0.6, 1.9 * len(modes) + 0.8), layout="constrained")
    axes = figure.subplots(len(modes), len(names), squeeze=False, sharex="col", sharey="col")
    for (mode, name, learner), (places, values) in lines.items():
        _draw(axes[modes.index(mode)][names.index(name)], places, values, learner)
    for row, mode in zip(axes, modes, strict=True):
        row[0].set_ylabel(f"{mode}\n{y}")
        for ax in row:
            ax.set_xscale("log")
            ax.xaxis.set_minor_locator(NullLocator())
            ax.grid(alpha=0.25)
            ax.spines[["top", "right"]].set_visible(False)
    for ax, name in zip(axes[0], names, strict=True):
        ax.set_title(name, fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel(x)
    handles = {line.get_label(): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(handles.values(), handles.keys(), loc="outside upper right", ncols=len(handles), frameon=False)
    figure.suptitle(title, x=0.01, ha="left", fontsize=11)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})


def _draw(ax: Any, places: Sequence[float], values: Floats, learner: str) -> None:
    colour, style = LOOKS[learner]
    mean, half = t_interval(values)
    if np.isfinite(half).all():
        ax.fill_between(places, mean - half, mean + half, color=colour, alpha=0.13, linewidth=0)
    ax.plot(places, mean, color=colour, linestyle=style, linewidth=1.6, label=learner)
