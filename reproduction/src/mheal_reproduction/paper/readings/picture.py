"""The pictures of accuracy against the number of clusters, with a panel for each kind of features and each budget."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from mheal.evaluate.statistics import t_interval
from mheal.runtime.files import replacing

from ...report import Floats
from ..images.published import accuracies
from .grid import CLUSTERS, CONTROL, NETWORK, PAPER, RANDOM, Reading, k_text, random_setting
from .numbers import Found

LINES = {  # method and start: Okabe and Ito's palette
    (PAPER, "warm"): ("#D55E00", "o-", "MHEAL (paper), warm"),
    (PAPER, "cold"): ("#E69F00", "s-", "MHEAL (paper), cold"),
    (CONTROL, "warm"): ("#0072B2", "o--", "random row per cluster, warm"),
    (CONTROL, "cold"): ("#56B4E9", "s--", "random row per cluster, cold"),
}
BANDED = 3  # seeds


def draw(path: Path, found: Found, learner: str) -> None:
    """All readings of a learner."""
    kinds = list(dict.fromkeys((one.space, one.quota) for one in found.readings if one.learner == learner))
    shape = (len(kinds), len(found.budgets))
    figure = Figure(figsize=(3.1 * shape[1] + 0.6, 2.6 * shape[0] + 0.9), layout="constrained")
    axes = figure.subplots(*shape, squeeze=False, sharex=True, sharey="col")
    for row, (space, quota) in zip(axes, kinds, strict=True):
        some = [one for one in found.readings if (one.learner, one.space, one.quota) == (learner, space, quota)]
        for at, ax in enumerate(row):
            _panel(ax, found, some, at)
        row[0].set_ylabel(f"{some[0].features}\ntest accuracy")
    for at, ax in enumerate(axes[0]):
        ax.set_title(f"{found.budgets[at]} labels", fontsize=11)
    for ax in axes[-1]:
        ax.set_xlabel("clusters")
    handles = {str(line.get_label()): line for ax in axes.flat for line in ax.get_lines()}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=3, frameon=False)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})


def _panel(ax: Any, found: Found, readings: Sequence[Reading], at: int) -> None:
    learner, numbers = readings[0].learner, CLUSTERS
    places = np.arange(len(numbers))
    for (method, start), (colour, style, label) in LINES.items():
        settings = [readings[0]._replace(clusters=k, start=start).setting for k in numbers]
        values = [found.curves(method, setting)[:, at] for setting in settings]
        some = np.array([len(one) > 0 for one in values])
        if some.any():
            mean = np.array([one.mean() for one in values if len(one)])
            ax.plot(places[some], mean, style, color=colour, label=label, linewidth=1.4, markersize=4)
            _band(ax, places[some], [one for one in values if len(one)], colour)
    random = found.curves(RANDOM, random_setting(learner))[:, at]
    if len(random):
        ax.axhline(random.mean(), color="#555555", linewidth=1.2, label="Random")
    printed = accuracies("clean", "mnist")["MHEAL"].get(found.budgets[at])
    if learner == NETWORK and printed is not None:
        ax.axhline(printed, color="#000000", linestyle=":", linewidth=1.4, label="the paper's number")
    ax.set_xticks(places, [k_text(k) for k in numbers])
    ax.yaxis.set_major_formatter(PercentFormatter(1))
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _band(ax: Any, places: Floats, values: list[Floats], colour: str) -> None:
    """The 95 % interval where all have enough seeds."""
    if min(map(len, values)) >= BANDED:
        mean, half = np.array([t_interval(one) for one in values]).T
        ax.fill_between(places, mean - half, mean + half, color=colour, alpha=0.1, linewidth=0)
