"""Figures 1 to 5, which the paper draws by hand: our computed pictures and their numbers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mheal.runtime.progress import Progress

from ...report import Floats, percent, table, write_page
from ...rows import Key, RawRows, Row, measure_all, stored_rows
from .pictures import draw_all
from .scenes import THOMSON, TRIES, least_energy, rotation, tube, version_space

SEEDS, LABELS = 20, 6
SCENES = ("version space", "tube", "rotation")


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Compute, and write rows.jsonl, figure1.png to figure5.png and README.md into `out`."""
    wanted = range(seeds or (2 if quick else SEEDS))
    rows = RawRows(out, "geometry", {"descents": TRIES, "labels of each class": LABELS})
    units: list[Key] = [("sphere", "descent", f"N = {n}", 0) for n in THOMSON]
    units += [("scene", "figure", scene, seed) for scene in SCENES for seed in wanted]
    measure_all(rows, units, measure, (), progress)
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write the pictures and README.md from the rows in `out`."""
    rows = [row for row in stored_rows(out) if seeds is None or row["seed"] < seeds]
    draw_all(out)
    return write_page(out, page(rows), rows)


def measure(dataset: str, method: str, setting: str, seed: int) -> dict[str, Any]:
    """The least energy of N electrons, or the numbers of a scene with this seed."""
    if method == "descent":
        return {"energy": least_energy(int(setting.removeprefix("N = ")))[1]}
    if setting == "version space":
        return {
            name: version_space(near, LABELS, seed).alive.mean() for name, near in (("random", False), ("near", True))
        }
    if setting == "tube":
        scene = tube(seed)
        return {"rows": scene.inside.mean(), "picks": scene.inside[scene.picks].mean()}
    turns = rotation(seed, rows=200, m=10)
    return {"printed": len(np.unique(turns.printed)), "ours": len(np.unique(turns.ours))}


def page(rows: list[Row]) -> str:
    """The page in Markdown."""
    energies = {int(row["setting"][4:]): row["energy"] for row in rows if row["method"] == "descent"}
    off = max(abs(energy / THOMSON[n] - 1) for n, energy in energies.items())
    left, near = (_column(rows, "version space", name) for name in ("random", "near"))
    share, picks = (_column(rows, "tube", name) for name in ("rows", "picks"))
    printed, ours = (_column(rows, "rotation", name) for name in ("printed", "ours"))
    return f"""# Figures 1 to 5: version space, energy, pipeline, tube, rotation
**Verdict:** descent finds the least known energies of {min(energies)} to {max(energies)} electrons within
{100 * off:.4f} %. Labels near the boundary leave a smaller version space. {percent(picks, 0)} % of the max-min picks
lie in the tube, which has {percent(share, 0)} % of the rows. Eq. 11 as printed gives {printed.mean():.1f} different
candidates of 10.

The paper draws these figures by hand. Ours are computed by `mheal_reproduction.paper.geometry`; the numbers are means
over {len(left)} seeds. The scenes are small and made up: they illustrate the paper and prove nothing about data.

![Version space](figure1.png)

**Figure 1.** The lines that classify 12 labelled points of two discs correctly. Of all lines, {percent(left)} % remain
if the points are random, and {percent(near)} % if they are the nearest to the boundary. Here a line separates the discs
and the boundary is known; the figure does not show how many labels it takes to find a boundary.

![Least energy](figure2.png)

**Figure 2.** Electrons of least energy E_1, found by descent on the sphere (`mheal_reproduction.theory.riesz`), beside
the least energies known for the Thomson problem:

{table(["N", "found", "known"], _energies(energies))}

![Pipeline](figure3.png)

**Figure 3.** Algorithm 2 on points of a sphere: spherical clusters, then max-min in each. Picks are outer points.

![Tube](figure4.png)

**Figure 4.** The tube B(c, r) ∖ B(c, r − γ) of a cluster (`mheal_reproduction.theory.tube`). With γ such that the tube
has {percent(share, 0)} % of the rows, {percent(picks, 0)} % of the max-min picks are in it. So most of them lie at the
rim of the cluster, whether or not another class begins there.

![Rotation](figure5.png)

**Figure 5.** Candidates for the first pick, in the plane around the centre. As printed, Eq. 11 alternates between two
rows: of 10 candidates {printed.mean():.1f} are different. Without repetition {ours.mean():.0f} are; they still lie in
two opposite directions, so they do not cover the cluster.
"""


def _column(rows: list[Row], scene: str, name: str) -> Floats:
    return np.array([row[name] for row in rows if row["setting"] == scene])


def _energies(energies: dict[int, float]) -> Iterator[list[str]]:
    for n, energy in energies.items():
        yield [str(n), f"{energy:.5f}", f"{THOMSON[n]:.5f}"]
