"""Figures 1 to 5 as pictures."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mheal.runtime.files import replacing
from mheal.sphere import Float64

from .scenes import VersionSpace, least_energy, pipeline, rotation, tube, version_space

BLUE, ORANGE, GREEN, RED, GREY = "#0072B2", "#E69F00", "#009E73", "#D55E00", "#888888"  # Okabe and Ito's palette
SHOWN = (2, 3, 4, 5, 6, 12)  # electrons
SEEN = np.array([0.75, -0.15, 0.65])  # where the sphere is looked at from


def draw_all(out: Path) -> None:
    """figure1.png to figure5.png."""
    for number, draw in enumerate((_figure1, _figure2, _figure3, _figure4, _figure5), start=1):
        figure = draw()
        with replacing(out / f"figure{number}.png") as part:
            figure.savefig(part, format="png", dpi=110, metadata={"Software": None})


def _figure1() -> Figure:
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    for ax, near in zip(figure.subplots(1, 2, sharey=True), (False, True), strict=True):
        scene = version_space(near, labels=6)
        _lines(ax, scene)
        for sign, colour in ((-1, BLUE), (1, ORANGE)):
            ax.plot(*scene.X[scene.y == sign].T, ".", color=colour, markersize=3, alpha=0.5)
        ax.plot(*scene.X[scene.labeled].T, "o", color=RED, markersize=6)
        where = "nearest to the boundary: $V^*$" if near else "drawn at random: $V$"
        ax.set_title(f"12 labels {where}\n{scene.alive.sum():,} of {len(scene.lines):,} lines are left", fontsize=10)
        _plain(ax, (-2.7, 2.7), (-1.6, 1.6))
    return figure


def _lines(ax: Any, scene: VersionSpace) -> None:
    for w1, w2, b in scene.lines[scene.alive][:150]:
        point, along = -b * np.array([w1, w2]), np.array([-w2, w1])
        ends = np.array([point - 6 * along, point + 6 * along])
        ax.plot(*ends.T, color=GREY, linewidth=0.5, alpha=0.35)


def _figure2() -> Figure:
    figure = Figure(figsize=(13, 2.8), layout="constrained")
    for ax, n in zip(figure.subplots(1, len(SHOWN)), SHOWN, strict=True):
        W, energy = least_energy(n)
        _sphere(ax)
        flat, front = _seen(W)
        for i in range(n):
            for j in range(i):
                if np.linalg.norm(W[i] - W[j]) < 1.15 * _shortest(W) or n < 4:
                    ax.plot(*flat[[i, j]].T, "--", color=GREY, linewidth=0.8)
        ax.scatter(*flat.T, s=np.where(front, 60, 22), color=RED, alpha=np.where(front, 1.0, 0.5), zorder=3)
        ax.set_title(f"N = {n}\n$E_1$ = {energy:.4f}", fontsize=10)
    return figure


def _shortest(W: Float64) -> float:
    chords = np.linalg.norm(W[:, None] - W, axis=2)
    return float(chords[np.triu_indices(len(W), 1)].min())


def _figure3() -> Figure:
    scene = pipeline()
    flat, front = _seen(scene.U)
    centers, _ = _seen(scene.centers)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    titles = ("input, of unit length", "spherical clusters (Eq. 9)", "max-min in each (Eq. 8, 12)")
    for at, (ax, title) in enumerate(zip(figure.subplots(1, 3), titles, strict=True)):
        _sphere(ax)
        colours = np.array([BLUE, ORANGE, GREEN])[scene.clusters] if at else np.full(len(flat), GREY)
        ax.scatter(*flat.T, s=9, c=colours, alpha=np.where(front, 0.8, 0.25), linewidths=0)
        if at == 1:
            ax.plot(*centers.T, "k+", markersize=12)
        if at == 2:
            ax.scatter(*flat[scene.picks].T, s=42, color=RED, zorder=3, alpha=np.where(front[scene.picks], 1.0, 0.45))
        ax.set_title(title, fontsize=10)
    return figure


def _figure4() -> Figure:
    scene = tube()
    figure = Figure(figsize=(5, 5), layout="constrained")
    ax = figure.subplots()
    x, y = scene.angle * np.cos(scene.turn), scene.angle * np.sin(scene.turn)
    r, width = scene.cluster.radius, scene.cluster.width
    around = np.linspace(0, 2 * np.pi, 200)
    ring = np.array([np.cos(around), np.sin(around)])
    ax.fill(*np.hstack([r * ring, (r - width) * ring[:, ::-1]]), color=ORANGE, alpha=0.2, linewidth=0)
    ax.plot(*(r * ring), color=GREY, linewidth=1)
    ax.plot(*((r - width) * ring), "--", color=GREY, linewidth=1)
    ax.scatter(x, y, s=9, c=np.where(scene.inside, ORANGE, BLUE), linewidths=0)
    ax.scatter(x[scene.picks], y[scene.picks], s=46, color=RED, zorder=3)
    ax.plot(0, 0, "k+", markersize=12)
    ax.annotate("c", (0, 0), (0.03, 0.03))
    ax.annotate("γ", (r - width / 2, 0), ha="center", fontsize=13)
    ax.annotate("B(c, r)", (0.72 * r, 0.78 * r))
    inside = int(scene.inside[scene.picks].sum())
    share = scene.inside.mean()
    title = f"{inside} of {len(scene.picks)} max-min picks in the tube, which holds {share:.0%} of the rows"
    ax.set_title(title, fontsize=10)
    _plain(ax, (-1.15 * r, 1.15 * r), (-1.15 * r, 1.15 * r))
    return figure


def _figure5() -> Figure:
    scene = rotation()
    figure = Figure(figsize=(9, 4.4), layout="constrained")
    titles = ("Eq. 11 as printed", "without repetition, as in mheal")
    for ax, rows, title in zip(figure.subplots(1, 2), (scene.printed, scene.ours), titles, strict=True):
        ax.scatter(*scene.flat.T, s=10, color=GREY, linewidths=0)
        for t, row in enumerate(dict.fromkeys(rows.tolist()), start=1):
            ax.annotate("", scene.flat[row], (0, 0), arrowprops={"arrowstyle": "->", "color": BLUE, "linewidth": 1.3})
            ax.annotate(str(t), 1.15 * scene.flat[row], ha="center", va="center", color=RED, fontsize=12)
        ax.plot(0, 0, "k+", markersize=12)
        ax.set_title(f"{title}: {len(set(rows.tolist()))} different candidates of {len(rows)}", fontsize=10)
        end = 1.25 * np.abs(scene.flat).max()
        _plain(ax, (-end, end), (-end, end))
    return figure


def _seen(U: Float64) -> tuple[Float64, Any]:
    """Points of the sphere in the plane of the picture, and which are in front."""
    eye = SEEN / np.linalg.norm(SEEN)
    right = np.cross([0.0, 0.0, 1.0], eye)
    right /= np.linalg.norm(right)
    return np.column_stack([U @ right, U @ np.cross(eye, right)]), U @ eye > 0


def _sphere(ax: Any) -> None:
    around = np.linspace(0, 2 * np.pi, 200)
    for level in (-0.5, 0.0, 0.5):  # circles of latitude
        radius = np.sqrt(1 - level**2)
        circle = np.column_stack([radius * np.cos(around), radius * np.sin(around), np.full(200, level)])
        flat, front = _seen(circle)
        ax.plot(*np.where(front[:, None], flat, np.nan).T, color=GREY, linewidth=0.5, alpha=0.6)
    ax.plot(np.cos(around), np.sin(around), color=GREY, linewidth=1)
    _plain(ax, (-1.1, 1.1), (-1.1, 1.1))


def _plain(ax: Any, x: tuple[float, float], y: tuple[float, float]) -> None:
    ax.set(xlim=x, ylim=y, aspect="equal", xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
