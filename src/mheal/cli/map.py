"""The picture of `mheal select --plot`: where the picks lie in the pool, and how far the farthest row is."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from ..runtime.files import replacing
from ..scaling import comparable
from ..selection import Selection
from ..validation import as_array

SHOWN = 20_000  # rows of the pool that are drawn; more would not be told apart
NUMBERED = 30  # picks that get their rank written beside them


def draw(X: Any, picks: Selection, path: Path, seed: int) -> None:
    """Left: the first two principal components of the pool with the picks. Right: the radius after each pick."""
    X = as_array(X)
    rng = np.random.default_rng(seed)
    rows = np.arange(len(X)) if len(X) <= SHOWN else rng.choice(len(X), SHOWN, replace=False)
    points = comparable(X)
    shown, picked = points.take(rows), points.take(picks.indices)
    if shown.shape[1] > 1:
        plane = PCA(2, random_state=seed).fit(shown)
        shown, picked = plane.transform(shown), plane.transform(picked)
        kept = f"{plane.explained_variance_ratio_.sum():.0%} of the variance"
    else:
        shown, picked = (np.column_stack([part[:, 0], np.zeros(len(part))]) for part in (shown, picked))
        kept = "its only column"

    figure = Figure(figsize=(11, 4.8), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    left.scatter(*shown.T, s=4, color="#999999", alpha=0.35, linewidths=0, rasterized=True)
    left.scatter(*picked.T, s=22, c=np.arange(len(picked)), cmap="viridis_r", edgecolors="white", linewidths=0.5)
    for rank, (x, y) in enumerate(picked[:NUMBERED], start=1):
        left.annotate(str(rank), (x, y), xytext=(3, 3), textcoords="offset points", fontsize=7)
    left.set_title(f"The pool in its first two principal components ({kept})", loc="left", fontsize=10)
    left.set(xticks=[], yticks=[])
    known = np.isfinite(picks.radius)
    right.set_title("How far the farthest row is from the picks", loc="left", fontsize=10)
    right.set(xlabel="picks", ylabel="largest distance to the nearest pick")
    if known.any():
        right.plot(np.arange(1, len(picks) + 1)[known], picks.radius[known], color="#0072B2", linewidth=2)
        right.set_ylim(bottom=0)
    else:
        right.text(0.5, 0.5, "this strategy measures no distances", ha="center", transform=right.transAxes)
    right.grid(alpha=0.25)
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=150)
