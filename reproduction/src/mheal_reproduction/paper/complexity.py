"""The costs that the paper states in §3.3, §3.4, §5.1 and Remark 2, compared with counted distances and seconds.

Each search runs as the paper counts it, computing every distance anew at every step, and as mheal does it, with a
running minimum. One of M, N, k and m is doubled at a time. The exponent is the slope of the logarithms over the last
doubling.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

import mheal
from mheal.runtime.files import replacing
from mheal.runtime.progress import Progress
from mheal.runtime.threads import single_threaded_blas
from mheal.sphere import Float64, unit_rows

from ..report import Values, table, write_page
from ..rows import RawRows, stored_rows
from ..theory.literal import best_of, in_clusters, search
from ..theory.sequential import best_start, sequential

COLUMNS, SEED, REPEATS = 16, 0, 3
CLOSE = 0.15  # largest difference at which an exponent counts as the claimed one
Sizes = dict[str, int]  # M rows, N picks, k clusters, m starts
Run = Callable[[Float64, Sizes], int]  # returns the number of distances, 0 if they are not counted


class Claim(NamedTuple):
    """A cost that the paper states: the exponent of each size, and the sizes that are measured."""

    place: str
    words: str
    exponents: dict[str, float]
    base: Sizes
    literal: Run
    ours: Run | None  # how mheal computes the same picks


def _literal(rule: Any) -> Run:
    return lambda P, at: search(P, at["N"], 0, rule).distances


def _uncounted(function: Callable[[Float64, int], Any]) -> Run:
    def run(P: Float64, at: Sizes) -> int:
        function(P, at["N"])
        return 0

    return run


CLAIMS = (
    Claim("§3.3, Eq. 4", "O(MN²) for N samples", {"M": 1, "N": 2}, {"M": 4000, "N": 64}, _literal("product"),
          _uncounted(lambda P, n: sequential(P, n, start=0))),
    Claim("§3.4, Eq. 8", "O(MN²) for N samples", {"M": 1, "N": 2}, {"M": 4000, "N": 64}, _literal("max-min"),
          _uncounted(lambda P, n: mheal.farthest_first(P, n, start=0))),
    Claim("§3.3, Algorithm 1", "O(M²N²) with the best start", {"M": 2, "N": 2}, {"M": 200, "N": 32},
          lambda P, at: best_of(P, at["N"], range(at["M"]), "product").distances,
          _uncounted(lambda P, n: best_start(P, n))),
    Claim("§5.1", "O(M²N²/k⁴) in clusters", {"M": 2, "N": 2, "k": -4}, {"M": 200, "N": 64, "k": 2},
          lambda P, at: in_clusters(P, at["N"], at["k"], None).distances, None),
    Claim("Remark 2", "O(m²N²/k⁴) with m starts in each cluster", {"m": 2, "N": 2, "M": 0, "k": -4},
          {"m": 4, "N": 64, "M": 2000, "k": 2},
          lambda P, at: in_clusters(P, at["N"], at["k"], at["m"]).distances, None),
)  # fmt: skip
EXPONENTS = ("where", "size", "claimed", "distances", "seconds as printed", "seconds with a running minimum")
METHODS = ("as printed", "with a running minimum")


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Count and measure, and write rows.jsonl, complexity.png and README.md into `out`."""
    rows = RawRows(out, "complexity", protocol(quick))
    units = [(claim, size, way) for claim in CLAIMS for size in claim.base for way in METHODS if _runs(claim, way)]
    for done, (claim, size, way) in enumerate(units):
        if not rows.has("sphere", way, setting(claim, size), SEED):
            rows.add([measure(claim, size, way, quick)])
        progress(done + 1, len(units), setting(claim, size))
    return write(out, seeds, quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write complexity.png and README.md from the rows in `out`."""
    rows = stored_rows(out)
    values = Values(rows)
    draw(out / "complexity.png", values)
    return write_page(out, page(values, quick), rows)


def protocol(quick: bool) -> dict[str, Any]:
    """The smallest value of every size."""
    return {"columns": COLUMNS, "bases": {claim.place: _base(claim, quick) for claim in CLAIMS}}


def setting(claim: Claim, size: str) -> str:
    """The setting column of the rows for a claim and the size that grows."""
    return f"{claim.place}, {size}"


def measure(claim: Claim, size: str, way: str, quick: bool) -> dict[str, Any]:
    """Distances and the shortest CPU time for one size at its start, doubled, and doubled again."""
    base, counted, seconds = _base(claim, quick), {}, {}
    runner = claim.literal if way == METHODS[0] else claim.ours
    assert runner is not None
    for factor in (1, 2, 4):
        at = base | {size: factor * base[size]}
        P = unit_rows(np.random.default_rng(SEED).normal(size=(at["M"], COLUMNS)))[0]
        times = []
        with single_threaded_blas():
            for _ in range(REPEATS):
                begin = process_time()
                counted[str(at[size])] = runner(P, at)
                times.append(process_time() - begin)
        seconds[str(at[size])] = min(times)
    row = {"dataset": "sphere", "method": way, "setting": setting(claim, size), "seed": SEED, "seconds": seconds}
    return row | ({"distances": counted} if any(counted.values()) else {})


def exponent(values: Values, claim: Claim, size: str, way: str, what: str) -> float:
    """The slope in the logarithms over the last doubling; NaN where nothing was measured."""
    name = setting(claim, size)
    places = values.places("sphere", name, way, what)[-2:]
    if not places:
        return float("nan")
    low, high = (float(values("sphere", name, way, what, at)[0]) for at in places)
    return float(np.log2(high / low))


def verdict(values: Values, claim: Claim) -> str:
    """Whether every exponent of the counted distances is the claimed one."""
    off = [
        f"{size}^{exponent(values, claim, size, METHODS[0], 'distances'):.1f}, not {size}^{claimed:g}"
        for size, claimed in claim.exponents.items()
        if abs(exponent(values, claim, size, METHODS[0], "distances") - claimed) > CLOSE
    ]
    return f"refuted: {'; '.join(off)}" if off else "holds"


def page(values: Values, quick: bool) -> str:
    """The page in Markdown."""
    verdicts = [[claim.place, claim.words, verdict(values, claim)] for claim in CLAIMS]
    held = sum(line[-1] == "holds" for line in verdicts)
    size = "Quick run: small sizes, so that the exponents are not the final ones. " if quick else ""
    return f"""# Complexity: are the costs as the paper states them?
**Verdict:** of {len(CLAIMS)} stated costs, {held} hold for the searches as printed. The two about clusters do not: one
gives the cost of a single cluster, the other leaves out that every start scans the cluster. With a running minimum the
exponent of N is 1, not 2.

{size}The pool has M random unit vectors of {COLUMNS} columns; there are N picks, k clusters of equal size and m starts
in each. "As printed" computes every distance anew at every step, as the paper counts. "With a running minimum" is how
mheal computes the same picks: it stores the distance from each row to its nearest pick. One size is doubled twice while
the others stay; exponents are slopes over the last doubling. Seconds are CPU time of one thread, the best of {REPEATS}.
Searches: `mheal_reproduction.theory.literal`.

![Distances against the sizes](complexity.png)

{table(["where", "the paper", "counted"], verdicts)}

## Exponents
{table(EXPONENTS, _exponents(values))}

M²N²/k⁴ is the cost of one cluster; all k clusters cost M²N²/k³. With m starts, every start still scans the M/k rows of
its cluster N/k times. That costs m·(M/k)·(N/k)² in a cluster, which is linear in m and in M.
"""


def _exponents(values: Values) -> Iterator[list[str]]:
    for claim in CLAIMS:
        for size, claimed in claim.exponents.items():
            cells = [
                exponent(values, claim, size, way, what)
                for way, what in ((METHODS[0], "distances"), (METHODS[0], "seconds"), (METHODS[1], "seconds"))
            ]
            yield [claim.place, size, f"{claimed:g}", *("–" if np.isnan(x) else f"{x:.2f}" for x in cells)]


def _base(claim: Claim, quick: bool) -> Sizes:
    return {size: max(1, value // 4) if quick and size in "MN" else value for size, value in claim.base.items()}


def _runs(claim: Claim, way: str) -> bool:
    return way == METHODS[0] or claim.ours is not None


def draw(path: Path, values: Values) -> None:
    """Draw a panel for each claim: counted distances and the stated cost, relative to the smallest size."""
    figure = Figure(figsize=(14, 3.6), layout="constrained")
    colours = {"M": "#0072B2", "N": "#D55E00", "k": "#009E73", "m": "#CC79A7"}
    for ax, claim in zip(figure.subplots(1, len(CLAIMS), sharey=True), CLAIMS, strict=True):
        for size, claimed in claim.exponents.items():
            name = setting(claim, size)
            places = values.places("sphere", name, METHODS[0], "distances")
            counted = np.array([values("sphere", name, METHODS[0], "distances", at)[0] for at in places])
            factor = np.array(places) / places[0]
            ax.plot(factor, counted / counted[0], "o-", color=colours[size], label=f"{size}, counted")
            ax.plot(factor, factor**claimed, ":", color=colours[size], label=f"{size}, stated")
        ax.set(xscale="log", yscale="log", title=f"{claim.place}\n{claim.words}", xlabel="times the first size")
        ax.set_xticks([1, 2, 4], ["1", "2", "4"])
        ax.minorticks_off()
        ax.title.set_fontsize(9)
        ax.grid(alpha=0.25)
        ax.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("distances, times the first")
    handles = {str(line.get_label()): line for ax in figure.axes for line in ax.get_lines()}
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=len(handles), frameon=False)
    with replacing(path) as part:
        figure.savefig(part, format="png", dpi=110, metadata={"Software": None})
