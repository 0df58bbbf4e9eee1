"""Plots as bytes of a PNG file: learning curves, plans, and a pool with its picks."""

from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, PercentFormatter
from sklearn.decomposition import PCA

from ..exceptions import how_many
from ..scaling import comparable
from ..selection import Selection
from ..validation import as_array
from .learning_curve import LEVEL, Resampled
from .statistics import FEWEST, Floats, t_interval

if TYPE_CHECKING:
    from .curves import Curves

# Okabe and Ito's palette suits all kinds of colour vision; markers tell lines apart in print or of equal colour.
BLUE, GREY, ORANGE = "#0072B2", "#555555", "#D55E00"
OTHERS = (ORANGE, "#009E73", "#CC79A7", "#E69F00")
MARKERS = "^Dv<>pP*Xhd8H"
FEW = 4  # up to this many strategies, all get strong lines and bands
SHOWN = 20_000  # at most this many rows of a pool are drawn
NUMBERED = 30  # picks whose rank is written beside them


def curves_picture(curves: "Curves", dark: bool = False) -> bytes:
    """The mean metric against labels, with bands for 95 % t intervals and the name of each line at its end.

    mheal and random are emphasised. If there are many strategies, the others have thinner lines and no bands.
    """
    ink, paper = ("#dddddd", "#16181c") if dark else ("#222222", "#ffffff")
    strong = {"mheal": ("#56B4E9" if dark else BLUE, "o"), "random": ("#aaaaaa" if dark else GREY, "s")}
    others = (*OTHERS, "#F0E442" if dark else "#56B4E9")  # yellow is visible on dark paper only
    rest = [name for name in curves.strategies if name not in strong]
    looks = strong | {name: (others[i % len(others)], MARKERS[i % len(MARKERS)]) for i, name in enumerate(rest)}
    prominent = [name for name in curves.strategies if name in strong or len(curves.strategies) <= FEW]

    height = max(4.5, 1.0 + 0.19 * len(looks))
    figure = Figure(figsize=(7.5, height), layout="constrained", facecolor=paper)
    ax = figure.subplots()
    bounds = (0, 1) if curves.is_share else (-np.inf, np.inf)
    ends = []
    for name in curves.strategies:
        colour, marker = looks[name]
        width, opacity = (2.0, 1.0) if name in prominent else (1.0, 0.7)
        mean, half = t_interval(curves.values(name), FEWEST)
        if name in prominent and np.isfinite(half).all():
            band = np.clip([mean - half, mean + half], *bounds)
            ax.fill_between(curves.budgets, *band, color=colour, alpha=0.13, linewidth=0)
        ax.plot(
            curves.budgets, mean, color=colour, marker=marker, markersize=2.5 * width, linewidth=width, alpha=opacity,
            zorder=2 + width,
        )  # fmt: skip
        ends.append(mean[-1])

    bottom, top = ax.get_ylim()
    ax.set_ylim(bottom, top)
    gap = (top - bottom) * 0.19 / (height - 1)
    for name, end, beside in zip(curves.strategies, ends, _apart(np.array(ends), gap, top), strict=True):
        ax.annotate(
            name, (curves.budgets[-1], end), xytext=(1.02, beside), textcoords=ax.get_yaxis_transform(),
            color=looks[name][0], va="center", fontsize=10 if name in prominent else 8.5,
            weight="bold" if name == "mheal" else "normal", annotation_clip=False,
            parse_math=False,  # else text between two dollar signs in a name would be a formula
        )  # fmt: skip

    splits = max(len(curves.seeds(name)) for name in curves.strategies)
    interval = ", mean and 95 % interval" if splits >= FEWEST else ""
    title = f"{curves.estimator}: {how_many(splits, 'split')}{interval}"
    _label(ax, title, f"test {curves.metric_title}", ink=ink)
    ax.set_facecolor(paper)
    ax.tick_params(colors=ink)
    ax.spines[["left", "bottom"]].set_color(ink)
    if curves.budgets[-1] >= 10 * curves.budgets[0]:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
    if len(curves.budgets) <= 10:
        ax.set_xticks(curves.budgets, [f"{b:,}" for b in curves.budgets])
    if curves.is_share:
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    return _png(figure)


def _apart(heights: Floats, gap: float, top: float) -> Floats:
    """Move labels at these heights at least `gap` apart and below `top`, keeping their order."""
    order = heights.argsort(kind="stable")
    steps = gap * np.arange(len(heights))
    raised = np.maximum.accumulate(heights[order] - steps) + steps
    centred = raised - (raised - heights[order]).mean()
    placed = np.empty_like(heights)
    placed[order] = np.minimum(centred, top - steps[::-1])
    return placed


def coverage_picture(radius: Floats, knee: int | None = None) -> bytes:
    """The coverage radius against labels, with its knee."""
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    ax = figure.subplots()
    ax.plot(np.arange(1, len(radius) + 1), radius, color=BLUE, linewidth=2)
    ax.set_ylim(bottom=0)
    if knee is not None:
        ax.axvline(knee, color=ORANGE, linestyle="--", linewidth=1)
        ax.annotate(f" knee: {knee}", (knee, 0.97), xycoords=ax.get_xaxis_transform(), color=ORANGE, va="top")
    _label(ax, "coverage radius", "largest distance to the nearest pick")
    return _png(figure)


def accuracy_picture(curves: dict[str, Resampled], most: int, target: float | None = None) -> bytes:
    """For each metric, the measured points and the fitted curve with its interval, up to `most` labels."""
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    ax = figure.subplots()
    for (metric, curve), colour in zip(curves.items(), (BLUE, OTHERS[1]), strict=False):
        fit, grid = curve.fit(), np.geomspace(curve.labels[0], most, 120)
        value, low, high = np.array([fit.predict(n) for n in grid]).T
        ax.fill_between(grid, low, high, color=colour, alpha=0.13, linewidth=0)
        ax.plot(grid, value, color=colour, linewidth=2, label=f"{metric}: fitted, {LEVEL:.0%} interval")
        ax.plot(curve.labels, curve.accuracy, "o", color=colour, markersize=5, label=f"{metric}: from your labels")
    ax.axvline(fit.now, color=GREY, linestyle=":", linewidth=1)
    ax.annotate(" labels now", (fit.now, 0.02), xycoords=ax.get_xaxis_transform(), color=GREY, fontsize=9)
    if target is not None:
        ax.axhline(target, color=ORANGE, linestyle="--", linewidth=1, label=f"target {target:.1%}")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend(frameon=False, loc="lower right")
    _label(ax, "expected with more labels", " and ".join(curves))
    return _png(figure)


def pool_picture(X: Any, picks: Selection, seed: int) -> bytes:
    """Left: the first two principal components of the pool with the picks. Right: the radius after each pick."""
    points = comparable(as_array(X))
    rows = np.arange(len(X)) if len(X) <= SHOWN else np.random.default_rng(seed).choice(len(X), SHOWN, replace=False)
    shown, picked = points.take(rows), points.take(picks.indices)
    if shown.shape[1] == 1:
        shown, picked = (np.pad(part, ((0, 0), (0, 1))) for part in (shown, picked))
    plane = PCA(2, random_state=seed).fit(shown)
    shown, picked = plane.transform(shown), plane.transform(picked)
    kept = f"{plane.explained_variance_ratio_.sum():.0%} of the variance"
    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    left.scatter(*shown.T, s=4, color="#999999", alpha=0.35, linewidths=0, rasterized=True)
    left.scatter(*picked.T, s=22, c=np.arange(len(picked)), cmap="viridis_r", edgecolors="white", linewidths=0.5)
    for rank, place in enumerate(picked[:NUMBERED], start=1):
        left.annotate(str(rank), place, xytext=(3, 3), textcoords="offset points", fontsize=7)
    _label(left, f"The pool in its first two principal components ({kept})", "", "")
    left.set(xticks=[], yticks=[])
    known = np.isfinite(picks.radius)
    _label(right, "Distance of the farthest row from the picks", "largest distance to the nearest pick", "picks")
    if known.any():
        right.plot(np.arange(1, len(picks) + 1)[known], picks.radius[known], color=BLUE, linewidth=2)
        right.set_ylim(bottom=0)
    else:
        right.text(0.5, 0.5, "this strategy measures no distances", ha="center", transform=right.transAxes)
    return _png(figure)


def _label(ax: Any, title: str, height: str, along: str = "labels", ink: str = "black") -> None:
    ax.set_title(title, loc="left", fontsize=11, color=ink)
    ax.set_xlabel(along, color=ink)
    ax.set_ylabel(height, color=ink)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _png(figure: Figure) -> bytes:
    out = BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()
