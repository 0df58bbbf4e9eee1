"""Figure 6: how fast 10,000 random hyperplanes are pruned, IWAL against MHEAL."""

from pathlib import Path

import numpy as np

from mheal.runtime.progress import Progress

from ...report import Values, compare, median, opening, percent, table, tally, write_page
from ...theory.disagreement import disagreement_coefficient
from ...theory.pruning import CLUSTERS, MODES, THETA
from .panels import panels
from .streams import DATASETS, Measured, Stream, collect, rows_of, shuffles, sizes

LEFT = (0.5, 0.1, 0.01)  # shares of the hypotheses
SHOWN = (10, 100, 1000)
RADIUS = 0.1
EMPTIED = (("IWAL", "emptied"), ("MHEAL", "emptied"), ("IWAL", "predicted"))
SAMPLE = 2000  # rows of the stream that the disagreement coefficient is measured on


def run(out: Path, data: Path | None, seeds: int | None, quick: bool, progress: Progress) -> str:
    """Measure, and write rows.jsonl, figure6.png and README.md into `out`."""
    wanted = shuffles(seeds, quick)
    collect(out, data, wanted, quick, progress, measure)
    return write(out, len(wanted), quick)


def write(out: Path, seeds: int | None, quick: bool) -> str:
    """Write figure6.png and README.md from the rows in `out`."""
    rows, shuffled = rows_of(out, seeds)
    values = Values(rows)
    lines = {}
    for mode, learners in MODES.items():
        for name in DATASETS:
            for learner in learners:
                places = values.places(name, mode, learner, "alive")
                lines[mode, name, learner] = (places, values.grid(name, mode, learner, "alive", places))
    title = f"Hypotheses alive after t rounds, share of all: mean and 95 % interval, {shuffled} shuffles"
    panels(out / "figure6.png", lines, "rounds t", "alive", title)
    return write_page(out, page(values, shuffled, quick), rows)


def measure(stream: Stream) -> Measured:
    """Shares alive, rounds until a share is left, the round that would empty the class, and the measured θ."""
    for mode, learners in MODES.items():
        for learner in learners:
            # True IWAL queries labels at random and needs losses in [0, 1]; the others see every label.
            pruning = stream.prune(mode, learner, sampled=mode == "true-iwal")
            share = pruning.share
            for t in stream.rounds:
                yield mode, learner, "alive", t, float(share[t - 1])
            for left in LEFT:
                reached = np.flatnonzero(share <= left)
                yield mode, learner, "rounds", left, float(reached[0] + 1) if len(reached) else None
            if mode == "literal":
                yield mode, learner, "emptied", 0, pruning.traces[0].emptied_at
    best = stream.best
    yield "literal", "IWAL", "predicted", 0, THETA / float(stream.losses[best]) ** 2
    whole = disagreement_coefficient(stream.hyperplanes, stream.X[:SAMPLE], best, RADIUS, stream.scale)
    yield "disagreement", "IWAL", "theta", 0, whole.theta
    yield "disagreement", "IWAL", "ball", 0, float(whole.ball)
    parts = []
    for region in range(CLUSTERS):
        X, y = (column[stream.regions == region][:SAMPLE] for column in (stream.X, stream.y))
        center = int(stream.hyperplanes.losses(X, y).argmin())
        parts.append(disagreement_coefficient(stream.hyperplanes, X, center, RADIUS, stream.scale))
    yield "disagreement", "MHEAL", "theta", 0, float(np.mean([part.theta for part in parts]))
    yield "disagreement", "MHEAL", "ball", 0, float(np.mean([part.ball for part in parts]))


def page(values: Values, seeds: int, quick: bool) -> str:
    """The page in Markdown."""
    answers = {mode: [faster(values, name, mode) for name in DATASETS] for mode in MODES}
    verdicts = [[mode, "yes on 6 of 6", tally(answers[mode]), _verdict(values, mode, answers[mode])] for mode in MODES]
    speed = [[name, *(_ratio(speed_up(values, name, mode)) for mode in MODES)] for name in DATASETS]
    emptied = [
        [name, *(median(values(name, "literal", learner, what, 0)) for learner, what in EMPTIED)] for name in DATASETS
    ]
    theta = [[name, *(_theta(values, name, learner) for learner in ("IWAL", "MHEAL"))] for name in DATASETS]
    return f"""# Figure 6: pruning speed
**Verdict:** as printed MHEAL is faster than IWAL on {answers["literal"].count("yes")} of {len(DATASETS)} datasets, by
its smaller constant; with one constant for both it is faster on {answers["control"].count("yes")} and slower on
{answers["control"].count("no")}.

{opening(seeds, quick)} The claim is that MHEAL prunes faster than IWAL on all six datasets.
Protocol: `mheal_reproduction.paper.pruning.streams`; modes: `mheal_reproduction.theory.pruning`.

![Hypotheses alive against rounds](figure6.png)

## Is MHEAL faster?
Share alive, averaged over the reported rounds, 95 % t interval of the paired difference:

{table(["mode", "paper", "ours", "verdict"], verdicts)}

## By what factor?
The table has the rounds until 10 % of the hyperplanes are left, IWAL's divided by MHEAL's, median over the shuffles. 1
is no difference. If every hyperplane had its expected loss, the constants 10 and 3.333 would give 3 on any data; on
short streams noise changes this in both directions. "–" means that in at least half of the shuffles one of them never
gets there. After t rounds a cluster has seen about t/3 rows, so in the last two modes 0.33 is no difference per row.

{table(["dataset", *MODES], speed)}

## When would the printed rule have pruned everything?
The rule compares the loss of a hyperplane with √(θ/t), so at about t = θ/L*² it prunes the best one too. We keep the
best. Medians over the shuffles:

{table(["dataset", "IWAL, round", "MHEAL, round", "θ/L*² for IWAL"], emptied)}

## Is θ_MHEAL a third of θ_IWAL?
The paper sets θ_IWAL = 10 and θ_MHEAL = 3.333. Measured at r = 0.1, losses scaled to [0, 1], mean over shuffles and
clusters (in brackets: hyperplanes within r of the best one):

{table(["dataset", "whole stream", "inside clusters"], theta)}

Where all hyperplanes are within r of the best one, θ says nothing. On the other datasets,
{_theta_verdict(values, sizes(quick)["hyperplanes"])}.

## Share alive, %
{_shares(values)}
"""


def faster(values: Values, name: str, mode: str) -> str:
    """Whether MHEAL is faster: "yes", "no" or "no difference"."""
    places = values.places(name, mode, "IWAL", "alive")
    alive = {learner: values.grid(name, mode, learner, "alive", places).mean(axis=1) for learner in MODES[mode]}
    return compare(alive["MHEAL"], alive["IWAL"])


def speed_up(values: Values, name: str, mode: str) -> float:
    """Rounds until a tenth is left, IWAL's over MHEAL's: the median, infinite if too few shuffles reach it."""
    iwal, mheal = (np.nan_to_num(values(name, mode, who, "rounds", 0.1), nan=np.inf) for who in MODES[mode])
    some = np.isfinite(np.minimum(iwal, mheal))  # at least one of them got there
    return float(np.median(iwal[some] / mheal[some])) if 2 * some.sum() > len(some) else np.inf


def _ratio(middle: float) -> str:
    return f"{middle:.2f}" if 0 < middle < np.inf else "–"


def _theta(values: Values, name: str, learner: str) -> str:
    theta, ball = (values(name, "disagreement", learner, what, 0).mean() for what in ("theta", "ball"))
    return f"{theta:.2f} ({ball:,.0f})"


def _theta_verdict(values: Values, hyperplanes: int) -> str:
    ratios = []
    for name in DATASETS:
        theta = [values(name, "disagreement", who, "theta", 0).mean() for who in ("IWAL", "MHEAL")]
        if values(name, "disagreement", "IWAL", "ball", 0).max() < hyperplanes:
            ratios.append(f"{theta[1] / theta[0]:.2f} on {name}")
    found = (
        f"θ inside clusters is {', '.join(ratios)} of the whole stream's"
        if ratios
        else "there are none: r binds nowhere"
    )
    return f"{found}, where the paper sets 0.33"


def _shares(values: Values) -> str:
    parts = []
    for mode in MODES:
        rows = []
        for name in DATASETS:
            places = values.places(name, mode, "IWAL", "alive")
            shown = [t for t in SHOWN if t < places[-1]] + [places[-1]]
            cells = [
                " / ".join(percent(values(name, mode, learner, "alive", t)) for learner in MODES[mode]) for t in shown
            ]
            rows.append([name, *cells[:-1], *["–"] * (len(SHOWN) - len(cells) + 1), cells[-1]])
        header = ["IWAL / MHEAL", *(f"t = {t:,}" for t in SHOWN), "end"]
        parts.append(f"### {mode}\n{table(header, rows)}")
    return "\n\n".join(parts)


def _verdict(values: Values, mode: str, answers: list[str]) -> str:
    seen = "faster" if set(answers) == {"yes"} else "faster on some only" if "yes" in answers else "not faster"
    if not MODES[mode]["MHEAL"].regional:
        return f"{seen}; both prune on one stream, only the constant differs"
    ends = [values.places(name, mode, "IWAL", "alive")[-1] for name in DATASETS]
    left = min(values(name, mode, "IWAL", "alive", end).mean() for name, end in zip(DATASETS, ends, strict=True))
    if left > 0.9:
        return f"{seen}; Δ_t is so wide that IWAL keeps at least {percent(left, 0)} % of the class to the end"
    return f"{seen}; with one constant for both, only the clusters differ"
