"""The picture of Table 2: a row of panels per dataset, a panel per measure, a line per selection."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mheal.runtime.files import replacing

from ...report import Floats

# Okabe and Ito's palette; the three ℓ0 share a colour.
LOOKS = {
    "random": ("#000000", "-"), "l2": ("#E69F00", "--"), "l1": ("#D55E00", "-"),
    "l0-raw": ("#0072B2", ":"), "l0-unit": ("#0072B2", "--"), "l0-clusters": ("#0072B2", "-"),
    "k-means": ("#999999", "-"), "herding": ("#009E73", "-"), "support-points": ("#56B4E9", "-"),
    "mheal": ("#CC79A7", "-"),
}  # fmt: skip


def draw(
    path: Path,
    sizes: Sequence[int],
    lines: Mapping[tuple[str, str, str], Floats],
    crosses: Mapping[tuple[str, str], Sequence[float]],
    titles: Mapping[str, str],
) -> None:
    """Draw the mean of lines[dataset, measure, method], (seeds, sizes), and the range of the seeds, on a log axis.

    A loss that is 0 at the last size ends before it; one that is not always positive gets a linear axis. Crosses are
    the paper's values at the first size, by dataset and measure. `titles` are the names of measures and methods.
    """
    names, measures = (list(dict.fromkeys(key[i] for key in lines)) for i in (0, 1))
    figure = Figure(figsize=(2.5 * len(measures), 2.4 * len(names) + 0.9), layout="constrained")
    axes = figure.subplots(len(names), len(measures), squeeze=False, sharex=True)
    for (name, measure, method), values in lines.items():
        ax = axes[names.index(name)][measures.index(measure)]
        shown = values[:, :-1] if not values[:, -1].any() else values
        places = sizes[: shown.shape[1]]
        colour, style = LOOKS[method]
        ax.fill_between(places, shown.min(axis=0), shown.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        ax.plot(places, shown.mean(axis=0), color=colour, linestyle=style, linewidth=1.4, label=titles[method])
        ax.set_title(f"{titles[measure]}\n{name}", fontsize=8)
    for (name, measure), found in crosses.items():
        ax = axes[names.index(name)][measures.index(measure)]
        ax.plot([sizes[0]] * len(found), found, "kx", markersize=5)
    for ax in axes.flat:
        ax.set_yscale("log" if min(line.get_ydata().min() for line in ax.get_lines()) > 0 else "linear")
        ax.tick_params(labelsize=7)
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.xaxis.set_major_locator(MaxNLocator(4))
        ax.spines[["top", "right"]].set_visible(False)
    for ax in axes[-1]:
        ax.set_xlabel("size of the subset", fontsize=8)
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=120, metadata={"Software": None})
