"""The pictures of a plan: what the picks leave uncovered, or the accuracy that more labels should bring."""

from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from .resample import Resampled
from .stop import CurveFit

BLUE, GREY, ORANGE = "#0072B2", "#555555", "#D55E00"  # Okabe and Ito's


def cover_picture(
    labels: npt.ArrayLike, radius: npt.ArrayLike, energy: npt.ArrayLike, turn: float | None = None
) -> bytes:
    """A PNG of the cover radius and the energy against labels; `turn` is the radius's knee."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.plot(labels, radius, color=BLUE, linewidth=2)
    left.set_ylim(bottom=0)
    if turn is not None:
        left.axvline(turn, color=ORANGE, linestyle="--", linewidth=1)
        left.annotate(f" knee: {turn:.0f}", (turn, 0.97), xycoords=left.get_xaxis_transform(), color=ORANGE, va="top")
    right.plot(labels, energy, color=BLUE, linewidth=2)
    _dress(left, "what is still uncovered", "distance to the nearest pick, largest in the pool")
    _dress(right, "energy of the picks", "mean of −log distance over pairs")
    return _png(figure)


def forecast_picture(curve: Resampled, fit: CurveFit, now: int, most: int, target: float | None = None) -> bytes:
    """A PNG of the measured accuracies and of the fitted curve with its interval, up to `most` labels."""
    figure = Figure(figsize=(7.5, 4.5), layout="constrained")
    ax = figure.subplots()
    grid = np.geomspace(curve.labels[0], most, 120)
    value, low, high = np.array([fit.predict(n) for n in grid]).T
    band = f"fitted curve, {fit.level:.0%} interval"
    ax.fill_between(grid, np.maximum(low, 0), np.minimum(high, 1), color=BLUE, alpha=0.13, linewidth=0)
    ax.plot(grid, value, color=BLUE, linewidth=2, label=band)
    ax.plot(curve.labels, curve.accuracy, "o", color=GREY, markersize=5, label="measured on your labels")
    ax.axvline(now, color=GREY, linestyle=":", linewidth=1)
    ax.annotate(" labels now", (now, 0.02), xycoords=ax.get_xaxis_transform(), color=GREY, fontsize=9)
    if target is not None:
        ax.axhline(target, color=ORANGE, linestyle="--", linewidth=1, label=f"target {target:.1%}")
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.legend(frameon=False, loc="lower right")
    _dress(ax, "expected accuracy with more labels", "accuracy")
    return _png(figure)


def _dress(ax: Any, title: str, height: str) -> None:
    ax.set_title(title, loc="left", fontsize=11)
    ax.set_xlabel("labels bought")
    ax.set_ylabel(height)
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)


def _png(figure: Figure) -> bytes:
    out = BytesIO()
    figure.savefig(out, format="png", dpi=150, metadata={"Software": None})
    return out.getvalue()
